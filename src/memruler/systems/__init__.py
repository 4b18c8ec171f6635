"""Memories under test, and the built-in one."""
