"""Reads a run, applies targets and metrics, and writes scores back. Never calls a system."""
