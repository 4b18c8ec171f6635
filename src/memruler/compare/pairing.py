"""Two sides become paired differences of one metric, or are refused with every reason."""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from memruler.compare.comparable import declared_reasons, run_reasons
from memruler.compare.fingerprint import Differences, differences
from memruler.compare.grade_side import (
    MIXED,
    grade_items,
    grade_side,
    trust,
    without_determinism,
)
from memruler.compare.headline import LEVELS, headline_cell
from memruler.compare.items import Items
from memruler.compare.load import LoadedRun, load, names
from memruler.compare.record import Difference, Reason
from memruler.compare.refusal import Incomparable
from memruler.compare.run_items import run_items
from memruler.compare.score_file import read_score_file
from memruler.errors import UsageError

__all__ = ["Pair", "pair_runs", "read_pair"]

_FEW = 3
_DIGITS = 4
_HEADLINE = "recall_all"
_ROUNDING = 2.0**-50


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Paired values of one metric.

    Attributes:
        base, candidate: Names of the two sides.
        metric: What was scored.
        cluster: What `clusters` are; None where each item stands alone.
        ids: Items with a value on both sides, in the base's order.
        deltas: Candidate minus baseline, one an item.
        clusters: One name an item; None where each item stands alone.
        slices: One name an item; None where no slices were asked for.
        absent: Reason to the number of items that have no value, on both sides or (only with
            `shared`) on one.
        deterministic: Whether both sides are.
        changed: The declared differences.
        degraded: Why neither side is to be trusted.
        notes: What a reader must know.
        declared: What each side was measured with.
        repeats: Most values that an item had on either side, before they became one.
    """

    base: str
    candidate: str
    metric: str
    cluster: str | None
    ids: tuple[str, ...]
    deltas: tuple[float, ...]
    clusters: tuple[str, ...] | None
    slices: tuple[str, ...] | None = None
    absent: dict[str, int]
    deterministic: bool
    changed: tuple[Difference, ...]
    degraded: tuple[str, ...]
    notes: tuple[str, ...]
    declared: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
    repeats: int = 1


def read_pair(
    base: Path,
    candidate: Path,
    *,
    metric: str | None = None,
    cluster: str | None = None,
    by: str | None = None,
    changed: tuple[str, ...] = (),
    shared: bool = False,
    check: bool = True,
) -> Pair:
    """Read two run folders, two gradings, or two files of scores, as pairs.

    Args:
        base: The baseline. A run stands for its only grading with `metric`, where it has one.
        candidate: The candidate.
        metric: A column; of a run `recall_all@5`, or with its level `turn:recall_all@5`. None
            for the headline of a run, or the only metric of a grading or a file.
        cluster: A cluster key, a column, or `path:N`, the first N parts of an id cut at `/`. None
            where each item stands alone.
        by: What to slice by, named like a cluster key.
        changed: What is under test; see `differences`.
        shared: Take the items with a value on both sides, where one side alone has more.
        check: Ask whether the two may be compared. A pilot of a power study needs only pairs.

    Raises:
        Incomparable: They may not be compared, or a value stands on one side only.
        UsageError: A metric, cluster key or declared change is unknown.
        CorpusError, FormatError: A side cannot be read.
    """
    for path in (base, candidate):
        if not path.exists():
            raise UsageError("no such file or folder", where=path, hint="check the path")
    if base.resolve() == candidate.resolve():
        raise UsageError("both sides are the same", where=base, hint="name two")
    own = names(base, candidate)
    if any(graded := [grade_side(path, metric) for path in (base, candidate)]):
        sides = _graded((base, candidate), graded, own)
        one, other = (without_determinism(side.declared) for side, _ in sides)
        found = differences(one, other, changed)
        return _paired_files(sides, found, metric, (cluster, by), shared=shared, check=check)
    runs = [path.is_dir() for path in (base, candidate)]
    if any(runs) and not all(runs):
        raise UsageError(
            "one side is a run folder and the other a file of scores",
            where=f"{own[0]} against {own[1]}",
            hint="name two of a kind: a score of one tool is not a score of another",
        )
    left_run: LoadedRun | None = None
    right_run: LoadedRun | None = None
    if all(runs):
        left_run, right_run = map(load, (base, candidate), own)
        left, right = run_items(base, left_run), run_items(candidate, right_run)
    else:
        left, right = map(read_score_file, (base, candidate), own)
    found = differences(left.declared, right.declared, changed)
    name = _metric(left, right, metric)
    reasons = _comparable(left_run, right_run, found) if check else []
    reasons += _unpaired(left, right, name, shared=shared)
    if reasons:
        raise Incomparable(left.name, right.name, reasons)
    return _paired(left, right, name, (cluster, by), found)


def pair_runs(
    left: tuple[LoadedRun, Items],
    right: tuple[LoadedRun, Items],
    *,
    metric: str | None = None,
    cluster: str | None = None,
    changed: Sequence[str] = (),
    shared: bool = False,
) -> Pair:
    """Pair two runs that were read before; see `read_pair`.

    Args:
        left: The baseline, and its items.
        right: The candidate, and its items.
        metric: As in `read_pair`.
        cluster: As in `read_pair`.
        changed: As in `read_pair`.
        shared: As in `read_pair`.

    Raises:
        Incomparable: They may not be compared, or a value stands on one side only.
        UsageError: A metric, cluster key or declared change is unknown.
    """
    (base, one), (candidate, other) = left, right
    found = differences(one.declared, other.declared, changed)
    name = _metric(one, other, metric)
    reasons = run_reasons(base, candidate, found)
    reasons += _unpaired(one, other, name, shared=shared)
    if reasons:
        raise Incomparable(one.name, other.name, reasons)
    return _paired(one, other, name, (cluster, None), found)


def _graded(
    paths: tuple[Path, Path], graded: list[Path | None], own: tuple[str, str]
) -> list[tuple[Items, str | None]]:
    """Two gradings, or a grading and a file of scores; each with its own metric, if it says so."""
    sides: list[tuple[Items, str | None]] = []
    for path, folder, name in zip(paths, graded, own, strict=True):
        if folder is not None:
            items, manifest = grade_items(folder, name)
            sides.append((items, manifest.metric))
        elif path.is_dir():
            raise Incomparable(*own, [MIXED])
        else:
            sides.append((read_score_file(path, name), None))
    return sides


def _paired_files(
    sides: list[tuple[Items, str | None]],
    found: Differences,
    metric: str | None,
    keys: tuple[str | None, str | None],
    *,
    shared: bool,
    check: bool,
) -> Pair:
    """Pairs of which at least one side is a grading."""
    (left, one), (right, other) = sides
    reasons = [*declared_reasons(found), *trust(left, right)] if check else []
    if any(reason.code != "undeclared" for reason in reasons):
        # Another ruler may not even have the metric: that is not what must be told.
        raise Incomparable(left.name, right.name, reasons)
    name = _metric(left, right, metric or one or other)
    reasons += _unpaired(left, right, name, shared=shared)
    if reasons:
        raise Incomparable(left.name, right.name, reasons)
    return _paired(left, right, name, keys, found)


def _comparable(
    left: LoadedRun | None, right: LoadedRun | None, found: Differences
) -> list[Reason]:
    if left is None or right is None:
        return declared_reasons(found)
    return run_reasons(left, right, found)


def _metric(left: Items, right: Items, asked: str | None) -> str:
    both = [metric for metric in left.values if metric in right.values]
    if not both:
        raise UsageError(
            "the two sides share no metric",
            where=f"{left.name} against {right.name}",
            hint="a metric is a column of numbers that both have",
        )
    if asked is None and left.source == "file":
        if len(both) > 1:
            raise UsageError(
                "which metric decides?", hint=f"--metric with one of {', '.join(both[:8])}"
            )
        return both[0]
    if asked is None:
        # Where nothing is left at all, any of them says so.
        some = [m for m in both if left.values[m].keys() & right.values[m].keys()] or both
        places = [(metric.partition(":")[0], metric.rpartition("@")[2]) for metric in some]
        level, k = headline_cell([(lv, int(k)) for lv in LEVELS for at, k in places if at == lv])
        return f"{level}:{_HEADLINE}@{k}"
    for full in (asked, *(f"{level}:{asked}" for level in LEVELS)):
        if full in both:
            return full
    text = [s.name for s in (left, right) if asked in s.keys and asked not in s.values]
    if text:
        raise UsageError(
            f"{asked!r} is no metric", where=" and ".join(text), hint="it holds text there"
        )
    near = get_close_matches(asked, [*both, *(m.partition(":")[2] for m in both)], n=1)
    raise UsageError(
        f"no such metric: {asked!r}",
        hint=f"did you mean {near[0]}?" if near else f"one of {', '.join(both[:8])}",
    )


def _unpaired(left: Items, right: Items, metric: str, *, shared: bool) -> list[Reason]:
    ids = {side.name: dict.fromkeys(side.ids) for side in (left, right)}
    only = {
        side.name: [item for item in side.ids if item not in ids[other.name]]
        for side, other in ((left, right), (right, left))
    }
    found = [
        Reason(
            code="queries",
            what=f"{len(items)} items are only in {name} ({', '.join(items[:_FEW])}"
            f"{', …' if len(items) > _FEW else ''})",
            hint="score the same items on both sides",
        )
        for name, items in only.items()
        if items
    ]
    alone = left.values[metric].keys() ^ right.values[metric].keys()
    if not found and alone and not shared:
        found.append(
            Reason(
                code="members",
                what=f"{metric}: {len(alone)} items have a value on one side only "
                f"({', '.join(sorted(alone)[:_FEW])}{', …' if len(alone) > _FEW else ''})",
                hint="measure them, or take the items that have a value on both sides: --shared",
            )
        )
    if not found and not left.values[metric].keys() & right.values[metric].keys():
        found.append(
            Reason(
                code="nothing-left",
                what=f"{metric}: no item has a value on both sides",
                hint="choose another metric",
            )
        )
    for side, other in ((left, right), (right, left)):
        if metric in side.majority and set(other.values[metric].values()) - {0.0, 1.0}:
            found.append(
                Reason(
                    code="ruler",
                    what=f"{metric}: {side.name} has labels 0 and 1, whose repeats become one by "
                    f"majority, and {other.name} has other numbers, whose repeats are averaged",
                    hint="score both sides the same way",
                )
            )
    if (left.majority | right.majority) & {metric} and left.repeats != right.repeats:
        found.append(
            Reason(
                code="ruler",
                what=f"{metric}: {left.name} has up to {left.repeats} repeats an item and "
                f"{right.name} up to {right.repeats}; a majority of more is another measure",
                hint="draw both sides equally often (`memruler repeats` shows both)",
            )
        )
    return found


def _paired(
    left: Items, right: Items, metric: str, keys: tuple[str | None, str | None], found: Differences
) -> Pair:
    cluster, by = keys
    one, other = left.values[metric], right.values[metric]
    ids = tuple(item for item in left.ids if item in one and item in other)
    reasons = Counter(
        _reason(left, right, metric, item)
        for item in left.ids
        if item not in one or item not in other
    )
    alone = one.keys() ^ other.keys()
    notes = []
    if alone:
        notes.append(
            f"shared items only: {len(alone)} have a value on one side only, and a side that gives "
            "none where it would have lost pays nothing for it"
        )
    if max(left.repeats, right.repeats) > 1:
        notes.append(
            f"repeats became one value an item, by majority of labels (a tie is 0) or their mean: "
            f"up to {left.repeats} of {left.name}, up to {right.repeats} of {right.name}"
        )
    if left.source == "file" and not (left.declared and right.declared):
        notes.append(
            "what was measured is not declared (a file NAME.meta.json beside each side): whether "
            "the two may be compared was not checked"
        )
    return Pair(
        base=left.name,
        candidate=right.name,
        metric=metric,
        cluster=cluster,
        ids=ids,
        deltas=tuple(_difference(one[item], other[item]) for item in ids),
        clusters=None if cluster is None else _clusters(left, right, cluster, ids),
        slices=None if by is None else _clusters(left, right, by, ids),
        absent=dict(sorted(reasons.items())),
        deterministic=left.deterministic and right.deterministic,
        changed=found.declared,
        degraded=left.degraded,
        notes=tuple(notes),
        declared=(left.declared, right.declared),
        repeats=max(left.repeats, right.repeats),
    )


def _difference(base: float, candidate: float) -> float:
    """Their difference; 0 where only rounding is between them (0.1 + 0.2 and 0.3)."""
    delta = candidate - base
    return 0.0 if abs(delta) <= _ROUNDING * max(abs(base), abs(candidate)) else delta


def _reason(left: Items, right: Items, metric: str, item: str) -> str:
    sides = [side.absent[metric].get(item) for side in (left, right)]
    told = list(dict.fromkeys(reason for reason in sides if reason is not None))
    return "; ".join(told)


def _clusters(left: Items, right: Items, cluster: str, ids: tuple[str, ...]) -> tuple[str, ...]:
    kind, colon, depth = cluster.partition(":")
    if colon and kind == "path":
        if not (depth.isdecimal() and len(depth) <= _DIGITS and int(depth)):
            raise UsageError(f"--cluster {cluster}: no depth", hint="such as path:2")
        return tuple("/".join(item.split("/")[: int(depth)]) for item in ids)
    known: Mapping[str, Mapping[str, str]] = {**right.keys, **left.keys}
    if cluster not in known:
        near = get_close_matches(cluster, known, n=1)
        raise UsageError(
            f"no such cluster key: {cluster!r}",
            hint=f"did you mean {near[0]}?" if near else f"one of {', '.join([*known, 'path:N'])}",
        )
    for item in ids:
        two = {keys[cluster].get(item) for keys in (left.keys, right.keys) if cluster in keys}
        if None in two or len(two) > 1:
            what = "no" if None in two else "not the same"
            raise UsageError(
                f"an item has {what} {cluster} on both sides", where=item, hint="mend the files"
            )
    return tuple(known[cluster][item] for item in ids)
