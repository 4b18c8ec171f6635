"""What a sweep found, in the words that the terminal and the page share."""

from collections.abc import Iterator

from memruler.compare.sensitivity_record import Recommendation
from memruler.report import targets_view as view
from memruler.studies.sweep_record import Sweep

__all__ = ["metric", "notes", "outcome", "over", "swept"]


def metric(one: Recommendation) -> str:
    """A metric with its depth."""
    return view.metric_name(one.metric, one.k)


def outcome(one: Recommendation) -> str:
    """Whether the target decides which cell is chosen."""
    told = ", ".join(f"{choice.target} {view.won_by(choice)}" for choice in one.choices)
    words = {
        "changed": f"which cell to choose depends on the target: {told}",
        "tied": f"some targets leave a tie that others break: {told}",
        "same": f"{view.won_by(one.choices[0])} under every target",
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
    yield from found.corpus_notes
    yield from found.notes
    yield from side.notes
    for target, reasons in side.left_out.items():
        for cell, why in reasons.items():
            yield f"{target} is not compared: {cell}: {why}"
    for one in side.rules:
        if (one.metric, one.k) == (side.metric, side.k):
            yield view.rule_words(one)
