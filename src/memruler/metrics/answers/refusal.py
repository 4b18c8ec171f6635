"""Does an answer refuse: does it say that the answer is not known?"""

import re
from typing import Literal

__all__ = ["OFFICIAL_PHRASES", "RefusalRule", "refused"]

RefusalRule = Literal["official", "wide"]
"""`official`: LoCoMo's two phrases, anywhere. `wide`: many more, unless a guess stands beside
it. Both read words and not meaning; docs/answers.md says where `wide` errs."""

OFFICIAL_PHRASES = ("no information available", "not mentioned")

# Who can fail to tell: a person's verb alone (`she does not have a dog`) is an answer.
_SOURCE = (
    r"(?:conversations?|dialog(?:ue)?s?|chats?|context|texts?|transcripts?|memory|memories|records?|"
    r"passages?|histor(?:y|ies)|messages?|sessions?|information|notes?)"
)
_HAS_NOT = r"(?:(?:do|does|did|has|have|is|are|was|were)(?: not|n't)|never)"
_WHY_NOT = (
    r"(?:information|info|details?|records?|data|memory|memories|context|access|evidence|knowledge)"
)
_LEARN = r"(?:say|tell|know|determine|answer|find|infer|identify|confirm|provide|locate|recall)"
_WIDE = re.compile(
    r"\bno (?:\w+ )?(?:information|mention|indication|details? (?:is|are|was|were|about|on))\b"
    r"|\bno (?:relevant |such |clear )?(?:record|evidence|data) (?:of|that|on|about|for|is|was)\b"
    r"|\bno (?:one|where) (?:says|mentions|said|mentioned)\b"
    r"|\bno (?:clear |definite )?answer (?:is|was|can|could|available|found|given|in)\b"
    r"|\bno way (?:to|of) (?:know|tell)"
    # It is not said.
    r"|(?:\b(?:not|never|nothing|nowhere)|n't)(?: \w+){0,3}? (?:mentioned|discussed|stated|"
    r"specified|provided|recorded|available|indicated|revealed|disclosed|known|determined|said|covered|"
    r"described|documented|clear from)\b"
    rf"|\bnot (?:given|included|contained|shared|found) (?:in|by)(?: \w+)? {_SOURCE}\b"
    r"|\bnot given\W*$"
    # Somebody does not say it.
    rf"|\b{_HAS_NOT}(?: \w+ly)? (?:mention|discuss|specify|state|indicate|disclose|talk about)\b"
    r"(?! (?:it|him|her|them|this|that) to\b)"
    rf"|\b{_SOURCE}(?: \w+){{0,4}}? {_HAS_NOT}(?: \w+){{0,2}}? "
    r"(?:say|tell|provide|contain|include|have|give|cover|reveal|show|hold|mention)\b"
    r"|\bnothing (?:about|on) (?:this|that|it)\b"
    # The one who answers does not know.
    r"|\b(?:i|we)(?: \w+)? (?:do not|don't|did not|didn't)(?: \w+)? (?:know|recall|remember)\b"
    rf"|\b(?:i|we)(?: \w+)? (?:do not|don't)(?: \w+)? have(?: \w+){{0,3}}? {_WHY_NOT}\b"
    r"|\b(?:i am|i'm|we are|we're)(?: \w+)? not (?:sure|certain|aware)\b|^\W*not sure\b"
    r"|^\W*don't know\b"
    r"|(?:\bnot|n't) enough (?:information|info|context|details?|data|evidence)\b"
    # It cannot be known.
    r"|\b(?:can|could)(?:not|n't|'t| not) be (?:determined|answered|inferred|known|found|"
    r"established|identified|confirmed|told)\b"
    rf"|(?:\b(?:i|we)(?: \w+)? |^\W*)(?:can|could)(?:not|n't|'t| not)(?: \w+)? {_LEARN}\b"
    rf"|\b(?:unable|not able|not possible|impossible) to(?: \w+)? {_LEARN}\b"
    r"|\b(?:unknown|unanswerable|unclear|unspecified|undisclosed|undetermined)\b"
    rf"|\binsufficient {_WHY_NOT}\b"
    r"|\bidk\b|(?:^|\s)n/a\b"
)
_GUESS = re.compile(r"\b(?:perhaps|maybe|probably|likely|possibly|my guess|i (?:would )?guess)\b")
_GUESS_AFTER = re.compile(
    r"\b(?:but|however|though|although|except|instead|i (?:think|believe|would say))\b"
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
    lowered = " ".join(lowered.split())
    found = _WIDE.search(lowered)
    if found is None or _GUESS.search(lowered):
        return False
    return _GUESS_AFTER.search(lowered, found.end()) is None
