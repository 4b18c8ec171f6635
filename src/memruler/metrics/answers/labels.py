"""Reads `yes` or `no` from what a judge said."""

import re

__all__ = ["official_yes", "strict_yes"]

_FIRST = re.compile(r"[\W_]*([^\W\d_]+)")


def official_yes(reply: str) -> bool:
    """LongMemEval's rule: `yes` anywhere in the lower-cased reply.

    `No, yesterday it was raining` is a yes. Source: Wu et al., LongMemEval (2024), its scoring.
    """
    return "yes" in reply.lower()


def strict_yes(reply: str) -> bool | None:
    """What the first word of the reply decides; None where it is neither `yes` nor `no`.

    Example:
        >>> strict_yes("**Yes**."), strict_yes("No, yesterday"), strict_yes("I think yes")
        (True, False, None)
    """
    found = _FIRST.match(reply)
    return {"yes": True, "no": False}.get(found[1].lower()) if found else None
