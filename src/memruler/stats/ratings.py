"""What raters said of items, checked: labels become numbers from 0, absent ones -1."""

from collections.abc import Hashable, Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.stats.sums import Floats, Ints, cluster_codes, refuse_few

__all__ = ["Clusters", "Ratings", "Table", "as_ratings", "numbers", "plain", "tallies"]

Table = Sequence[Sequence[Hashable]] | NDArray[Any]
Clusters = Sequence[Hashable] | NDArray[Any]

_MOST_LABELS = 256
"""Labels that are counted one by one: a column of the resampling each."""


class Ratings(NamedTuple):
    """Items that were rated often enough to agree on anything.

    Attributes:
        codes: Number of the label, -1 where a rater gave none; shape (items, raters).
        labels: The label of each number, in order.
        clusters: The number of each item's cluster; None where each is its own.
        left_out: Items with fewer than two ratings.
    """

    codes: Ints
    labels: tuple[Hashable, ...]
    clusters: Ints | None
    left_out: int


def as_ratings(
    table: Table,
    clusters: Clusters | None = None,
    categories: Sequence[Hashable] | None = None,
) -> Ratings:
    """Check a table of ratings and number its labels.

    Args:
        table: One row an item, one column a rater; None where a rater gave no label.
        clusters: The group of each item; None where each stands alone.
        categories: Every label that may occur, in order; None for those that occur, sorted.

    Raises:
        UsageError: It is no table, the rows differ in length, there are fewer than two raters, or
            a label is NaN or not among `categories`.
        Refusal: Fewer than two items (or clusters) have two ratings.
    """
    try:
        rows = [plain(row) for row in plain(table)]
        _check_shape(rows)
        known = _categories(rows, categories)
    except TypeError as error:
        raise UsageError(
            f"the ratings are no table of labels: {error}", hint="one row an item, of plain values"
        ) from None
    code: dict[Hashable, int] = {label: at for at, label in enumerate(known)}
    code[None] = -1
    codes = np.array([[code[label] for label in row] for row in rows], np.int64)
    kept = (codes >= 0).sum(axis=1) > 1
    grouped = None
    if clusters is not None:
        names = plain(clusters)
        cluster_codes(names, len(rows))  # of all items, so that an error names the right one
        rated = [name for name, keep in zip(names, kept.tolist(), strict=True) if keep]
        grouped = cluster_codes(rated, len(rated))
    items = int(kept.sum())
    refuse_few(items, items if grouped is None else len(set(grouped.tolist())))
    return Ratings(codes[kept], known, grouped, int((~kept).sum()))


def plain(values: Iterable[Any]) -> list[Any]:
    """A list of Python's own values, whether they come in an array or not."""
    return [
        value.item() if isinstance(value, np.generic) else value
        for value in (values.tolist() if isinstance(values, np.ndarray) else values)
    ]


def tallies(ratings: Ratings) -> Floats:
    """How often each item was given each label, shape (items, labels).

    Raises:
        UsageError: There are more than 256 labels.
    """
    if len(ratings.labels) > _MOST_LABELS:
        raise UsageError(
            f"there are {len(ratings.labels)} labels",
            hint=f"at most {_MOST_LABELS}; numbers without end need the level `interval`",
        )
    each = [(ratings.codes == at).sum(axis=1) for at in range(len(ratings.labels))]
    return np.stack(each, axis=1).astype(np.float64)


def numbers(ratings: Ratings, why: str) -> Floats:
    """The labels as numbers.

    Args:
        ratings: Checked.
        why: What needs numbers, for the error.

    Raises:
        UsageError: A label is no finite number.
    """
    for label in ratings.labels:
        if not isinstance(label, int | float) or not isfinite(label):
            raise UsageError(
                f"{why} needs an order, and the label {label!r} is no number",
                hint="give `categories` in order, or numbers as labels",
            )
    return np.array(ratings.labels, np.float64)


def _check_shape(rows: list[list[Hashable]]) -> None:
    if not rows:
        raise UsageError("there are no ratings", hint="give one row an item")
    raters = len(rows[0])
    for at, row in enumerate(rows):
        if len(row) != raters:
            raise UsageError(
                f"an item has {len(row)} places for ratings, the first has {raters}",
                where=f"item {at}",
                hint="one column a rater; None where a rater gave no label",
            )
    if raters < 2:  # noqa: PLR2004 - one rater agrees with nobody
        raise UsageError(f"there is {raters} rater", hint="agreement needs at least two")


def _categories(
    rows: list[list[Hashable]], given: Sequence[Hashable] | None
) -> tuple[Hashable, ...]:
    found: dict[Hashable, None] = {}
    for at, row in enumerate(rows):
        for label in row:
            if label != label:  # noqa: PLR0124 - only NaN is not itself
                raise UsageError(
                    "a label is NaN", where=f"item {at}", hint="None where a rater gave none"
                )
            if label is not None:
                found[label] = None
    if given is not None:
        strange = [label for label in found if label not in given]
        if strange or len(set(given)) < len(given) or None in given:
            what = f"the label {strange[0]!r} is not among them" if strange else "not distinct"
            raise UsageError(
                f"the categories are wrong: {what}", hint="name every label once, in order"
            )
    labels = list(given if given is not None else found)
    if given is None:
        try:
            labels.sort(key=lambda label: (isinstance(label, str), label))
        except TypeError:  # labels that have no order, such as mixed tuples
            labels.sort(key=repr)
    return tuple(labels)
