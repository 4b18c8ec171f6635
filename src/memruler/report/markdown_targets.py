"""What changes when only the target does, as a Markdown page; cards as a part of any page."""

from collections.abc import Iterator, Sequence

from memruler.compare.sensitivity_record import Sensitivity
from memruler.compare.target_card import TargetCard
from memruler.compare.target_record import DepthShifts, Spread, TargetScores
from memruler.compare.winner_record import Recommendation
from memruler.report import numbers
from memruler.report import targets_view as view
from memruler.report import targets_words as words
from memruler.report.escape import code, md
from memruler.report.markdown_table import table

__all__ = ["card_lines", "markdown_targets", "score_lines"]


def markdown_targets(found: Sensitivity) -> str:
    """The page of a sensitivity, every metric, depth and query type included."""
    return "\n".join(_lines(found)) + "\n"


def card_lines(card: TargetCard, level: int = 2) -> Iterator[str]:
    """A target card as Markdown lines.

    Args:
        card: What to write.
        level: Of its heading.
    """
    yield from (f"{'#' * level} Target card of {code(card.name)}", "")
    yield from ("What each target admits, at every k:", "")
    heads = ("target", "admits", *(head.replace("\n", " ") for head in view.COVERAGE), "here")
    rows = (
        (code(row[0]), md(one.admits), *row[1:-1], md(row[-1]))
        for one, row in zip(card.targets, view.coverage_rows(card.targets), strict=True)
    )
    yield from table(heads, "llrrrrrrl", rows)
    yield from (
        f"Share of the queries that both targets serve whose value changes, k = {card.k}:",
        "",
    )
    shares = (
        (
            md(f"{one.a} to {one.b}"),
            str(one.queries),
            *map(words.percent, (one.ndcg, one.mrr, one.recall, one.top1)),
            str(one.hit_flips),
            "-" if one.mean is None else numbers.delta(one.mean),
        )
        for one in card.pairs
    )
    yield from table(_shift_heads(1), "lrrrrrrr", shares)
    yield from (f"What the values rest on, credit rule {card.rule}, level {card.level}:", "")
    yield from table(
        ("point", "here"), "ll", ((md(one.point), md(one.says)) for one in card.statements)
    )
    others = [*words.order_words(card)]
    others += [f"not {target}: {reason}" for target, reason in card.unserved.items()]
    if others:
        yield from (*(f"- {md(told)}" for told in others), "")


_LISTED = 100


def _shift_heads(systems: int) -> list[str]:
    return ["pair", *(head.replace("\n", " ") for head in view.shift_heads(systems))]


def _lines(found: Sensitivity) -> Iterator[str]:
    several = len(found.systems) > 1
    yield from (
        "# Targets",
        "",
        f"**{md(words.headline(found))}**",
        "",
        f"{md(words.what(found))}.",
        "",
    )
    yield from _means(found)
    if several:
        yield from ("## Who wins, metric by metric", "")
        yield from _winners(found.recommendations, found.targets)
        yield from _flips(found)
        yield from _recounts(found)
    yield from _shifts(found)
    pairs = [md(f"{pair.a} to {pair.b}") for pair in found.shifts]
    sides = "r" * len(pairs) + ("l" if several else "")
    heads = [*pairs, *(["winner"] if several else [])]
    metric = words.leading(found)
    yield from (f"## By depth: queries whose {code(metric)} changes", "")
    yield from table(["k", *heads], "r" + sides, view.depth_rows(found))
    rows = [(md(row[0]), *row[1:]) for row in view.category_rows(found)]
    if rows:
        yield from (f"## By query type, k = {found.cutoffs[-1]}", "")
        yield from table(["type", _unit(found), *heads], "lr" + sides, rows)
    yield from _sizes(found)
    yield from ("## Other means, other rules, and where the targets agree", "")
    yield from (*(f"- {md(label)}: {md(told)}" for label, told in _others(found)), "")
    for scores in found.scores:
        yield from score_lines(scores)
    for card in found.cards:
        yield from card_lines(card)
    if found.notes:
        yield from ("## Notes", "", *(f"- {md(note)}" for note in found.notes), "")


def _means(found: Sensitivity) -> Iterator[str]:
    name = words.metric_name(found.metric, found.k)
    yield from (f"{code(name)} over the shared queries; the winner is bold:", "")
    rows = []
    for system in found.systems:
        cells = []
        for choice in found.headline.choices:
            value = numbers.mean(choice.means[system])
            wins = len(found.systems) > 1 and system in choice.winners
            cells.append(f"**{value}**" if wins else value)
        rows.append((code(system), *cells))
    heads = ("system", *map(code, found.targets))
    yield from table(heads, "l" + "r" * len(found.targets), rows)
    decided = words.decided_by(found)
    if decided is not None:
        yield from (f"{md(decided)}.", "")
    yield from (f"> **{md(told)}.**\n" for told in words.anchor_words(found))


def _unit(found: Sensitivity) -> str:
    return view.unit(len(found.systems)).replace("\n", " ")


def _winners(rows: Sequence[Recommendation], targets: Sequence[str]) -> Iterator[str]:
    yield from table(
        ("metric", "outcome", *map(code, targets)),
        "l" * (2 + len(targets)),
        (
            (
                code(words.metric_name(one.metric, one.k)),
                one.outcome,
                *(f"{md(words.won_by(c))} {numbers.mean(c.value)}" for c in one.choices),
            )
            for one in rows
        ),
    )


