"""From the paired scores of a pilot to what the next experiment can show."""

from collections.abc import Hashable, Sequence
from functools import partial
from math import ceil

import msgspec
import numpy as np

from memruler.errors import UsageError
from memruler.stats.power import needed, one_query, power_curve, smallest_effect
from memruler.stats.power_record import Needed, Power
from memruler.stats.power_repeats import split_repeats
from memruler.stats.sums import Floats, cluster_codes
from memruler.studies.power_record import PowerStudy

__all__ = ["Pilot", "study"]

_TIMES = (0.5, 1, 2, 4, 8)
"""Sizes of the curve, as multiples of the pilot's."""
_REPEATS = (1, 2, 3, 5, 10)
_ROUNDING = 1e-9
_EXACT = "a deterministic ruler gives the same again"
_ONCE = "the pilot has one draw of each item: nothing can be said about repeats"


class Pilot(msgspec.Struct, frozen=True, kw_only=True):
    """Paired scores, wherever they come from.

    Attributes:
        base, candidate: Names of the two sides.
        metric: What was scored.
        cluster: What `clusters` are, for people; None where each item stands alone.
        deltas: Candidate minus baseline, [items] or [items, repeats].
        clusters: One name an item; None where each stands alone.
        deterministic: Whether both sides were measured to be deterministic.
    """

    base: str
    candidate: str
    metric: str
    cluster: str | None
    deltas: Floats
    clusters: Sequence[Hashable] | None
    deterministic: bool


def study(
    pilot: Pilot,
    *,
    effect: float | None = None,
    power: float = 0.8,
    sample: bool = False,
    simulations: int = 2000,
    seed: int = 7,
) -> PowerStudy:
    """Tell how small an effect can be seen, and how much a wanted one needs.

    Between deterministic runs a difference is a fact about their own queries, so the smallest is
    one query and no chance is in it. Whether other queries would show it too is another question,
    which `sample` asks.

    Args:
        pilot: The paired scores.
        effect: True mean difference that shall be seen, above 0; None for none.
        power: Wanted chance to see it, from 0.05 to 0.99.
        sample: Take the items as a sample, though the runs are deterministic.
        simulations: Experiments a point, from 100 to 1,000,000.
        seed: Not negative.

    Raises:
        UsageError: A number is out of range.
        Refusal: The pilot has fewer than two clusters, or no spread to simulate from.
    """
    items = len(pilot.deltas)
    codes = None if pilot.clusters is None else cluster_codes(pilot.clusters, items)
    number = items if codes is None else len(np.unique(codes))
    found = PowerStudy(
        ruler="exact",
        base=pilot.base,
        candidate=pilot.candidate,
        metric=pilot.metric,
        cluster=pilot.cluster,
        items=items,
        clusters=number,
        mean=float(pilot.deltas.mean()) if items else 0.0,
        effect=effect,
        smallest=one_query(items),
        needed=None,
        curve=(),
        repeats=None,
        no_repeats=_EXACT,
        by_repeats=(),
        warnings=(),
    )
    if pilot.deterministic and not sample:
        queries = None if effect is None else one_query(_queries_for(effect))
        return msgspec.structs.replace(found, needed=queries)
    smallest = smallest_effect(
        pilot.deltas, pilot.clusters, power=power, simulations=simulations, seed=seed
    )
    repeated = pilot.deltas.ndim > 1 and pilot.deltas.shape[1] > 1
    wanted: Needed | None = None
    curve: tuple[Power, ...] = ()
    others: tuple[Needed, ...] = ()
    if effect is not None:
        ask = partial(
            needed,
            effect,
            pilot.deltas,
            pilot.clusters,
            power=power,
            simulations=simulations,
            seed=seed,
        )
        wanted = ask()
        sizes = sorted({max(2, round(times * number)) for times in _TIMES})
        curve = power_curve(
            pilot.deltas,
            pilot.clusters,
            effect=effect,
            sizes=sizes,
            simulations=simulations,
            seed=seed,
        )
        if repeated:
            others = tuple(ask(repeats=repeats) for repeats in _REPEATS)
    warned = (*smallest.warnings, *(wanted.warnings if wanted else ()))
    return msgspec.structs.replace(
        found,
        ruler="sample",
        smallest=smallest,
        needed=wanted,
        curve=curve,
        repeats=split_repeats(pilot.deltas, pilot.clusters) if repeated else None,
        no_repeats=None if repeated else _ONCE,
        by_repeats=others,
        warnings=tuple(dict.fromkeys(warned)),
    )


def _queries_for(effect: float) -> int:
    """Queries of which one is no larger than the effect."""
    if not 0 < effect <= 1:
        raise UsageError(
            f"an effect of {effect:g}", hint="above 0 and at most 1; 2 pp is 0.02 or 2pp"
        )
    return max(1, ceil(1 / effect - _ROUNDING))
