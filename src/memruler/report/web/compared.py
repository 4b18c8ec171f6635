"""What two runs of an address come to: found once, for the page and for its explorer."""

from pathlib import Path

from memruler.compare.exact import compare
from memruler.compare.record import Comparison, Refused
from memruler.compare.refusal import Incomparable
from memruler.report.web.choices import Choices
from memruler.report.web.kept import Kept, stamp_of

__all__ = ["Compared"]

_KEPT = 8


class Compared:
    """Compares, or refuses; the last results are kept until a file of their runs changes."""

    def __init__(self) -> None:
        self._kept: Kept[Comparison | Refused] = Kept(_KEPT)

    def of(self, base: Path, candidate: Path, choices: Choices) -> Comparison | Refused:
        """The comparison of two run folders, or every reason why there is none.

        Args:
            base: The baseline.
            candidate: The candidate.
            choices: How they are compared.

        Raises:
            MemrulerError: One cannot be read, or both are the same.
        """

        def make() -> Comparison | Refused:
            try:
                return compare(
                    base,
                    candidate,
                    changed=choices.changed,
                    cutoffs=choices.cutoffs,
                    shared=choices.shared,
                )
            except Incomparable as refusal:
                return refusal.record

        return self._kept.get(choices.key, stamp_of((base, candidate)), make)
