"""May these two runs be compared? Every reason why not, at once."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from memruler.compare.fingerprint import Differences
from memruler.compare.headline import LEVELS
from memruler.compare.load import LoadedRun, QueryKey
from memruler.compare.record import Difference, Reason, ReasonCode
from memruler.errors import printable
from memruler.model.summary import Level

__all__ = ["declared_reasons", "other_corpus", "reasons", "run_reasons", "shown"]

_FIXED: dict[str, tuple[ReasonCode, str]] = {
    "corpus": ("corpus", "measure both over the same part of the same corpus"),
    "population": ("population", "measure both with the same --population"),
    "ruler": ("ruler", "score both runs with the same version of memruler"),
    "axis": ("ruler", "retrieval and accuracy are two rulers: compare scores of one of them"),
    "dataset": ("corpus", "measure both over the same data set"),
    "split": ("corpus", "measure both over the same split"),
    "denominator": (
        "population",
        "count abstentions in both the same way: `wrong`, or `left_out`",
    ),
}
"""Parts that can never be the change under test: other questions, or another ruler. The last four
stand only in what files of scores declare."""

_GRADED = {"ruler.grader", "ruler.metric"}
"""Parts of a ruler that only a grading of answers has."""

_MANY = 3
_LONGEST = 60


def shown(difference: Difference) -> str:
    """One difference for people: `decay_rate: 0.03 -> 0.0`."""
    return f"{printable(difference.key)}: {_values(difference)}"


def other_corpus(found: Differences) -> bool:
    """Whether the corpora differ: who is counted then differs too, and goes without saying."""
    return any(_part(d) == "corpus" for d in (*found.undeclared, *found.declared))


def reasons(
    base: LoadedRun, candidate: LoadedRun, found: Differences, levels: tuple[Level, ...]
) -> list[Reason]:
    """Why the two runs do not compare, whatever the cut-offs; empty if they do.

    Args:
        base: The baseline.
        candidate: The candidate.
        found: How their fingerprints differ.
        levels: Levels that would be compared.
    """
    return [
        *_fingerprint(found),
        *_ruler(base, candidate),
        *_trust(base, candidate),
        *_determinism(base, "base"),
        *_determinism(candidate, "candidate"),
        *(() if other_corpus(found) else _queries(base, candidate, levels)),
    ]


def run_reasons(base: LoadedRun, candidate: LoadedRun, found: Differences) -> list[Reason]:
    """As `reasons`, for paired statistics: a run that is a draw may take part."""
    return [
        *_fingerprint(found),
        *_ruler(base, candidate),
        *_trust(base, candidate),
        *(() if other_corpus(found) else _queries(base, candidate, LEVELS)),
    ]


def declared_reasons(found: Differences) -> list[Reason]:
    """Why two files of scores do not compare, by what they declare; see `reasons`."""
    return list(_fingerprint(found))


def _values(difference: Difference) -> str:
    sides = (("base", difference.base), ("candidate", difference.candidate))
    return " -> ".join(
        "(absent)"
        if difference.missing == side
        else printable(json.dumps(value, ensure_ascii=False, default=str), _LONGEST)
        for side, value in sides
    )


def _fingerprint(found: Differences) -> Iterator[Reason]:
    fixed = [d for d in (*found.undeclared, *found.declared) if _part(d) in _FIXED]
    for part in dict.fromkeys(map(_part, fixed)):
        if part == "population" and other_corpus(found):
            continue
        code, hint = _FIXED[part]
        if any(d.key in _GRADED for d in fixed):
            hint = "grade both by the same grader"
        what = ", ".join(f"{d.key} differs ({_values(d)})" for d in fixed if _part(d) == part)
        yield Reason(code=code, what=what, hint=hint)
    open_ = [d for d in found.undeclared if _part(d) not in _FIXED]
    for difference in open_:
        yield Reason(
            code="undeclared",
            what=f"{difference.key} differs ({_values(difference)}) and was not declared as the "
            "change under test",
            hint=f"repeat one run with the other's settings, or declare it: {_declare(open_)}",
        )
    for key in found.idle:
        yield Reason(
            code="nothing-changed",
            what=f"{key} was declared as the change under test, but both runs have the same",
            hint="compare the run that has the change, or leave that --changed out",
        )


def _part(difference: Difference) -> str:
    return difference.key.partition(".")[0]


def _declare(undeclared: list[Difference]) -> str:
    keys = [d.key for d in undeclared]
    if len(keys) > _MANY:
        # Ten flags help nobody: name the parts that hold them.
        keys = list(dict.fromkeys(_part(d) for d in undeclared))
    return " ".join(f"--changed {key}" for key in keys)


def _ruler(base: LoadedRun, candidate: LoadedRun) -> Iterator[Reason]:
    for what, left, right in (
        ("target", base.summary.target, candidate.summary.target),
        ("format of summary", base.summary.schema_version, candidate.summary.schema_version),
    ):
        if left != right:
            yield Reason(
                code="ruler",
                what=f"the {what} differs ({left} -> {right})",
                hint="score both runs the same way, with the same version of memruler",
            )


def _trust(base: LoadedRun, candidate: LoadedRun) -> Iterator[Reason]:
    left, right = set(base.manifest.degraded), set(candidate.manifest.degraded)
    # Two runs degraded the same way compare, under a banner: that is how the tool tests itself.
    if left == right:
        return
    for name, own, other in (("base", left, right), ("candidate", right, left)):
        if own - other:
            yield Reason(
                code="degraded",
                what=f"the {name} is degraded ({'; '.join(sorted(own - other))}), "
                "the other run is not so",
                hint="measure it with real parts",
            )


def _determinism(run: LoadedRun, name: str) -> Iterator[Reason]:
    measured = run.manifest.determinism
    hint = (
        "make the system deterministic, which docs/systems.md explains, and measure it anew: the "
        "likely cause is the order of a Python set of strings, which differs in each process (sort "
        "before adding floats or breaking ties). A system that is a draw by nature needs repeats "
        "and an interval, which this ruler does not give"
    )
    if measured is None or measured.queries == 0:
        yield Reason(
            code="determinism",
            what=f"whether the {name} is deterministic was not measured",
            hint="measure it anew: a run replays some instances in another process",
        )
    elif measured.identical < measured.queries:
        yield Reason(
            code="determinism",
            what=f"the {name} is not deterministic: {measured.queries - measured.identical} of "
            f"{measured.queries} queries ranked differently when some instances were replayed in "
            + ("another process" if measured.other_process else "fresh stores"),
            hint=hint,
        )


def _queries(base: LoadedRun, candidate: LoadedRun, levels: tuple[Level, ...]) -> Iterator[Reason]:
    if base.queries != candidate.queries:
        unlike = {
            key
            for key in {*base.queries, *candidate.queries}
            if base.queries.get(key) != candidate.queries.get(key)
        }
        yield Reason(
            code="queries",
            what=f"{len(unlike)} queries are not in both runs with the same id, text and category",
            hint="measure both over the same corpus",
        )
        return
    for level in levels:
        if level not in base.scores or level not in candidate.scores:
            continue
        left, right = base.scores[level].excluded, candidate.scores[level].excluded
        unlike = {key for key in {*left, *right} if (key in left) != (key in right)}
        if unlike:
            yield Reason(
                code="queries",
                what=f"{level} level: {len(unlike)} queries count in one run only ("
                + "; ".join(_why(left, right, unlike))
                + ")",
                hint="mend what failed and measure that run anew",
            )


def _why(
    left: Mapping[QueryKey, str], right: Mapping[QueryKey, str], unlike: set[QueryKey]
) -> list[str]:
    counts = Counter(
        ("base", left[key]) if key in left else ("candidate", right[key]) for key in unlike
    )
    return [
        f"{number} left out of the {name}: {printable(reason, _LONGEST)}"
        for (name, reason), number in sorted(counts.items())
    ]
