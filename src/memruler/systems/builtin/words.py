"""Words as the lexical index sees them, and the query made of them."""

import re
import sqlite3
from collections.abc import Iterable, Iterator

from memruler.systems.builtin.stopwords import STOP_WORDS

__all__ = ["MOST_WORDS", "Tokenizer", "match_expression", "query_words", "storable", "word_set"]

MOST_WORDS = 1000
"""Distinct words of a question that are searched; the time FTS5 takes grows with their square."""

_ASCII = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"(?s).{1,65536}[^ \n]*")
"""A long text in pieces that end before a space, where every tokenizer splits."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD: UTF-8 cannot hold one."""
    return _SURROGATE.sub("\ufffd", text)


def word_set(text: str) -> frozenset[str]:
    """Distinct lower-cased words (runs of letters, digits and underscores), for Jaccard."""
    return frozenset(_WORD.findall(text.lower()))


class Tokenizer:
    """Splits a text exactly as FTS5's `unicode61` splits what it indexes.

    In ASCII a token is a run of letters and digits. Beyond ASCII its rules hang on the Unicode
    tables built into SQLite, which are not Python's, so there SQLite itself is asked.
    """

    def __init__(self) -> None:
        self._db: sqlite3.Connection | None = None

    def tokens(self, text: str) -> Iterator[str]:
        """The tokens in order, folded as the index folds them; found as they are asked for.

        Args:
            text: Free of lone surrogates.
        """
        for match in _PIECE.finditer(text):
            piece = match[0]
            yield from _ASCII.findall(piece.lower()) if piece.isascii() else self._ask(piece)

    def close(self) -> None:
        """Let go of the scratch database."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def _ask(self, text: str) -> list[str]:
        if self._db is None:
            self._db = sqlite3.connect(":memory:", isolation_level=None)
            self._db.execute("CREATE VIRTUAL TABLE scratch USING fts5(text)")
            self._db.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(scratch, 'instance')")
        self._db.execute("INSERT INTO scratch(rowid, text) VALUES (1, ?)", (text,))
        found = self._db.execute("SELECT term FROM seen ORDER BY offset").fetchall()
        self._db.execute("DELETE FROM scratch")
        return [term for (term,) in found]


def query_words(tokens: Iterable[str], *, stop_words: bool) -> list[str]:
    """The distinct tokens of a question, in order.

    Args:
        tokens: The question's tokens; read no further than needed.
        stop_words: Leave stop words out; where nothing else is left, they are all kept.

    Returns:
        At most `MOST_WORDS` and one more, which says that there are more than are searched.
    """
    distinct: dict[str, bool] = {}
    telling = 0
    for token in tokens:
        if token not in distinct:
            distinct[token] = not (stop_words and token in STOP_WORDS)
            telling += distinct[token]
            if telling > MOST_WORDS:
                break
    return [token for token, tells in distinct.items() if tells or not telling]


def match_expression(words: list[str]) -> str | None:
    """The FTS5 query that any of the first `MOST_WORDS` words satisfies.

    Quoting takes the meaning of an operator (`AND`, `NEAR`, `*`) away from every word.

    Returns:
        None where there is no word: nothing can match.
    """
    return " OR ".join([f'"{word}"' for word in words[:MOST_WORDS]]) or None
