"""Servers that memruler starts itself: begun, watched, and ended with all they started."""
