"""Pure definitions over one answer and its gold: words in, one number out."""
