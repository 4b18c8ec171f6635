"""One HTTP client with one retry policy, and downloads on top of it."""
