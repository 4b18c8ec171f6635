"""From the fields of a spec to what is run for one cell of a study."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from memruler.replay.plan import PlanSpec
from memruler.studies.spec_base import RUN_KEYS, StudySpec

__all__ = ["Cell", "plan_of", "set_words", "words"]


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a study.

    Attributes:
        folder: Name of its run folder.
        plan: What is run.
    """

    folder: str
    plan: PlanSpec


def words(table: Mapping[str, Any], prefix: str = "") -> dict[str, str | None]:
    """Dotted key to its value as a person types it; None for a value that is no setting.

    TOML has no word for nothing: `"none"` is read as that, as on the command line.
    """
    found: dict[str, str | None] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        match value:
            case dict():
                found |= words(value, f"{name}.") if value else {name: None}
            case bool():
                found[name] = "true" if value else "false"
            case float():
                found[name] = repr(value) if math.isfinite(value) else None
            case int() | str():
                found[name] = str(value)
            case _:
                found[name] = None
    return found


def set_words(table: Mapping[str, Any]) -> dict[str, str]:
    """`words` of a checked table, without what is no setting."""
    return {key: word for key, word in words(table).items() if word is not None}


def _is_file(system: str) -> bool:
    return ".py:" in system or system.endswith(".toml")


def plan_of(spec: StudySpec, given: Mapping[str, str], folder: Path) -> PlanSpec:
    """What is run for a cell.

    Args:
        spec: A checked one.
        given: Every setting in force in the cell, as a person types it.
        folder: Where the file of the spec lies; paths in it are relative to that.
    """
    corpus = spec.corpus
    settings = {
        **{key: given.get(key, getattr(spec, key)) for key in RUN_KEYS},
        "limit": spec.limit,
        "instances": corpus.instances,
        "queries": corpus.queries,
    }
    return PlanSpec(
        corpus=corpus.name,
        path=None if corpus.path is None else str(folder / corpus.path),
        system=str(folder / spec.system) if _is_file(spec.system) else spec.system,
        assignments=tuple(f"{key}={value}" for key, value in given.items() if key not in RUN_KEYS),
        population=corpus.population,
        settings=settings,
        typed=("system", *(name for name, value in settings.items() if value is not None)),
    )
