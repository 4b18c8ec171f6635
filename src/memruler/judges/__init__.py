"""Judges: models that label cases, pinned by what they are asked and by whom they are answered."""
