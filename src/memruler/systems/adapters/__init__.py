"""Memories of other libraries, in process, as their documentation uses them."""
