"""Graders by name, and which of them a corpus is scored by where nobody says."""

from typing import cast

from memruler.plugins import PluginTable
from memruler.scoring.graders.base import Grader

__all__ = ["default_graders", "grader_names", "open_grader"]

_PLACE = "memruler.scoring.graders"
_TABLE = PluginTable(
    "grader",
    "memruler.graders",
    {
        "locomo:official": f"{_PLACE}.locomo:official",
        "locomo:official-nltk": f"{_PLACE}.locomo:official_nltk",
        "locomo:corrected": f"{_PLACE}.locomo:corrected",
        "longmemeval:official": f"{_PLACE}.longmemeval:official",
        "longmemeval:memruler": f"{_PLACE}.longmemeval:own",
        "beam:official": f"{_PLACE}.beam:official",
        "beam:corrected": f"{_PLACE}.beam:corrected",
        "answer:memruler": f"{_PLACE}.judged:answer",
        "lexical": f"{_PLACE}.lexical:lexical",
        "squad": f"{_PLACE}.phrases:squad",
        "exact": f"{_PLACE}.phrases:exact",
        "substring": f"{_PLACE}.phrases:substring",
        "substring:official": f"{_PLACE}.phrases:substring_official",
        "set": f"{_PLACE}.phrases:every",
        "ordered-set": f"{_PLACE}.phrases:ordered",
        "mcq": f"{_PLACE}.mcq:mcq",
    },
)

_DEFAULTS = {
    "locomo": ("locomo:official", "locomo:corrected"),
    "longmemeval": ("longmemeval:memruler", "lexical"),
    "beam": ("beam:official", "beam:corrected"),
}


def grader_names() -> list[str]:
    """Every name, memruler's own first."""
    return _TABLE.names()


def open_grader(name: str) -> Grader:
    """Make a grader.

    Args:
        name: One of `grader_names()`.

    Raises:
        UsageError: No such grader, or what it needs is not there.
    """
    return cast("Grader", _TABLE.load(name)())


def default_graders(corpus: str) -> tuple[str, ...]:
    """The graders of a corpus: its authors' and the corrected one, or the lexical one.

    Args:
        corpus: Its registry name; `longmemeval-s` is of `longmemeval`.
    """
    return _DEFAULTS.get(corpus.partition("-")[0], ("lexical",))
