"""What a first look found: two runs over the bundled corpus, and what differs between them."""

import msgspec

from memruler.compare.record import Comparison

__all__ = ["SCHEMA_VERSION", "Demo"]

SCHEMA_VERSION = 1
"""Version of `Demo`; raised with every change that an old reader would misread."""


class Demo(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs, compared.

    Attributes:
        synthetic: Always true: the corpus is invented.
        base, candidate: The run folders, as they can be named from where the person is.
        planted: The setting that makes the candidate worse, `key=value`.
        comparison: What differs.
    """

    base: str
    candidate: str
    planted: str
    comparison: Comparison
    synthetic: bool = True
    schema_version: int = SCHEMA_VERSION
