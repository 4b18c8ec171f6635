"""Holds the verdict against what short lists hide: padded lists, and short lists scored 0."""

from collections.abc import Iterator, Sequence

import msgspec

from memruler.compare.deltas import moved
from memruler.compare.load import LoadedRun
from memruler.compare.paired import floor_delta, padded_delta
from memruler.compare.record import Delta, PaddedDelta, Reason
from memruler.compare.refusal import Incomparable

__all__ = ["Bounds", "bounds", "exactly"]


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The headline, and the same over all measurable queries.

    Attributes:
        headline: Over the queries that count (in both runs).
        padded: Over padded lists; None where a run does not give it.
        floor: A list shorter than the cut-off scores 0; None unless over shared queries.
        padded_turned: Deltas over all queries whose sign is another one over padded lists.
        floor_turned: Those whose sign is another one where short lists score 0.
    """

    headline: Delta
    padded: PaddedDelta | None
    floor: Delta | None
    padded_turned: tuple[Delta, ...]
    floor_turned: tuple[Delta, ...]


def bounds(
    base: LoadedRun,
    candidate: LoadedRun,
    deltas: Sequence[Delta],
    headline: Delta,
    *,
    shared: bool,
) -> Bounds:
    """Take the headline again over all measurable queries, in two ways.

    Args:
        base: The baseline.
        candidate: The candidate.
        deltas: Everything that is compared.
        headline: The one of them that decides.
        shared: All means are over the queries that count in both runs. Only then is there a floor,
            and a verdict that hangs on leaving queries out.

    Raises:
        Incomparable: The runs count other queries, and the headline over the shared ones has
            another sign than one of the two.
        FormatError: The scores of a run are not those of its summary.
    """
    whole = [d for d in deltas if d.slice == "all"]
    found = Bounds(
        headline=headline,
        padded=padded_delta(base, candidate, headline),
        floor=floor_delta(base, candidate, headline) if shared else None,
        padded_turned=tuple(d for d in whole if _turned(d, padded_delta(base, candidate, d))),
        floor_turned=tuple(
            d for d in whole if shared and _turned(d, floor_delta(base, candidate, d))
        ),
    )
    alike = headline.base_counted == headline.candidate_counted == headline.counted
    # Where both count the same queries no silence is left out of either mean, and the verdict is
    # that of the plain comparison: there a note must do.
    against = [found.floor, *([] if alike else [found.padded])]
    if found.floor is not None and any(_turned(headline, other) for other in against):
        raise Incomparable(base.name, candidate.name, [_disagreement(found, found.floor)])
    return found


def exactly(delta: float) -> str:
    """A difference in a sentence: its sign and three digits that matter; 0 only if it is zero."""
    return f"{delta:+.3g}" if delta else "0"


def _turned(delta: Delta, other: Delta | PaddedDelta | None) -> bool:
    # Zero is a sign of its own: `unchanged` over shared queries must not hide a loss.
    return other is not None and moved(0, delta.delta) != moved(0, other.delta)


def _disagreement(found: Bounds, floor: Delta) -> Reason:
    head = found.headline
    return Reason(
        code="shared_and_floor_disagree",
        what=f"{head.metric}@{head.k} at the {head.level} level differs by "
        f"{exactly(head.delta)} over the {head.counted} shared queries, but "
        + " and ".join(_over_all(found, floor))
        + f" ({head.base_counted} count in the base, {head.candidate_counted} in the candidate)",
        hint="choose another --metric or -k for which all say the same, or compare without "
        "--shared where both runs count the same queries: -k common",
    )


def _over_all(found: Bounds, floor: Delta) -> Iterator[str]:
    yield (
        f"by {exactly(floor.delta)} over all {floor.of} measured queries where a list shorter than "
        f"{floor.k} scores 0, whatever it holds"
    )
    if found.padded is not None:
        yield (
            f"by {exactly(found.padded.delta)} over all {found.padded.of} with missing ranks "
            "counted as misses (padded)"
        )
