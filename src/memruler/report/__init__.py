"""A finished run or comparison becomes a page."""
