"""The queries of one run, or of two side by side: an index, a search and one query in full."""
