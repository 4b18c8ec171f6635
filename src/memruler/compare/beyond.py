"""Beyond the mean of a gate: a test, slices corrected for how many there are, and who moved."""

from collections.abc import Sequence
from math import fsum
from typing import Literal

import msgspec

from memruler.stats.effects import net_win_rate
from memruler.stats.holm import holm
from memruler.stats.interval import Interval
from memruler.stats.mcnemar import mcnemar
from memruler.stats.wilcoxon import task_means, wilcoxon_signed_rank

__all__ = ["Moved", "PairedTest", "SliceRow", "moved", "paired_test", "slice_rows"]

Test = Literal["mcnemar", "wilcoxon"]


class PairedTest(msgspec.Struct, frozen=True, kw_only=True):
    """A test of whether the differences lean to one side.

    Attributes:
        test: `mcnemar` (exact) for labels of items that stand alone; else `wilcoxon` over the mean
            difference of each cluster, or over the items where each stands alone.
        n: Items or clusters that were tested.
        p: Two-sided.
        net_win_rate: `(wins - losses) / items` with its interval.
    """

    test: Test
    n: int
    p: float
    net_win_rate: Interval


class SliceRow(msgspec.Struct, frozen=True, kw_only=True):
    """The differences of one slice.

    Attributes:
        name: Of the slice.
        n, wins, losses: Items, and those that moved up and down.
        delta: Mean difference.
        test, p: As in `PairedTest`; None between deterministic runs, where each is a fact, and
            where the slice has one item or one cluster only.
        adjusted: `p` corrected by Holm for the number of slices that were tested; None likewise.
    """

    name: str
    n: int
    wins: int
    losses: int
    delta: float
    test: Test | None
    p: float | None
    adjusted: float | None


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """An item whose value is not the same on both sides."""

    id: str
    delta: float


def paired_test(
    deltas: Sequence[float], clusters: Sequence[str] | None, *, resamples: int, seed: int
) -> PairedTest:
    """Test all items.

    Args:
        deltas: Candidate minus baseline, one an item.
        clusters: One name an item; None where each stands alone.
        resamples: See `paired_bootstrap`; for the net win rate.
        seed: See `paired_bootstrap`.

    Raises:
        Refusal: There are fewer than two clusters.
    """
    test, n, p = _test(deltas, clusters)
    rate = net_win_rate(deltas, clusters, resamples=resamples, seed=seed)
    return PairedTest(test=test, n=n, p=p, net_win_rate=rate)


def slice_rows(
    deltas: Sequence[float],
    clusters: Sequence[str] | None,
    slices: Sequence[str],
    *,
    exact: bool,
) -> tuple[SliceRow, ...]:
    """One row a slice, by name; the p-values are corrected for all of them.

    Args:
        deltas: Candidate minus baseline, one an item.
        clusters: One name an item; None where each stands alone.
        slices: The slice of each item.
        exact: Whether the differences are facts, so that no test applies.
    """
    members: dict[str, list[int]] = {}
    for at, name in enumerate(slices):
        members.setdefault(name, []).append(at)
    tests = {}
    for name, places in members.items():
        groups = None if clusters is None else [clusters[at] for at in places]
        # One item, or one cluster, is no sample: its p would be 1 whatever happened.
        if not exact and len(set(places if groups is None else groups)) > 1:
            tests[name] = _test([deltas[at] for at in places], groups)
    adjusted = {
        row.name: row.adjusted
        for row in (holm({name: p for name, (_, _, p) in tests.items()}).rows if tests else ())
    }
    rows = []
    for name, places in sorted(members.items()):
        own = [deltas[at] for at in places]
        test, _, p = tests.get(name, (None, None, None))
        rows.append(
            SliceRow(
                name=name,
                n=len(own),
                wins=sum(delta > 0 for delta in own),
                losses=sum(delta < 0 for delta in own),
                delta=fsum(own) / len(own),
                test=test,
                p=p,
                adjusted=adjusted.get(name),
            )
        )
    return tuple(rows)


def moved(ids: Sequence[str], deltas: Sequence[float]) -> tuple[Moved, ...]:
    """The items that moved, the greatest losses first; equal ones in the order given."""
    found = [Moved(id=name, delta=d) for name, d in zip(ids, deltas, strict=True) if d != 0]
    return tuple(sorted(found, key=lambda item: item.delta))


def _test(deltas: Sequence[float], clusters: Sequence[str] | None) -> tuple[Test, int, float]:
    if clusters is None and set(deltas) <= {-1.0, 0.0, 1.0}:
        wins, losses = sum(d > 0 for d in deltas), sum(d < 0 for d in deltas)
        return "mcnemar", len(deltas), mcnemar(wins, losses).p
    means = list(deltas) if clusters is None else list(task_means(deltas, clusters).values())
    return "wilcoxon", len(means), wilcoxon_signed_rank(means).p
