"""The memories that LoCoMo itself publishes: observations and session summaries.

Both were made from the dialogue, not from the questions. An observation names the turns that it
was made from: one id, several in one string, or a list. A summary is of its whole session.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from memruler.corpora.jsontext import convert
from memruler.corpora.locomo_files import RawConversation
from memruler.model.corpus import Derived, Instance

__all__ = ["derived_of", "unused_note"]

_OBSERVATION, _SUMMARY = "_observation", "_summary"
_BETWEEN = re.compile(r"[,;\s]+")

# By speaker; each a text and its evidence.
_Observations = dict[str, list[tuple[str, str | list[str]]]]


def derived_of(raw: RawConversation, session: str, turns: Sequence[str]) -> tuple[Derived, ...]:
    """The observations of a session in file order, then its summary.

    Args:
        raw: Its conversation.
        session: Its name, `session_<n>`.
        turns: The ids of its turns in order. Without any, nothing is derived from it.

    Raises:
        CorpusError: They are not of the shape that LoCoMo has.
    """
    return (*_observations(raw, session, turns), *_summaries(raw, session)) if turns else ()


def _observations(raw: RawConversation, session: str, turns: Sequence[str]) -> Iterator[Derived]:
    name = f"{session}{_OBSERVATION}"
    if name not in raw.observation:
        return
    positions = {turn: place for place, turn in enumerate(turns)}
    found = convert(raw.observation[name], _Observations, where=f"{raw.where}: {name}")
    for speaker, texts in found.items():
        for place, (text, evidence) in enumerate(texts):
            yield Derived(
                kind="fact",
                text=text,
                turns=_sources(evidence, positions),
                speaker=speaker,
                id=f"{raw.key}/{name}/{speaker}/{place}",
            )


def _summaries(raw: RawConversation, session: str) -> Iterator[Derived]:
    name = f"{session}{_SUMMARY}"
    if name in raw.summary:
        text = convert(raw.summary[name], str, where=f"{raw.where}: {name}")
        yield Derived(kind="summary", text=text, turns=(), id=f"{raw.key}/{name}")


def _sources(evidence: str | list[str], positions: dict[str, int]) -> tuple[int, ...] | None:
    """Positions of the turns that `evidence` names.

    None unless all of it resolves to turns of the session: those that do would make a memory of
    several turns look like one of fewer.
    """
    written = [evidence] if isinstance(evidence, str) else evidence
    names = [name for part in written for name in _BETWEEN.split(part.strip())]
    if not names or any(name not in positions for name in names):
        return None
    return tuple(sorted({positions[name] for name in names}))


def unused_note(corpus: Iterable[tuple[RawConversation, Instance]]) -> tuple[str, ...]:
    """Says which derived memories are of no session that has turns; empty where all are."""
    unused = [
        f"{raw.key}: {name}"
        for raw, instance in corpus
        for part, ending in ((raw.observation, _OBSERVATION), (raw.summary, _SUMMARY))
        for name in part.keys() - {f"{s.id}{ending}" for s in instance.sessions if s.turns}
    ]
    note = (
        f"{len(unused)} lists of observations or summaries belong to no session with turns: they "
        f"are not read (one of them: {min(unused, default=None)})"
    )
    return (note,) if unused else ()
