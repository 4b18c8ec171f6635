"""The scores of one store under several targets, on the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from memruler.compare.target_record import Means, TargetResult, TargetScores
from memruler.errors import printable
from memruler.report import numbers
from memruler.report import targets_view as view
from memruler.report.layout import facts, heading, stdout_console, unpadded
from memruler.report.table import print_table
from memruler.report.targets_words import population

__all__ = ["print_target_scores", "render_target_scores"]

_HEADS = (
    "recall_\nany",
    "recall_\nall",
    "recall_\nmicro",
    "recall_\npooled",
    "mrr",
    "ndcg",
    "found",
)


def print_target_scores(found: TargetScores) -> None:
    """Print the scores of one store to stdout."""
    with unpadded(stdout_console()) as console:
        render_target_scores(found, console)


def render_target_scores(found: TargetScores, console: Console) -> None:
    """Print the scores of one store.

    Args:
        found: What to print.
        console: Where to print; 80 columns suffice.
    """
    names = ", ".join(one.target for one in found.targets)
    title = f"SCORES under {names or 'no target'}: {found.name}"
    console.print(Text(printable(title), style="bold"))
    facts(
        console,
        [
            ("credit", f"rule {found.rule}, level {found.level}"),
            ("population", population(found)),
            *(_coverage(one) for one in found.targets),
        ],
    )
    heading(console, "each target over the queries that it serves")
    heads = (*_HEADS, "items" if found.rule == "id" else "anchors")
    print_table(console, ["target", "k"], heads, _rows(found.targets, shared=False))
    if any(one.own != one.shared for one in found.targets):
        heading(console, f"over the {found.shared} queries that every target serves")
        print_table(console, ["target", "k"], heads, _rows(found.targets, shared=True))
    elif len(found.targets) > 1:
        console.print(f"every target serves the same {found.shared} queries")
    if any(one.categories for one in found.targets):
        heading(console, f"by category, k = {found.cutoffs[-1]}")
        columns = ["queries", "top-1", "hit", "recall", "MRR", "nDCG"]
        print_table(console, ["category", "target"], columns, _categories(found.targets))
    if found.pairs:
        heading(console, f"what changes from one target to another, k = {found.cutoffs[-1]}")
        rows = view.shift_rows(found.pairs, found.cutoffs[-1])
        print_table(console, ["pair"], view.shift_heads(1), rows)
    console.print()
    facts(console, _notes(found))


def _coverage(one: TargetResult) -> tuple[str, str]:
    top1 = "" if one.own.top1 is None else f"; top-1 {numbers.mean(one.own.top1)}"
    serves = f"serves {numbers.share(one.scored, one.counted)} queries and "
    serves += (
        f"{numbers.share(one.anchors, one.anchors_of)} gold anchors with {one.eligible} eligible "
    )
    return one.target, f"{serves}items{top1}; not scored: {numbers.counts(one.excluded)}"


def _rows(targets: Sequence[TargetResult], *, shared: bool) -> Iterator[tuple[str, ...]]:
    for one in targets:
        means = one.shared if shared else one.own
        if means.reason is not None:
            yield (one.target, "-", *["-"] * (len(_HEADS) + 1))
        for row in _depths(means):
            yield (one.target, *row)


def _depths(means: Means) -> Iterator[tuple[str, ...]]:
    for one in means.depths:
        columns = (one.recall_any, one.recall_all, one.recall_micro, one.recall_pooled)
        yield (
            str(one.k),
            *map(numbers.mean, (*columns, one.mrr, one.ndcg)),
            f"{one.found:g}",
            str(means.anchors),
        )


def _categories(targets: Sequence[TargetResult]) -> Iterator[tuple[str, ...]]:
    for at, category in enumerate(targets[0].categories):
        for one in targets:
            mine = one.categories[at].own
            deepest = mine.depths[-1] if mine.depths else None
            columns = ("recall_any", "recall_micro", "mrr", "ndcg")
            values = [None if deepest is None else getattr(deepest, name) for name in columns]
            figures = map(numbers.mean, (mine.top1, *values))
            yield (category.name, one.target, str(mine.queries), *figures)


def _notes(found: TargetScores) -> Iterator[tuple[str, str]]:
    for target, reason in found.unserved.items():
        yield f"not {target}", reason
    for one in found.targets:
        if one.greedy:
            yield one.target, f"the ideal of {one.greedy} queries is that of a greedy order"
    for notice in found.notices:
        named = f" ({', '.join(notice.names)})" if notice.names else ""
        yield notice.kind, f"{notice.what}: {notice.count}{named}"
