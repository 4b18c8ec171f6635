"""Names of the slices of a summary: `all`, and one a category."""

import re

__all__ = ["slice_name"]

_TAKEN = re.compile(r"(category )*all")


def slice_name(category: str) -> str:
    """The slice of a category: its own name, unless that is `all`, which is every query's slice.

    Such a category becomes `category all`, and one that is called so `category category all`: two
    categories never share a slice, and none ever takes the name `all`.
    """
    return f"category {category}" if _TAKEN.fullmatch(category) else category
