"""Sums up a grading: means with every denominator that they hide when they are published.

A mean over answers is a ruler of its own and never stands in a table with retrieval. Where the
reader is a rule and nobody is asked it is exact and carries no interval; with a model in it the
grading is a draw, and its mean stands beside the interval of whole clusters.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

import msgspec

from memruler.scoring.grade_official import OfficialLine, official_lines, ordered
from memruler.scoring.grade_record import Detail, GradeSlice, JudgeFlips, ParserCounts
from memruler.scoring.slices import slice_name
from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.interval import FEW_CLUSTERS, Interval
from memruler.store.grades import GradeRow

__all__ = ["are_labels", "item_value", "judge_flips", "parser_counts", "summarise_grades"]

_STRICT = "strict"
"""The detail in which a grader gives the same reply under a stricter parser."""

_LEAST = 2


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    """One query with all its gradings."""

    category: str
    cluster: str
    answerable: bool
    answered: bool
    value: float | None
    rows: tuple[GradeRow, ...]


def are_labels(rows: Iterable[GradeRow]) -> bool:
    """Whether a grading gives nothing but 0 and 1.

    Of all its rows, as `gate` decides it, so that shares which happen to be 0 and 1 for one item
    stay a mean.
    """
    return all(row.graded.value in {0.0, 1.0, None} for row in rows)


def item_value(values: Sequence[float], *, labels: bool) -> float | None:
    """The one value of several; None of none.

    Args:
        values: Of one item.
        labels: See `are_labels`: the majority counts and a tie is 0; of shares it is the mean.
    """
    if not values:
        return None
    if labels:
        return float(2 * sum(values) > len(values))
    return fsum(values) / len(values)


def summarise_grades(
    rows: Sequence[GradeRow],
    *,
    answered: Mapping[tuple[int, int, int], bool],
    clusters: Mapping[tuple[int, int], str],
    corpus: str,
    exact: bool,
    sample: bool,
    official: bool,
) -> tuple[tuple[GradeSlice, ...], tuple[OfficialLine, ...]]:
    """The slices of a grading and the lines of the data set's own print.

    Args:
        rows: Every grading.
        answered: Instance, query and repeat to whether there is an answer.
        clusters: Instance and query to what is resampled whole.
        corpus: Decides the order of the categories.
        exact: Whether a repetition would give the same.
        sample: Whether only a sample was graded: then there is no mean.
        official: Whether the data set's own print is wanted.
    """
    grouped: dict[tuple[int, int], list[GradeRow]] = {}
    for row in rows:
        grouped.setdefault((row.instance, row.query), []).append(row)
    labels = are_labels(rows)
    items = [
        _Item(
            category=slice_name(of[0].category),
            cluster=clusters[key],
            answerable=of[0].answerable,
            answered=any(answered[(*key, row.repeat)] for row in of),
            value=_value(of, labels=labels),
            rows=tuple(of),
        )
        for key, of in grouped.items()
    ]
    names = ordered(corpus, {item.category for item in items})
    parts = {"all": items, **{n: [i for i in items if i.category == n] for n in names}}
    slices = tuple(_slice(name, part, exact, sample) for name, part in parts.items())
    lines = official_lines(corpus, items, names) if official and not sample else ()
    return slices, tuple(lines)


def _answer_values(rows: Iterable[GradeRow]) -> dict[int, list[float]]:
    """Reader's draw to the values of all gradings of that answer."""
    found: dict[int, list[float]] = {}
    for row in rows:
        drawn = found.setdefault(row.repeat, [])
        if row.graded.value is not None:
            drawn.append(row.graded.value)
    return found


def _value(rows: Sequence[GradeRow], *, labels: bool) -> float | None:
    """Of an item: first what the judge's draws of one answer say, then those of its answers."""
    each = [item_value(values, labels=labels) for values in _answer_values(rows).values()]
    return item_value([value for value in each if value is not None], labels=labels)


def _slice(name: str, items: Sequence[_Item], exact: bool, sample: bool) -> GradeSlice:
    scored = [item for item in items if item.value is not None]
    values = [item.value for item in scored if item.value is not None]
    rows = [row for item in items for row in item.rows]
    details: dict[str, list[float]] = {}
    for row in rows:
        for key, number in row.graded.detail.items():
            if number is not None:
                details.setdefault(key, []).append(number)
    mean = None if sample or not values else fsum(values) / len(values)
    interval, why = (None, "the ruler is exact") if exact else _interval(scored)
    if sample:
        interval, why = None, "only a sample was graded, which is for agreement and has no mean"
    return GradeSlice(
        name=name,
        items=len(items),
        answered=sum(item.answered for item in items),
        scored=len(scored),
        mean=mean,
        floor=None if mean is None else fsum(values) / len(items),
        interval=interval,
        no_interval=why,
        unscored=_counts(row.graded.reason for row in rows),
        labels=_counts(row.graded.label for row in rows),
        details={
            key: Detail(of=len(found), mean=fsum(found) / len(found))
            for key, found in sorted(details.items())
        },
    )


def _interval(scored: Sequence[_Item]) -> tuple[Interval | None, str | None]:
    """Of a mean: whole clusters are drawn; in one cluster its items, with a warning."""
    values = [item.value for item in scored if item.value is not None]
    if len(values) < _LEAST:
        return None, f"{len(values)} scored items give none"
    clusters: list[str] | None = [item.cluster for item in scored]
    told: list[str] = []
    if len(set(clusters or ())) < _LEAST:
        clusters = None
        told.append("one cluster: the interval is of questions in it, not of other clusters")
    found = paired_bootstrap(values, clusters)
    if found.clusters < FEW_CLUSTERS:
        told.append(
            f"{found.clusters} clusters: below {FEW_CLUSTERS} a percentile interval is too narrow"
        )
    if len(set(values)) == 1:
        told.append("every value is the same, so the interval is a point and says little")
    # The bootstrap's own warnings speak of differences, and here is none.
    return msgspec.structs.replace(found, warnings=tuple(told)), None


def parser_counts(rows: Iterable[GradeRow]) -> ParserCounts | None:
    """How far the strict reading of the replies is from the one in use."""
    pairs = [
        (row.graded.value, row.graded.detail[_STRICT])
        for row in rows
        if row.graded.value is not None and _STRICT in row.graded.detail
    ]
    if not pairs:
        return None
    apart = [(value, strict) for value, strict in pairs if value != strict]
    return ParserCounts(
        of=len(pairs),
        apart=len(apart),
        undecided=sum(strict is None for _, strict in apart),
        higher=sum(strict is not None and value > strict for value, strict in apart),
    )


def judge_flips(rows: Sequence[GradeRow], draws: int) -> JudgeFlips | None:
    """How often the judge changes its mind; None where it was asked once."""
    if draws < _LEAST:
        return None
    answers: dict[tuple[int, int, int], list[float]] = {}
    for row in rows:
        if row.graded.value is not None:
            key = (row.instance, row.query, row.repeat)
            answers.setdefault(key, []).append(row.graded.value)
    several = [values for values in answers.values() if len(values) >= _LEAST]
    flipped = [values for values in several if len(set(values)) > 1]
    labels = are_labels(rows)
    return JudgeFlips(
        draws=draws,
        of=len(several),
        flipped=len(flipped),
        ties=sum(labels and 2 * sum(v) == len(v) for v in flipped),
    )


def _counts(words: Iterable[str | None]) -> dict[str, int]:
    found = Counter(word for word in words if word is not None)
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))
