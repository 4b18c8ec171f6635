"""Drives a system through a corpus and leaves a sealed run folder."""
