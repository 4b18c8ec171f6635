"""An ablation as a Markdown page."""

from collections.abc import Iterator

from memruler.report import numbers
from memruler.report.escape import code, md
from memruler.report.markdown_table import table
from memruler.studies.ablation_record import Ablation, Attribution, Move

__all__ = ["markdown_ablation"]


def markdown_ablation(found: Ablation) -> str:
    """The page of an ablation, every cell and every effect included."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Ablation) -> Iterator[str]:
    spec = found.spec
    yield f"# Ablation of {md(spec.system)}"
    yield ""
    if found.degraded:
        yield f"> **DEGRADED: do not trust these numbers.** {md('; '.join(found.degraded))}"
        yield ""
    kind = "Whole design" if found.resolution is None else f"Resolution {found.resolution}"
    yield (
        f"{kind}: {len(spec.factors)} factors, {len(found.cells)} cells. Exact: every cell is "
        "deterministic over the same queries, so a difference is a fact and carries no interval."
    )
    yield ""
    yield f"Population: {md(numbers.population(found.population, found.clusters))}."
    yield ""
    off_on = ((code(name), _settings(f.off), _settings(f.on)) for name, f in spec.factors.items())
    yield from table(("factor", "off", "on"), "lll", off_on)
    if found.words:
        words = ", ".join(md(word) for word in found.words)
        yield f"These products have one sign in every cell: {words}."
        yield ""
    if found.no_shares is not None:
        yield f"No Shapley shares: {md(found.no_shares)}."
        yield ""
    for one in found.attributions:
        yield from _attribution(one, found)
    yield from _cells(found)
    notes = (*found.corpus_notes, *found.notes)
    if notes:
        yield from ("## Notes", "", *(f"- {md(note)}" for note in notes), "")
    yield "Corpus: " + ", ".join(f"{md(key)} {code(value)}" for key, value in found.corpus.items())


def _settings(side: dict[str, object]) -> str:
    return ", ".join(code(f"{key} = {value}") for key, value in side.items())


def _attribution(one: Attribution, found: Ablation) -> Iterator[str]:
    yield f"## {code(f'{one.metric}@{one.k}')} at the {one.level} level"
    yield ""
    moved = f"{one.moved} queries are not the same in all cells"
    if one.total is not None:
        yield (
            f"{numbers.mean(one.values[0])} → {numbers.mean(one.values[-1])} "
            f"({numbers.delta(one.total.delta)}) from all off to all on; better {one.total.wins}, "
            f"worse {one.total.losses}; {moved}. Means over {one.counted} of {one.of} measured "
            "queries."
        )
    else:
        yield f"{moved}. Means over {one.counted} of {one.of} measured queries."
    if one.floor is not None:
        yield (
            f"Over all {one.of}, a missing list counted as a miss: "
            f"{numbers.delta(one.floor.delta)}."
        )
    yield ""
    heads = ("factor", "share", "main effect", "floor", "alone", "last", "moved", "aliases")
    rows: list[tuple[str, ...]] = [
        (
            code(factor.name),
            _delta(factor.share),
            _delta(factor.main),
            _delta(factor.floor),
            _move(factor.alone),
            _move(factor.last),
            "-" if factor.moved is None else str(factor.moved),
            md(", ".join(factor.aliases)) or "none",
        )
        for factor in one.factors
    ]
    if found.no_shares is None and one.total is not None:
        low = None if one.floor is None else one.floor.delta
        total = (_delta(one.total.delta), "", _delta(low), "", "", str(one.moved), "")
        rows.append(("**total**", *total))
    yield from table(heads, "lrrrrrrl", rows)
    if one.interactions:
        pairs = ((md(" x ".join(p.factors)), _delta(p.index)) for p in one.interactions)
        yield from table(("interaction", "index"), "lr", pairs)
    if one.contrasts:
        effects = (
            (md(" + ".join((" x ".join(e.factors), *e.aliases))), _delta(e.effect))
            for e in one.contrasts
        )
        yield from table(("effects that are one sum", "size"), "lr", effects)


def _cells(found: Ablation) -> Iterator[str]:
    yield "## Cells"
    yield ""
    heads = [code(f"{one.level} {one.metric}@{one.k}") for one in found.attributions]
    rows = (
        (
            code(cell.folder),
            *(
                f"{numbers.mean(one.values[at])} ({one.cell_counted[at]}/{one.of})"
                for one in found.attributions
            ),
            "-" if cell.embedded is None else str(cell.embedded),
            "-" if cell.from_cache is None else str(cell.from_cache),
            str(cell.stored),
            md(numbers.counts(cell.lost)),
        )
        for at, cell in enumerate(found.cells)
    )
    head = ("run folder", *heads, "embedded", "from cache", "stored", "lost")
    yield from table(head, "l" + "r" * (len(heads) + 3) + "l", rows)


def _delta(value: float | None) -> str:
    return "-" if value is None else numbers.delta(value)


def _move(move: Move | None) -> str:
    return "-" if move is None else f"{numbers.delta(move.delta)} ({move.wins} / {move.losses})"
