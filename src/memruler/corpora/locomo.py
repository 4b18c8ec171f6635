"""LoCoMo: ten long conversations between two people, with 1,986 questions.

Traps of the data that are handled here: session keys sort as text (`session_10` before
`session_2`); dates without a session; answers that are numbers; evidence that joins several ids
in one string, writes them oddly, repeats them, or names turns that do not exist; a `query` field
on turns that holds what an image search was asked, which is no part of the conversation.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from memruler.corpora.jsontext import NonEmpty, answer_text, convert
from memruler.corpora.locomo_derived import derived_of, unused_note
from memruler.corpora.locomo_files import RawConversation, read
from memruler.corpora.source import Identify, as_local_file
from memruler.errors import CorpusError
from memruler.model.corpus import (
    CorpusInfo,
    Evidence,
    Instance,
    Population,
    Query,
    Session,
    Turn,
    TurnRef,
)

__all__ = ["CATEGORIES", "POPULATIONS", "LocomoCorpus"]

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""Names of the category numbers in the file (the paper lists them in another order)."""

UNANSWERABLE = 5

POPULATIONS = (
    Population(
        name="strict-answerable",
        rule="strict",
        members="answerable",
        description="Answerable questions with at least one evidence id that names a turn exactly.",
    ),
    Population(
        name="tolerant-answerable",
        rule="tolerant",
        members="answerable",
        description="As strict-answerable, with joined and oddly written evidence ids understood.",
    ),
    Population(name="all", rule="strict", members="all", description="Every question."),
)

_SESSION = re.compile(r"session_([0-9]{1,9})")
_REFERENCE = re.compile(r"D:?([0-9]+):([0-9]+)")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DATE = re.compile(r"(\d{1,2}):(\d{2}) ([ap])m on (\d{1,2}) ([a-z]+),? (\d{4})", re.ASCII)


class _Turn(msgspec.Struct, frozen=True):
    """What is read of a turn; `query`, `img_url` and whatever else is there stays out."""

    speaker: NonEmpty
    dia_id: NonEmpty
    text: str
    blip_caption: str | None = None


class _Question(msgspec.Struct, frozen=True):
    question: NonEmpty
    evidence: list[str]
    category: int
    answer: Any = None


class LocomoCorpus:
    """LoCoMo from a file; it is small, so it is read once and kept.

    Args:
        path: `locomo10.json`, a folder of `<nn>.json`, or the `.zip` that holds them.
        identify: From the file's SHA-256 to its tier and version.

    Raises:
        CorpusError: The file is not LoCoMo, or something in it cannot be understood.
    """

    def __init__(self, path: Path, *, identify: Identify = as_local_file) -> None:
        sha256, conversations = read(path)
        tier, version = identify(sha256)
        self._instances = tuple(_instance(n, raw) for n, raw in enumerate(conversations))
        keys = [instance.key for instance in self._instances]
        if repeated := next((key for key in keys if keys.count(key) > 1), None):
            raise CorpusError(f"the conversation {repeated!r} is there twice", where=path)
        derived = {d.kind for i in self._instances for s in i.sessions for d in s.derived}
        self._info = CorpusInfo(
            name="locomo",
            version=version,
            licence="CC-BY-NC-4.0",
            sha256=sha256,
            tier=tier,
            populations=POPULATIONS,
            notes=unused_note(zip(conversations, self._instances, strict=True)),
            derived=tuple(sorted(derived)),
        )

    @property
    def info(self) -> CorpusInfo:
        """What it is."""
        return self._info

    def __iter__(self) -> Iterator[Instance]:
        return iter(self._instances)


def _instance(position: int, raw: RawConversation) -> Instance:
    numbers = {int(m[1]): name for name in raw.fields if (m := _SESSION.fullmatch(name))}
    if not numbers:
        raise CorpusError("the conversation has no session", where=raw.where)
    sessions = tuple(
        _session(place, numbers[number], raw) for place, number in enumerate(sorted(numbers))
    )
    turns: dict[str, TurnRef] = {}
    for session in sessions:
        for turn in session.turns:
            if turns.setdefault(str(turn.id), TurnRef(session.position, turn.position)) != (
                session.position,
                turn.position,
            ):
                raise CorpusError(f"the turn id {turn.id!r} is there twice", where=raw.where)
    questions = convert(raw.qa, list[_Question], where=f"{raw.where}: qa")
    return Instance(
        position=position,
        key=raw.key,
        sessions=sessions,
        queries=tuple(_query(n, question, turns, raw) for n, question in enumerate(questions)),
    )


