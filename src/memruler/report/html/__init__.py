"""Runs and comparisons as HTML: sections, the document around them, and the report of one file."""
