"""How many credits each case stands for: those of its category over those that were drawn of it.

A sample gives the rare categories at least one case each, so that a plain share of cases is not
that of the credits.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from memruler.studies.audit_csv import visible
from memruler.studies.audit_record import Sampled

__all__ = ["Weights", "weights_of"]

_Stratum = tuple[str, str, str, str]
"""Run, data set, target and category, as cells show them."""

Weights = list[float] | str
"""One a case; or why there are none."""


def weights_of(columns: Mapping[str, Sequence[str]], sampled: Sequence[Sampled]) -> Weights:
    """The weight of every case.

    Args:
        columns: Of the cases, `run`, `corpus`, `target` and `category` among them.
        sampled: How they were drawn.
    """
    if not sampled:
        return "no note says how the cases were drawn"
    sizes: dict[_Stratum, tuple[int, int]] = {}
    for drawn in sampled:
        for category, size in drawn.strata.items():
            named = (drawn.run, drawn.corpus, drawn.target, category)
            run, corpus, target, shown = map(visible, named)
            if (run, corpus, target, shown) in sizes:
                return f"{run} was sampled twice under {target}"
            sizes[run, corpus, target, shown] = size
    names = ("run", "corpus", "target", "category")
    strata = list(zip(*(columns[name] for name in names), strict=True))
    if Counter(strata) != {stratum: chosen for stratum, (_, chosen) in sizes.items()}:
        return "the rows are not those that a note says were drawn"
    return [sizes[stratum][0] / sizes[stratum][1] for stratum in strata]
