"""Files for raters who shall not know which target, form or rank they judge.

Each rater gets a file of texts, in an order of its own. What the cases are stays in the file of
all columns, which `read_audit` takes back together with these.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from memruler.studies.audit_csv import LABEL, SHOWN_COLUMNS, CaseTable

__all__ = ["blind_path", "blind_tables"]


def blind_path(cases: Path, rater: str) -> Path:
    """Where the file of a rater stands: `cases.ann.csv` beside `cases.csv`."""
    return cases.with_name(f"{cases.stem}.{rater}{cases.suffix}")


def blind_tables(cases: CaseTable, raters: Sequence[str], seed: int) -> dict[str, CaseTable]:
    """One file a rater: the texts and an empty column of labels, in an order by seed and rater.

    A pair that is contested under two targets stands in it once, under the id of its first case.

    Args:
        cases: All columns.
        raters: Names, each checked.
        seed: Of the order.
    """
    first = dict(zip(reversed(cases.column("pair")), reversed(cases.rows), strict=True))
    shown = [cases.at(name) for name in SHOWN_COLUMNS]
    texts = [[row[at] for at in shown] for row in first.values()]
    return {
        rater: CaseTable(
            head=[*SHOWN_COLUMNS, LABEL + rater],
            rows=[[*row, ""] for row in _shuffled(texts, f"{seed}:{rater}")],
            numbers=list(range(2, len(texts) + 2)),
            bom=cases.bom,
        )
        for rater in raters
    }


def _shuffled(rows: list[list[str]], key: str) -> list[list[str]]:
    """In order of a digest of the key and the case's id, which is the first cell."""
    return sorted(rows, key=lambda row: hashlib.sha256(f"{key}:{row[0]}".encode()).digest())
