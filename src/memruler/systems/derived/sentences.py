"""From a line to sentences, and from a sentence to clauses: by signs and conjunctions alone.

Every pattern here takes time proportional to the text, whatever the text is.
"""

import re
from collections.abc import Iterator

__all__ = ["LONGEST_CLAUSE", "clauses", "sentences", "windows"]

LONGEST_CLAUSE = 300
"""Characters; what is longer is cut at the last space before."""

_FEWEST_WORDS = 3
"""A clause has at least so many words, or it stays with its neighbour."""

_END = re.compile(  # beyond ASCII: ellipsis; closing quotes; ideographic and full-width stops
    r"(?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019)\]]{0,3}(?= |$)|[\u3002\uff01\uff1f]"
)
_DOT = re.compile(r"(?:^|[ (\"'\u201c\u2018])([^ (\"'\u201c\u2018]{1,12})\.$")
_LISTED = "mr mrs ms dr prof st jr sr vs etc e.g i.e approx dept inc ltd co a.m p.m u.s u.k"
_ABBREVIATIONS = frozenset(_LISTED.split())
_LONGEST_NUMBER = 6
_LETTER = re.compile(r"[^\W\d_]")

_COORDINATING = "and|but|so|or|yet|then|plus"
_SUBJECT = r"(?:we|you|he|she|it|they|there|this|that|these|those)(?=[ '\u2019])"
_BREAK = re.compile(  # `and I` does not cut: `my partner and I` are one
    r" ?; | [-\u2013\u2014] |\u2014"
    rf"|, (?=(?:{_COORDINATING}|because|although|though|while) )"
    rf"| (?=(?:and|but|so|because|although|while) {_SUBJECT})"
    r"| (?=(?:but|so|because|although|while) i(?=[ '\u2019]))",
    re.IGNORECASE,
)
_OPENING = re.compile(rf"(?:{_COORDINATING})\b,? ", re.IGNORECASE)
_WINDOW = re.compile(rf".{{1,{LONGEST_CLAUSE}}}(?= |$)|.{{{LONGEST_CLAUSE}}}")


def sentences(words: str) -> Iterator[str]:
    """The sentences of a line.

    A full stop behind an abbreviation, a single capital (`J. Smith`) or a number that opens the
    sentence (`2. Bake`) ends none.

    Args:
        words: Free of line breaks, with single spaces.
    """
    start = 0
    for end in _END.finditer(words):
        if end[0] == "." and _is_short(words, start, end.end()):
            continue
        yield words[start : end.end()].strip()
        start = end.end()
    rest = words[start:].strip()
    if rest:
        yield rest


def _is_short(words: str, start: int, end: int) -> bool:
    """Whether the dot that ends `words[start:end]` belongs to the word before it."""
    if end - start <= _LONGEST_NUMBER and not _LETTER.search(words, start, end):
        return True
    before = _DOT.search(words[max(start, end - 16) : end])
    if before is None:
        return False
    word = before[1]
    return (len(word) == 1 and word.isupper() and word != "I") or word.lower() in _ABBREVIATIONS


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence, in order; together they hold all of its words but conjunctions.

    A sentence is cut at a semicolon, a dash, a comma before a conjunction, and a conjunction
    before a pronoun (`... and it was ...`), wherever both sides have three words or more. A
    conjunction such as `and` that would open a clause is left out; `because` stays.
    """
    cuts = [0]
    spaces = seen = 0  # how many stand between the last cut and what is seen
    for cut in _BREAK.finditer(sentence):
        spaces += sentence.count(" ", seen, cut.start())
        seen = cut.start()
        if spaces >= _FEWEST_WORDS - 1:
            cuts.append(cut.end())
            spaces, seen = 0, cut.end()
    if len(cuts) > 1 and sentence.count(" ", cuts[-1]) < _FEWEST_WORDS - 1:
        cuts.pop()
    found: list[str] = []
    for start, end in zip(cuts, [*cuts[1:], len(sentence)], strict=True):
        piece = sentence[start:end]
        if end < len(sentence):
            piece = piece.rstrip(" ,;-\u2013\u2014")
        opening = _OPENING.match(piece) if start else None
        if opening is not None:
            piece = piece[opening.end() :]
        found += windows(piece)
    return found


def windows(text: str) -> list[str]:
    """A text in pieces of at most `LONGEST_CLAUSE` characters, cut at spaces where it has any."""
    pieces = (piece.strip() for piece in _WINDOW.findall(text))
    return [piece for piece in pieces if piece]
