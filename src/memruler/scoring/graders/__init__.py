"""One short file a way of scoring answers; see base.py."""
