"""Probes a memory system on fresh stores before anything is measured with it."""