def _session(position: int, name: str, raw: RawConversation) -> Session:
    where = f"{raw.where}: {name}"
    date = raw.fields.get(f"{name}_date_time")
    turns = convert(raw.fields[name], list[_Turn], where=where)
    return Session(
        position=position,
        id=name,
        time=None if date is None else _time(date, f"{where}_date_time"),
        turns=tuple(
            Turn(
                position=place,
                speaker=turn.speaker,
                text=turn.text,
                id=turn.dia_id,
                caption=turn.blip_caption,
            )
            for place, turn in enumerate(turns)
        ),
        derived=derived_of(raw, name, [turn.dia_id for turn in turns]),
    )


def _time(written: object, where: str) -> datetime:
    """Parse `1:56 pm on 8 May, 2023` without a locale."""
    found = _DATE.fullmatch(written.strip().lower()) if isinstance(written, str) else None
    if found and found[5] in _MONTHS and 1 <= int(found[1]) <= 12:  # noqa: PLR2004 - a clock
        hour = int(found[1]) % 12 + (12 if found[3] == "p" else 0)
        month = _MONTHS.index(found[5]) + 1
        try:
            return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]))  # noqa: DTZ001 - as written
        except ValueError:
            pass
    raise CorpusError(
        f"cannot understand the date {written!r}",
        where=where,
        hint="it must look like '1:56 pm on 8 May, 2023'",
    )


def _query(
    position: int, raw: _Question, turns: dict[str, TurnRef], conversation: RawConversation
) -> Query:
    where = f"{conversation.where}: qa {position}"
    if raw.category not in CATEGORIES:
        raise CorpusError(
            f"unknown category {raw.category}",
            where=where,
            hint="LoCoMo has the categories 1 to 5",
        )
    answerable = raw.category != UNANSWERABLE
    tolerant = [name for reference in raw.evidence for name in _tolerant(reference)]
    known = sorted({turns[name] for name in tolerant if name in turns})
    family = ",".join(f"{session}:{turn}" for session, turn in known)
    return Query(
        position=position,
        text=raw.question,
        category=CATEGORIES[raw.category],
        evidence=(
            _reading("strict", raw.evidence, raw.evidence, turns, answerable=answerable),
            _reading("tolerant", raw.evidence, tolerant, turns, answerable=answerable),
        ),
        answerable=answerable,
        id=f"{conversation.key}/q{position}",
        answer=answer_text(raw.answer),
        answer_raw=raw.answer,
        family=f"{conversation.key}/{family}" if family else None,
    )


def _tolerant(reference: str) -> list[str]:
    """The turn ids anywhere in `reference`, spelled as turns are; itself if there is none.

    `"D8:6; D9:17"`, `"D:11:26"` and `"D30:05"` are all in the data.
    """
    found = _REFERENCE.findall(reference)
    return [f"D{s.lstrip('0') or 0}:{t.lstrip('0') or 0}" for s, t in found] or [reference]


def _reading(
    rule: str,
    references: list[str],
    names: list[str],
    turns: dict[str, TurnRef],
    *,
    answerable: bool,
) -> Evidence:
    """The evidence when `references` are read as the turn ids `names`."""
    if not answerable:
        return Evidence(rule=rule, status="none_by_design", references=tuple(references))
    gold = tuple(dict.fromkeys(turns[name] for name in names if name in turns))
    unresolved = tuple(dict.fromkeys(name for name in names if name not in turns))
    return Evidence(
        rule=rule,
        status="unresolved" if not gold else "partial" if unresolved else "ok",
        turns=gold,
        sessions=tuple(sorted({ref.session for ref in gold})),
        references=tuple(references),
        unresolved=unresolved,
    )
