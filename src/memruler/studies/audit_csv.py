"""The CSV file of an audit: what people open in a spreadsheet, and what is read back from it.

A cell that a spreadsheet would run as a formula is written with an apostrophe in front, and read
without it. Control characters are shown as escapes. A file that a spreadsheet saved again may have
semicolons or tabs, a byte order mark, and rows without their empty ends: all of that is read.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from memruler.errors import CorpusError, UsageError
from memruler.store.safe import read_bytes

__all__ = [
    "CASE_COLUMNS",
    "LABEL",
    "LONGEST_CELL",
    "REASON",
    "SHOWN_COLUMNS",
    "CaseTable",
    "check_rater",
    "read_cases",
    "visible",
]

SHOWN_COLUMNS = ("case", "question", "answer", "evidence", "item")
"""What a rater needs, and all that a blind one sees."""

CASE_COLUMNS = (
    *SHOWN_COLUMNS,
    "pair",
    "run",
    "corpus",
    "target",
    "category",
    "cluster",
    "query",
    "kind",
    "rank",
    "gains",
    "item_id",
)
"""What each case says of itself; docs/audit.md has their meaning. Labels stand between the two."""

LABEL, REASON = "label:", "reason:"
"""How the columns of a rater begin; its name follows."""

LONGEST_CELL = 16_000
"""Characters of a cell; a spreadsheet cuts silently at 32,767 units of UTF-16."""

_RUNS = frozenset("=+-@\t\r\n'＝＋－＠")  # noqa: RUF001 - the wide forms run too
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_RATER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_HEAD = re.compile(r'"?case"?([,;\t])')
_BOM = "\ufeff"


def visible(text: str) -> str:
    """A text as a cell shows it: harmless, and cut where a spreadsheet would cut it silently.

    Line ends become line feeds; other control characters, lone surrogates and what turns the
    direction of writing become escapes. A text that is cut says how long it was.
    """
    head = text[: LONGEST_CELL + 1].replace("\r\n", "\n").replace("\r", "\n")
    shown = _HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), head)
    if len(text) <= LONGEST_CELL and len(shown) <= LONGEST_CELL:
        return shown
    return f"{shown[:LONGEST_CELL]} [cut: {len(text)} characters in all]"


def check_rater(name: str) -> str:
    """A rater's name, if it is one.

    Raises:
        UsageError: It is not 1 to 40 letters, digits, dots, dashes and underscores.
    """
    if not _RATER.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name of a rater",
            hint="up to 40 letters, digits, `.`, `-` and `_`, a letter or digit first",
        )
    return name


class CaseTable(msgspec.Struct, kw_only=True):
    """The rows of a file, as texts.

    Attributes:
        head: Names of the columns.
        rows: One list a row, as long as `head`.
        numbers: The spreadsheet's number of each row; the head is row 1.
        delimiter: `,`, `;` or a tab.
        bom: Whether a byte order mark stands first, by which Excel knows UTF-8.
    """

    head: list[str]
    rows: list[list[str]]
    numbers: list[int]
    delimiter: str = ","
    bom: bool = False

    def raters(self) -> list[str]:
        """Names of those who have a column, in its order."""
        return [name.removeprefix(LABEL) for name in self.head if name.startswith(LABEL)]

    def at(self, column: str) -> int:
        """The place of a column.

        Raises:
            ValueError: There is none.
        """
        return self.head.index(column)

    def column(self, name: str) -> list[str]:
        """Every cell of a column, in order."""
        place = self.at(name)
        return [row[place] for row in self.rows]

    def add(self, column: str) -> None:
        """Add an empty column at the end, unless it is there."""
        if column not in self.head:
            self.head.append(column)
            for row in self.rows:
                row.append("")

    def encode(self) -> bytes:
        """The bytes of the file."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=self.delimiter, lineterminator="\r\n")
        writer.writerow(self.head)
        writer.writerows([_guarded(cell) for cell in row] for row in self.rows)
        return ((_BOM if self.bom else "") + out.getvalue()).encode("utf-8", "backslashreplace")


def read_cases(path: Path, needed: Iterable[str] = CASE_COLUMNS) -> CaseTable:
    """Read a file of cases.

    Args:
        path: The file; a link is followed.
        needed: Columns that must be there.

    Raises:
        UsageError: It is missing, or no regular file.
        CorpusError: It is no file of cases, a row is malformed, or a case comes twice.
    """
    data = read_bytes(path, managed=False)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CorpusError(
            "the file is not UTF-8", where=path, hint="save it from the spreadsheet as CSV UTF-8"
        ) from None
    found = _HEAD.match(text)
    if found is None:
        raise CorpusError(
            "no file of cases: its first column is not `case`",
            where=path,
            hint="`memruler audit sample` writes one",
        )
    rows = list(_rows(text, found[1], path))
    _, head = rows[0]
    _check_head(head, needed, path)
    table = CaseTable(
        head=head,
        rows=[_filled(cells, number, head, path) for number, cells in rows[1:]],
        numbers=[number for number, _ in rows[1:]],
        delimiter=found[1],
        bom=data.startswith(_BOM.encode()),
    )
    _check_cases(table, path)
    return table


def _rows(text: str, delimiter: str, path: Path) -> Iterable[tuple[int, list[str]]]:
    """The spreadsheet's number of each row that is not empty, and its cells."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, 1):
            if any(cells):
                yield number, [_plain(cell) for cell in cells]
    except csv.Error as error:
        raise CorpusError(
            f"malformed CSV: {error}", where=f"{path}, row {number + 1}", hint="mend the row"
        ) from None


def _check_head(head: Sequence[str], needed: Iterable[str], path: Path) -> None:
    twice = sorted({name for name in head if name and head.count(name) > 1})
    if twice:
        raise CorpusError(
            f"the column {twice[0]!r} comes twice", where=path, hint="rename one of them"
        )
    absent = [name for name in needed if name not in head]
    if absent:
        raise CorpusError(
            f"the file lacks {', '.join(absent)}",
            where=path,
            hint="keep the columns that `memruler audit sample` wrote",
        )
    for name in head:
        if name.startswith(LABEL) and not _RATER.fullmatch(name.removeprefix(LABEL)):
            raise CorpusError(
                f"the column {name!r} names no rater",
                where=path,
                hint=f"write {LABEL}NAME, with letters, digits, `.`, `-` and `_`",
            )


def _filled(cells: list[str], number: int, head: Sequence[str], path: Path) -> list[str]:
    """A row as long as the head; some spreadsheets leave out its empty end."""
    if any(cells[len(head) :]):
        raise CorpusError(
            f"{len(cells)} cells under {len(head)} headings",
            where=f"{path}, row {number}",
            hint="give every column a heading",
        )
    return cells[: len(head)] + [""] * (len(head) - len(cells))


def _check_cases(table: CaseTable, path: Path) -> None:
    if not table.rows:
        raise CorpusError("the file has no case", where=path, hint="sample some")
    seen: dict[str, int] = {}
    for number, case in zip(table.numbers, table.column("case"), strict=True):
        if not case or case in seen:
            what = f"the case {case!r} is in row {seen[case]} too" if case else "no case id"
            raise CorpusError(what, where=f"{path}, row {number}", hint="a case has one row")
        seen[case] = number


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell[:1] in _RUNS and cell else cell


def _plain(cell: str) -> str:
    """A cell without the apostrophe that keeps it from being run."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in _RUNS and cell[1:] else cell
