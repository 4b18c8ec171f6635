"""One ranking in, one score out. Pure: no input or output, and no room above is imported."""
