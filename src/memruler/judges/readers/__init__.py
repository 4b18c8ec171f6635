"""Readers: a question and what a memory returned in, an answer out."""
