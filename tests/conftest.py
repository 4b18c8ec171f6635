"""Fixtures that every room's tests share."""

from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def _shared(relative: str) -> Path:
    path = _SHARED / relative
    if not path.exists():
        pytest.skip(f"needs ../shared/{relative}, which is not on this machine")
    return path


@pytest.fixture(scope="session")
def shared_samples() -> Path:
    """Invented files in the formats of the public data sets."""
    return _shared("samples")


@pytest.fixture(scope="session")
def locomo_path() -> Path:
    """The public LoCoMo file (not part of the project: its licence is non-commercial)."""
    return _shared("data/locomo10.json")
