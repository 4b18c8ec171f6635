"""What the SPEC.toml of every study says: what is asked, and of which memory."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memruler.errors import UsageError

__all__ = ["RUN_KEYS", "CorpusPart", "Count", "SpecFaults", "StudySpec", "Text"]

RUN_KEYS = ("timeline", "granularity", "forms")
"""Settings of the run itself that may differ between cells, beside `text.*` and the system's."""

Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Text = Annotated[str, Meta(min_length=1)]


class CorpusPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The questions that every cell is asked.

    Attributes:
        name: A corpus that `memruler list` shows.
        path: Its file, relative to the spec; without it the bundled or cached one.
        population: Named set of queries; the corpus's default without it.
        instances: Only the first so many instances.
        queries: Only the first so many queries of each.
    """

    name: Text
    path: Text | None = None
    population: Text | None = None
    instances: Count | None = None
    queries: Count | None = None


class StudySpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A SPEC.toml, as far as every study has the same fields.

    Attributes:
        out: Folder of the run folders, one a cell, relative to the spec.
        corpus: What is asked.
        system: `builtin:...`, a plug-in's name, or `file.py:Class`, the file relative to the spec.
        timeline: What time items carry; `literal` would give each cell another time.
        granularity: What is written as one unit.
        forms: What is stored: `turns`; `observations`, `summaries` that the data set derived.
        limit: Hits asked for.
        settings: What is the same in every cell: settings of the system, and `text.*`.
    """

    out: Text
    corpus: CorpusPart
    system: Text
    timeline: Literal["anchored", "now"] = "anchored"
    granularity: Literal["turn", "session"] = "turn"
    forms: Text = "turns"
    limit: Count = 20
    settings: dict[str, Any] = {}


class SpecFaults(UsageError):  # noqa: N818 - it is what it holds
    """A spec that cannot be run, with everything that is wrong with it.

    Args:
        where: The file.
        faults: The field and what is wrong with it, one line each; at least one.
        page: What explains the fields.
    """

    def __init__(self, where: object, faults: tuple[str, ...], page: str) -> None:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"{faults[0]}{more}", where=where, hint=f"see {page}")
        self.faults = faults
