"""Reads the SPEC.toml of an ablation."""

from pathlib import Path

from memruler.studies.ablation_check import check
from memruler.studies.ablation_spec import AblationSpec
from memruler.studies.spec_read import read_spec_as

__all__ = ["read_spec"]


def read_spec(path: Path) -> AblationSpec:
    """Read and check a spec; nothing is opened or measured.

    Args:
        path: The file.

    Raises:
        SpecFaults: Fields are unknown, missing or wrong; every one of them is told.
        UsageError: There is no such file, or it is no TOML.
    """
    return read_spec_as(AblationSpec, path, check, "docs/ablation.md")
