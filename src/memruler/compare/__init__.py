"""May two runs be compared, and what does the difference mean."""
