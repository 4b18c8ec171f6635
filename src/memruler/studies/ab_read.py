"""Reads the SPEC.toml of an A/B run."""

from pathlib import Path

from memruler.studies.ab_check import check
from memruler.studies.ab_spec import AbSpec
from memruler.studies.spec_read import read_spec_as

__all__ = ["read_ab"]


def read_ab(path: Path) -> AbSpec:
    """Read and check a spec; nothing is opened or measured.

    Args:
        path: The file.

    Raises:
        SpecFaults: Fields are unknown, missing or wrong; every one of them is told.
        UsageError: There is no such file, or it is no TOML.
    """
    return read_spec_as(AbSpec, path, check, "docs/ab.md")
