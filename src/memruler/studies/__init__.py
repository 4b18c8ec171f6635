"""Whole experiments: several measurements and comparisons that answer one question together."""
