"""What a reader of a comparison must know beside its numbers."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from memruler.compare.bounds import Bounds, exactly
from memruler.compare.comparable import shown
from memruler.compare.fingerprint import Differences
from memruler.compare.headline import HEADLINE
from memruler.compare.load import LoadedRun
from memruler.compare.record import Delta

__all__ = ["notes", "unlike_code"]

_CODE = ("version", "commit", "dirty", "source_sha256")


def notes(
    base: LoadedRun,
    candidate: LoadedRun,
    found: Differences,
    default: Delta | None,
    bound: Bounds,
) -> tuple[str, ...]:
    """The notes, most important first.

    Args:
        base: The baseline.
        candidate: The candidate.
        found: How their fingerprints differ.
        default: The headline where nobody chose one; None where somebody did.
        bound: The headline over all measurable queries.
    """
    return (
        *_shared(bound),
        *_attribution(found),
        *_headline(default),
        *_stems(base, candidate),
        *_surroundings(base, candidate),
        *(f"a label of the same bytes differs ({shown(label)})" for label in found.labels),
        *_unattributed(base, "base"),
        *_unattributed(candidate, "candidate"),
        *_warnings(base, candidate),
    )


def _shared(bound: Bounds) -> Iterator[str]:
    head = bound.headline
    if bound.floor is not None:
        yield (
            "shared queries only: every mean is over the queries that count in both runs. A memory "
            "that returns short lists on hard questions can gain from this: at the headline "
            f"{head.base_counted} of {head.of} queries count in the base, "
            f"{head.candidate_counted} in the candidate, {head.counted} in both"
        )
    if bound.padded is not None and head in bound.padded_turned:
        yield (
            f"the padded headline has another sign than the verdict: {exactly(bound.padded.delta)} "
            f"over all {bound.padded.of}, {exactly(head.delta)} over the {head.counted} whose list "
            f"reaches {head.k} in both runs; what changed lies in the shorter lists too"
        )
    for how, turned in (
        ("with missing ranks counted as misses (padded)", bound.padded_turned),
        ("with a list shorter than k scored 0, whatever it holds", bound.floor_turned),
    ):
        where = ", ".join(f"{d.level} {d.metric}@{d.k}" for d in turned if d != head)
        if where:
            yield f"{how}, these differences turn their sign: {where}"


def _attribution(found: Differences) -> Iterator[str]:
    if len(found.parts) > 1:
        yield (
            f"{len(found.parts)} declared changes differ ({', '.join(found.parts)}): a delta "
            "cannot be attributed to one of them"
        )
    if not found.declared:
        yield "nothing differs between the two fingerprints: no change was under test"


def _headline(default: Delta | None) -> Iterator[str]:
    if default is not None and (default.level, default.k) != ("session", 5):
        yield (
            f"{HEADLINE}@5 at the session level is not compared; the headline is "
            f"{HEADLINE}@{default.k} at the {default.level} level"
        )


def _surroundings(base: LoadedRun, candidate: LoadedRun) -> Iterator[str]:
    left, right = base.manifest, candidate.manifest
    if code := unlike_code(base, candidate):
        yield f"the runs were made by different code of memruler ({', '.join(code)} differ)"
    for name, run in (("base", left), ("candidate", right)):
        if run.tool.get("dirty"):
            yield f"the {name} was made from a tree with uncommitted changes"
    names = sorted({*left.packages, *right.packages})
    unlike = [n for n in names if left.packages.get(n) != right.packages.get(n)]
    if unlike:
        pairs = (f"{n} {_or(left.packages, n)} -> {_or(right.packages, n)}" for n in unlike)
        yield f"package versions differ: {', '.join(pairs)}"
    if left.machine != right.machine:
        yield "the machines differ: latencies do not compare"


def unlike_code(base: LoadedRun, candidate: LoadedRun) -> list[str]:
    """What tells the code of memruler apart that made the two runs; empty if it is the same."""
    left, right = base.manifest.tool, candidate.manifest.tool
    return [name for name in _CODE if left.get(name) != right.get(name)]


def _stems(base: LoadedRun, candidate: LoadedRun) -> Iterator[str]:
    for name, run in (("base", base), ("candidate", candidate)):
        if PurePath(run.name).name != run.manifest.stem:
            yield f"the folder of the {name} was measured as {run.manifest.stem}"


def _or(versions: dict[str, str], name: str) -> Any:
    return versions.get(name, "(absent)")


def _unattributed(run: LoadedRun, name: str) -> Iterator[str]:
    hits = run.summary.hits
    for level, number in hits.unattributed.items():
        if number:
            yield (
                f"{name}: {number} of {hits.total} hits could not be attributed at the {level} "
                "level and score nothing"
            )


def _warnings(base: LoadedRun, candidate: LoadedRun) -> Iterator[str]:
    left, right = base.manifest.warnings, candidate.manifest.warnings
    for warning in dict.fromkeys((*left, *right)):
        names = [n for n, own in (("base", left), ("candidate", right)) if warning in own]
        yield f"{' and '.join(names)}: {warning}"
