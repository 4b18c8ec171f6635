"""Reads the SPEC.toml of a sweep."""

from pathlib import Path

from memruler.studies.spec_read import read_spec_as
from memruler.studies.sweep_check import check
from memruler.studies.sweep_spec import SweepSpec

__all__ = ["read_sweep"]


def read_sweep(path: Path) -> SweepSpec:
    """Read and check a spec; nothing is opened or measured.

    Args:
        path: The file.

    Raises:
        SpecFaults: Fields are unknown, missing or wrong; every one of them is told.
        UsageError: There is no such file, or it is no TOML.
    """
    return read_spec_as(SweepSpec, path, check, "docs/sweep.md")
