"""What a sweep found, in the words that the terminal and the page share."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from memruler.compare.winner_record import Choice, Recommendation
from memruler.report import targets_words as words
from memruler.studies.sweep_record import Sweep

__all__ = ["metric", "notes", "outcome", "over", "swept", "won"]


def metric(one: Recommendation) -> str:
    """A metric with its depth."""
    return words.metric_name(one.metric, one.k)


def won(choice: Choice, labels: Mapping[str, str]) -> str:
    """The cells that win under one target, several where they tie.

    Args:
        choice: The target.
        labels: Run folder to what to call it; itself where it is not there.
    """
    return " = ".join(labels.get(name, name) for name in choice.winners)


def outcome(one: Recommendation, labels: Mapping[str, str] = MappingProxyType({})) -> str:
    """Whether the target decides which cell is chosen; `labels` as in `won`."""
    tie = " tie" if len(one.choices[0].winners) > 1 else ""
    told = ", ".join(f"{choice.target} {won(choice, labels)}" for choice in one.choices)
    words = {
        "changed": f"which cell to choose depends on the target: {told}",
        "tied": f"some targets leave a tie that others break: {told}",
        "same": f"{won(one.choices[0], labels)}{tie} under every target",
    }
    return words[one.outcome]


def over(found: Sweep) -> str:
    """What every mean of a cell is over."""
    return (
        f"the {found.sensitivity.queries} queries that every target serves in every cell, of "
        f"{found.population.measured} measured"
    )


def swept(found: Sweep) -> str:
    """The settings with their values."""
    values = {
        key: dict.fromkeys(cell.values[key] for cell in found.cells)
        for key in found.cells[0].values
    }
    return "; ".join(f"{key} = {', '.join(own)}" for key, own in values.items())


def notes(found: Sweep) -> Iterator[str]:
    """What a reader must know, most binding first."""
    side = found.sensitivity
    yield from words.anchor_words(side)
    yield from found.corpus_notes
    yield from found.notes
    yield from side.notes
    for target, reasons in side.left_out.items():
        for cell, why in reasons.items():
            yield f"{target} is not compared: {cell}: {why}"
    for recount in side.recounts:
        if recount.reason is None:
            yield f"{words.recount_name(recount)}: {words.recount_words(side, recount)}"
    for one in side.rules:
        if (one.metric, one.k) == (side.metric, side.k):
            yield words.rule_words(one)
