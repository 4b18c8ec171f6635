"""Does an answer refuse: does it say that the answer is not known?"""

import re
from typing import Literal

__all__ = ["OFFICIAL_PHRASES", "RefusalRule", "refused"]

RefusalRule = Literal["official", "wide"]
"""`official`: LoCoMo's two phrases, anywhere. `wide`: the phrases below, unless a guess follows."""

OFFICIAL_PHRASES = ("no information available", "not mentioned")

_WIDE = re.compile(
    r"\bno (?:such |relevant )?(?:information|mention|record|evidence|answer|data)\b"
    r"|\bno (?:one|where) (?:says|mentions|said|mentioned)\b"
    r"|\b(?:not|never|n't|nothing)\b(?:\W+\w+){0,3}?\W+(?:mention|discuss|state|specif|provid|say|"
    r"said|record|avail|includ|contain|given|indicat|reveal|talk|know|sure|find|determin|answer)\w*"
    r"|\b(?:unknown|unanswerable|unclear|unspecified|undisclosed|insufficient)\b"
    r"|\bcan(?:not|'t| not)\b(?:\W+\w+){0,3}?\W+(?:say|tell|know|determin|answer|find|infer)\w*"
    r"|\bunable to\b"
    r"|\bidk\b|\bn/a\b"
)
_GUESS = re.compile(
    r"\b(?:but|however|though|although|except|instead|perhaps|maybe|probably|likely|possibly|"
    r"my guess|i (?:guess|think|believe|would say))\b"
)
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'"})


def refused(text: str, rule: RefusalRule = "wide") -> bool:
    """Whether an answer says that the answer is not known.

    Args:
        text: The whole answer. An empty one says nothing, so it is no refusal.
        rule: See `RefusalRule`. Under `wide` a refusal after which a guess follows (`Not mentioned,
            but perhaps green`) is an answer; under `official` it is a refusal.

    Example:
        >>> refused("That was never discussed", "official"), refused("That was never discussed")
        (False, True)
        >>> refused("Not mentioned, but perhaps green")
        False
    """
    lowered = text.lower().translate(_QUOTES)
    if rule == "official":
        return any(phrase in lowered for phrase in OFFICIAL_PHRASES)
    found = _WIDE.search(lowered)
    return found is not None and _GUESS.search(lowered) is None
