"""Rankings and targets of other tools: read, written, and packed so that others can check them."""
