"""What a person chooses when two runs are held against each other, as addresses."""

from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlencode

import msgspec

from memruler.compare.fingerprint import differences
from memruler.errors import printable
from memruler.report.web.listed import Listed
from memruler.store.folder import RunFolder

__all__ = ["DECLARED", "Choices", "Part", "read_choices"]

DECLARED = "declared"
"""What `changed` is called where the explorer's calls have a `changed` of their own."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A key of the fingerprint in which two runs differ.

    Attributes:
        key: Its dotted name, printable.
        base, candidate: Its values, printable and cut.
        declared: Whether it is chosen as what is under test.
        address: Where the page is with the other choice.
    """

    key: str
    base: str
    candidate: str
    declared: bool
    address: str


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """How two runs are compared, and where the other ways are.

    Attributes:
        changed: What is declared to be under test.
        shared: Whether means are over the queries that count in both.
        cutoffs: `common` to leave out cut-offs that do not count the same queries; None for all.
        parts: Where the fingerprints differ.
        everything: Address with all differences declared; None where all of them are.
        switched: Address with baseline and candidate exchanged.
        key: The choices as a value that caches can be asked by.
        plain, only_shared, only_common: Addresses of the three ways to treat cut-offs at which
            the runs do not count the same queries.
        explorer: The same choices for the explorer's calls.
    """

    changed: tuple[str, ...]
    shared: bool
    cutoffs: Literal["common"] | None
    parts: tuple[Part, ...]
    everything: str | None
    switched: str
    plain: str
    only_shared: str
    only_common: str
    key: tuple[object, ...]
    explorer: str


def read_choices(
    base: Listed, candidate: Listed, pairs: Sequence[tuple[str, str]], name: str = "changed"
) -> Choices:
    """Read the choices from the parts of an address's query.

    Args:
        base: The baseline.
        candidate: The candidate.
        pairs: `changed` any number of times, `shared=1`, `common=1`; others are not looked at.
        name: What `changed` is called there.

    Raises:
        UsageError: A declared key is unknown or ambiguous.
        FormatError: A manifest cannot be read.
    """
    changed = tuple(dict.fromkeys(value for part, value in pairs if part == name and value))
    shared, common = (any(pair == (way, "1") for pair in pairs) for way in ("shared", "common"))
    found = differences(_fingerprint(base), _fingerprint(candidate), changed)
    keys = [d.key for d in (*found.declared, *found.undeclared)]
    runs = [("base", base.key), ("candidate", candidate.key)]
    way = [("shared", "1")] if shared else [("common", "1")] if common else []

    def address(
        declared: Sequence[str], way: Sequence[tuple[str, str]], runs: Sequence[tuple[str, str]]
    ) -> str:
        return "/compare?" + urlencode([*runs, *(("changed", key) for key in declared), *way])

    declared = [d.key for d in found.declared]
    parts = [
        Part(
            key=printable(d.key),
            base=printable(_word(d.base)),
            candidate=printable(_word(d.candidate)),
            declared=d.key in declared,
            address=address(
                [key for key in keys if (key in declared) != (key == d.key)], way, runs
            ),
        )
        for d in (*found.declared, *found.undeclared)
    ]
    return Choices(
        changed=changed,
        shared=shared,
        cutoffs="common" if common and not shared else None,
        parts=tuple(parts),
        everything=address(keys, way, runs) if found.undeclared else None,
        switched=address(changed, way, [("base", candidate.key), ("candidate", base.key)]),
        plain=address(changed, [], runs),
        only_shared=address(changed, [("shared", "1")], runs),
        only_common=address(changed, [("common", "1")], runs),
        key=(base.key, candidate.key, changed, shared, common),
        explorer=urlencode([*runs, *((DECLARED, key) for key in changed), *way]),
    )


def _fingerprint(run: Listed) -> dict[str, object]:
    manifest = RunFolder(run.path.resolve()).manifest()
    return {} if manifest is None else manifest.fingerprint


def _word(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
