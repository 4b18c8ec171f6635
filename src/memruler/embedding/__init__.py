"""Text to vectors: models by content hash, and the cache. Start reading at `base.py`."""
