"""Targets as JSON Lines.

Plain lists go through Arrow. Grades and sets, which are objects whose keys are names, are rare and
go through Python.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pyarrow as pa

from memruler.exchange.ahead import ahead
from memruler.exchange.json_lines import json_tables
from memruler.exchange.lines import blocks
from memruler.exchange.mapping import IDS, mapping_schema

__all__ = ["mapping_line", "mapping_tables"]

_Name = Annotated[str, msgspec.Meta(min_length=1)]
_SPECIAL = (b'"grades"', b'"sets"')


def mapping_tables(path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the lines of a file as tables with columns of `mapping_schema(names)`.

    Raises:
        FaultyFile: Lines are not of the format.
    """
    full = mapping_schema(names, full=True)
    line = mapping_line(names)

    def special(lines: list[bytes]) -> pa.Table:
        rows = [msgspec.to_builtins(msgspec.json.decode(one, type=line)) for one in lines]
        for row in rows:
            for group in row.get("groups") or ():
                for key in ("grades", "sets"):
                    if group.get(key) is not None:
                        group[key] = list(group[key].items())
        return pa.Table.from_pylist(rows, schema=full)

    yield from json_tables(
        path,
        ahead(blocks(path)),
        mapping_schema(names, full=False),
        line,
        special=(_SPECIAL, special),
    )


def mapping_line(names: Sequence[str]) -> type[Any]:
    """The record of a line.

    Args:
        names: Targets that are read; other keys are left alone.
    """
    numbered = {f"t{number}": name for number, name in enumerate(names)}
    ids = list[_Name] | None
    group = msgspec.defstruct(
        "Group",
        [
            *((key, ids, None) for key in numbered),
            ("grades", dict[_Name, float] | None, None),
            ("sets", dict[_Name, list[list[_Name]]] | None, None),
        ],
        rename=numbered,
    )
    return msgspec.defstruct(
        "MappingLine",
        [
            ("query_id", _Name),
            ("groups", list[group] | None, None),  # type: ignore[valid-type]
            *((key, ids, None) for key in numbered),
        ],
        rename={key: name + IDS for key, name in numbered.items()},
    )
