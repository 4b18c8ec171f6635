"""Words as the lexical index sees them, and the query made of them."""

import re
import sqlite3

from memruler.systems.builtin.stopwords import STOP_WORDS

__all__ = ["Tokenizer", "match_expression", "storable", "word_set"]

_ASCII = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"\w+")
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

    def tokens(self, text: str) -> list[str]:
        """The tokens in order, folded as the index folds them.

        Args:
            text: Free of lone surrogates.
        """
        return _ASCII.findall(text.lower()) if text.isascii() else self._ask(text)

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


def match_expression(tokens: list[str], *, stop_words: bool) -> str | None:
    """The FTS5 query that any of the tokens satisfies.

    Each distinct token counts once. Where nothing but stop words is left, they are all kept.
    Quoting takes the meaning of an operator (`AND`, `NEAR`, `*`) away from every token.

    Args:
        tokens: The question's tokens.
        stop_words: Leave stop words out.

    Returns:
        None where there is no token: nothing can match.
    """
    distinct = dict.fromkeys(tokens)
    telling = [token for token in distinct if token not in STOP_WORDS] if stop_words else []
    return " OR ".join([f'"{token}"' for token in telling or distinct]) or None
