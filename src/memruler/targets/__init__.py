"""Ids in, credit out: which stored forms earn credit for which gold. Pure: no input or output."""
