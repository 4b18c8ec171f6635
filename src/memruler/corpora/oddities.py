"""What is odd about a corpus without being wrong: counted, told, and kept as it is."""

from collections import Counter
from collections.abc import Iterator

from memruler.corpora.jsonl_format import RULE
from memruler.model.corpus import Corpus, CorpusInfo, Instance, Session

__all__ = ["LONG_TEXT", "Observed"]

LONG_TEXT = 1_000_000
"""Bytes of UTF-8 over which the text of a turn is worth a note."""

_WIDEST = 4  # bytes of a character

_NOTES = {
    "empty": ("session", "without a turn: nothing can be stored of them or found in them"),
    "late": ("session", "dated after a question of their instance: they are stored all the same"),
    "repeated": (
        "session",
        "with an id that another one of their instance has: they are told apart by place",
    ),
    "unused": ("question", "with evidence although `answerable` is false: it is not used"),
    "long": ("text", f"of more than {LONG_TEXT:,} bytes"),
    "rootless": (
        "derived memory",
        "whose evidence is no turn of their session: where they come from is unknown",
    ),
}
"""Kind of oddity to its noun and what is said of so many."""


class Observed:
    """A corpus that counts what is odd about it while it is read.

    Args:
        corpus: It is yielded unchanged.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._met: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    @property
    def info(self) -> CorpusInfo:
        """What it is."""
        return self._corpus.info

    def __iter__(self) -> Iterator[Instance]:
        self._met.clear()
        self._first.clear()
        for instance in self._corpus:
            self._look(instance)
            yield instance

    def notes(self) -> tuple[str, ...]:
        """One sentence for each kind of oddity that was met in the last reading."""
        return tuple(
            f"{_many(self._met[kind], noun)} {what} (the first: {self._first[kind]})"
            for kind, (noun, what) in _NOTES.items()
            if self._met[kind]
        )

    def _look(self, instance: Instance) -> None:
        asked = min((q.time for q in instance.queries if q.time is not None), default=None)
        ids: set[str] = set()
        for session in instance.sessions:
            place = f"instance {instance.key}, session {session.position}"
            if not session.turns:
                self._count("empty", place)
            if asked is not None and session.time is not None and session.time > asked:
                self._count("late", place)
            if session.id is not None:
                if session.id in ids:
                    self._count("repeated", place)
                ids.add(session.id)
            self._look_inside(session, place)
        for query in instance.queries:
            # In the published corpora it is by design, and documented.
            mine = [reading for reading in query.evidence if reading.rule == RULE]
            if not query.answerable and any(reading.references for reading in mine):
                self._count("unused", f"instance {instance.key}, query {query.position}")

    def _look_inside(self, session: Session, place: str) -> None:
        for turn in session.turns:
            if len(turn.text) * _WIDEST > LONG_TEXT < len(turn.text.encode()):
                self._count("long", f"{place}, turn {turn.position}")
        for derived in session.derived:
            if derived.turns is None:
                self._count("rootless", place)

    def _count(self, kind: str, place: str) -> None:
        self._met[kind] += 1
        self._first.setdefault(kind, place)


def _many(count: int, noun: str) -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"
