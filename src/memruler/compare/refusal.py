"""The refusal of a comparison, as an exception."""

from collections.abc import Sequence

from memruler.compare.record import SCHEMA_VERSION, Reason, Refused
from memruler.errors import Refusal

__all__ = ["Incomparable"]


class Incomparable(Refusal):
    """Two runs do not compare.

    Args:
        base: Name of the base's run folder.
        candidate: Name of the candidate's run folder.
        reasons: Every reason at once, most important first; at least one.

    Attributes:
        record: The same as data, for `--json`.
    """

    def __init__(self, base: str, candidate: str, reasons: Sequence[Reason]) -> None:
        # Several reasons can share one way out: it is said once.
        hints = dict.fromkeys(reason.hint for reason in reasons)
        super().__init__(
            [reason.what for reason in reasons],
            where=f"{base} against {candidate}",
            hint="; ".join(hints),
        )
        self.record = Refused(
            schema_version=SCHEMA_VERSION,
            base=base,
            candidate=candidate,
            reasons=tuple(reasons),
        )