def _flips(found: Sensitivity) -> Iterator[str]:
    flips = [gap for gap in found.gaps if gap.flips]
    systems = len(found.systems)
    pairs = systems * (systems - 1) // 2
    metrics = len(found.recommendations)
    yield f"{len(flips)} winner flips, of {pairs} pairs of systems on {metrics} metric x depth:"
    yield ""
    yield from _listed([words.flip_words(gap) for gap in flips])
    told = [f"{one.name}: {words.flip_words(gap)}" for one in found.categories for gap in one.flips]
    if told:
        yield from (f"{len(told)} flips by query type:", "", *_listed(told))


def _recounts(found: Sensitivity) -> Iterator[str]:
    """Every metric where all systems and targets are measured over the same anchors."""
    for one in found.recounts:
        yield from (f"## Winners by {words.recount_name(one)}", "")
        yield from (f"{md(words.recount_words(found, one))}.", "")
        if one.recommendations:
            yield from _winners(one.recommendations, found.targets)


def _listed(told: Sequence[str]) -> Iterator[str]:
    yield from (f"- {md(one)}" for one in told[:_LISTED])
    if len(told) > _LISTED:
        yield f"- ... and {len(told) - _LISTED} more (`--json` has all)"
    yield ""


def _shifts(found: Sensitivity) -> Iterator[str]:
    for k in found.cutoffs:
        yield from (f"## What changes from one target to another, k = {k}", "")
        rows = ((md(row[0]), *row[1:]) for row in view.shift_rows(found.shifts, k))
        yield from table(_shift_heads(len(found.systems)), "lrrrrrrr", rows)
        heads = ("pair", "metric", "up", "down", "mean", *Spread.__struct_fields__)
        spreads = (
            (md(f"{pair.a} to {pair.b}"), *row)
            for pair in found.shifts
            for depth in pair.whole.depths
            if depth.k == k
            for row in _spread(depth)
        )
        yield from table([md(head) for head in heads], "ll" + "r" * (len(heads) - 2), spreads)


def _spread(depth: DepthShifts) -> Iterator[tuple[str, ...]]:
    for one in depth.shifts:
        spread = (getattr(one.spread, field) for field in Spread.__struct_fields__)
        values = map(numbers.delta, (one.mean, *spread))
        yield (code(one.metric), str(one.up), str(one.down), *values)


def _sizes(found: Sensitivity) -> Iterator[str]:
    yield from ("## Against target-set size", "")
    yield "Shift of nDCG against the difference in eligible items, over queries that both serve."
    yield ""
    heads = ("pair", "k", _unit(found), "slope", "t", "r2", "mean at same size (n)")
    rows = ((md(row[0]), *row[1:]) for row in view.size_rows(found.cardinality))
    yield from table(heads, "lrrrrrr", rows)
    if len(found.systems) > 1:
        yield from ("t is clustered by query, as the systems share queries.", "")
    if any(one.nested for one in found.cardinality):
        yield (
            "nested: every item of one target is one of the other, so with the same number they "
            "are the same."
        )
        yield ""
    bins = (
        (
            md(f"{one.a} to {one.b}"),
            str(one.k),
            words.bin_name(part),
            str(part.queries),
            str(part.changed),
            numbers.delta(part.mean),
        )
        for one in found.cardinality
        for part in one.bins
    )
    columns = ("pair", "k", "more items", _unit(found), "changed", "mean")
    yield from table(columns, "lrrrrr", bins)
    parts = [(md(row[0]), *row[1:]) for row in view.anchor_rows(found.cardinality)]
    if parts:
        yield "By whether either target drops an anchor, first where none does:"
        yield ""
        yield from table(["pair", "k", *[_unit(found), "changed", "mean"] * 2], "lrrrrrrr", parts)
    lines = list(words.line_words(found.cardinality))
    if lines:
        yield from (*(f"- {md(told)}" for told in lines), "")


def _others(found: Sensitivity) -> Iterator[tuple[str, str]]:
    yield from view.robust_rows(found)
    for one in found.agreements:
        if one.k != found.cutoffs[-1]:
            several = len(found.systems) > 1
            yield words.agreement_name(one), words.agreement_words(one, several=several)
    for rule in found.rules:
        yield "other rule", words.rule_words(rule)
    for target, whys in found.left_out.items():
        for name, why in whys.items():
            yield f"without {target}", f"{name}: {why}"


def score_lines(found: TargetScores) -> Iterator[str]:
    """The means of one store under each target as Markdown lines."""
    yield from (
        f"## Scores of {code(found.name)}",
        "",
        f"Population {md(words.population(found))}.",
        "",
    )
    heads = ["target", "queries", "k", "top1", "recall_any", "recall_all", "recall_micro"]
    heads += ["recall_pooled", "mrr", "ndcg", "found", "items" if found.rule == "id" else "anchors"]
    alike = all(one.own == one.shared for one in found.targets)
    parts = [("served by the target" + (", the same for all" if alike else ""), False)]
    parts += [] if alike else [("served by every target", True)]
    for name, shared in parts:
        yield from (f"Queries {name}:", "")
        rows = []
        for one in found.targets:
            means = one.shared if shared else one.own
            for depth in means.depths:
                values = (
                    means.top1,
                    depth.recall_any,
                    depth.recall_all,
                    depth.recall_micro,
                    depth.recall_pooled,
                    depth.mrr,
                    depth.ndcg,
                )
                rows.append(
                    (
                        code(one.target),
                        numbers.share(means.queries, one.counted),
                        str(depth.k),
                        *map(numbers.mean, values),
                        f"{depth.found:g}",
                        str(means.anchors),
                    )
                )
        yield from table(list(map(code, heads)), "l" + "r" * (len(heads) - 1), rows)
