"""LongMemEval: 500 questions, each with a haystack of its own; original and cleaned files.

Traps of the data that are handled here: the files are too large to hold (M has 2.7 GB); one
filler session can stand twice in a haystack under one id; sessions can be empty or later than the
question; answers can be numbers; some questions have gold sessions but no labelled user turn, so
the official numbers exist over two different populations.
"""

import re
import shlex
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from memruler.corpora.jsontext import NonEmpty, answer_text, decode
from memruler.corpora.source import Identify, Source, as_local_file
from memruler.corpora.stream import Element, check_ends, elements
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

__all__ = ["CATEGORIES", "POPULATIONS", "ROLES", "LongMemEvalCorpus"]

CATEGORIES = frozenset(
    {
        "knowledge-update",
        "multi-session",
        "single-session-assistant",
        "single-session-preference",
        "single-session-user",
        "temporal-reasoning",
    }
)

POPULATIONS = (
    Population(
        name="answerable",
        rule="session-labels",
        members="answerable",
        description="Questions that are no abstention; gold is what `answer_session_ids` names.",
    ),
    Population(
        name="user-turn-labelled",
        rule="user-turn-labels",
        members="answerable",
        description="Questions that are no abstention and have a labelled user turn (the gold).",
    ),
    Population(name="all", rule="session-labels", members="all", description="Every question."),
)

ROLES = frozenset({"user", "assistant"})

_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2}) \([A-Za-z]{3}\) (\d{2}):(\d{2})", re.ASCII)
_STEM = re.compile(r"(?:_abs)?(?:_\d+)?$", re.ASCII)


class _Turn(msgspec.Struct, frozen=True):
    role: str
    content: str
    has_answer: bool | None = None


class _Question(msgspec.Struct, frozen=True):
    question_id: NonEmpty
    question_type: str
    question: NonEmpty
    question_date: str
    haystack_dates: list[str]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_Turn]]
    answer_session_ids: list[str]
    answer: Any = None


class LongMemEvalCorpus:
    """LongMemEval from a file, streamed: one question with its haystack is one instance.

    Args:
        path: A file of any size and edition; they share one schema.
        name: Registry name of the edition.
        retrieval_variant: The edition to use where this one cannot measure retrieval.
        identify: From the file's SHA-256 to its tier and version.

    Raises:
        CorpusError: The file is missing or unreadable, or does not begin and end as a list. What
            is wrong further inside is raised while iterating.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str = "longmemeval-s",
        retrieval_variant: str | None = None,
        identify: Identify = as_local_file,
    ) -> None:
        self._source = Source(path)
        with self._source.open() as file:
            check_ends(file, where=path)
        tier, version = identify(self._source.sha256)
        self._info = CorpusInfo(
            name=name,
            version=version,
            licence="MIT",
            sha256=self._source.sha256,
            tier=tier,
            populations=POPULATIONS,
            retrieval_variant=retrieval_variant,
        )

    @property
    def info(self) -> CorpusInfo:
        """What it is."""
        return self._info

    def __iter__(self) -> Iterator[Instance]:
        try:
            for found in self._walk():
                if isinstance(found, CorpusError):
                    raise found  # it gets its hint below, as what is raised inside does
                yield found
        except CorpusError as error:
            every = (
                f"`memruler corpora check {shlex.quote(str(self._source.path))}` tells every fault"
            )
            hint = f"{error.hint}; {every}" if error.hint else every
            raise CorpusError(error.what, where=error.where, hint=hint) from None

    def faults(self) -> Iterator[CorpusError]:
        """Yield every fault of the file: of each question the first, up to where it is no list."""
        try:
            yield from (found for found in self._walk() if isinstance(found, CorpusError))
        except CorpusError as error:
            yield error

    def _walk(self) -> Iterator[Instance | CorpusError]:
        """Yield each question as an instance, or what is wrong with it.

        Raises:
            CorpusError: What follows cannot be told apart into questions any more.
        """
        path = self._source.path
        seen: set[str] = set()
        with self._source.open() as file:
            for element in elements(file, where=path):
                found: Instance | CorpusError
                try:
                    found = _read(element, path, seen)
                except CorpusError as error:
                    found = error
                yield found


def _read(element: Element, path: Path, seen: set[str]) -> Instance:
    where = f"{path}: element {element.position}, which begins at byte {element.offset}"
    raw = decode(element.data, _Question, where=where)
    where = f"{path}: question {raw.question_id}"
    if raw.question_id in seen:
        raise CorpusError("the question id is there twice", where=where)
    seen.add(raw.question_id)
    return _instance(element.position, raw, where)


def _instance(position: int, raw: _Question, where: str) -> Instance:
    lengths = len(raw.haystack_sessions), len(raw.haystack_session_ids), len(raw.haystack_dates)
    if len(set(lengths)) > 1:
        raise CorpusError(
            "the haystack's sessions, ids and dates differ in number: {}, {}, {}".format(*lengths),
            where=where,
        )
    if raw.question_type not in CATEGORIES:
        raise CorpusError(
            f"unknown category {raw.question_type!r}",
            where=where,
            hint="LongMemEval has " + ", ".join(sorted(CATEGORIES)),
        )
    for place, turns in enumerate(raw.haystack_sessions):
        if unknown := [turn.role for turn in turns if turn.role not in ROLES]:
            raise CorpusError(
                f"unknown role {unknown[0]!r}",
                where=f"{where}: haystack_sessions[{place}]",
                hint="LongMemEval has user and assistant",
            )
    sessions = tuple(
        Session(
            position=place,
            id=name,
            time=_time(date, f"{where}: haystack_dates[{place}]"),
            turns=tuple(
                # The official name of a turn: its session's id and its 1-based place.
                Turn(position=n, speaker=turn.role, text=turn.content, id=f"{name}_{n + 1}")
                for n, turn in enumerate(turns)
            ),
        )
        for place, (name, date, turns) in enumerate(
            zip(
                raw.haystack_session_ids,
                raw.haystack_dates,
                raw.haystack_sessions,
                strict=True,
            )
        )
    )
    return Instance(
        position=position, key=raw.question_id, sessions=sessions, queries=(_query(raw, where),)
    )


def _time(written: str, where: str) -> datetime:
    """Parse `2023/05/20 (Sat) 02:21`; the name of the day is not looked at."""
    if found := _DATE.fullmatch(written):
        try:
            return datetime(*map(int, found.groups()))  # type: ignore[arg-type] # noqa: DTZ001 - as written
        except ValueError:
            pass
    raise CorpusError(
        f"cannot understand the date {written!r}",
        where=where,
        hint="it must look like '2023/05/20 (Sat) 02:21'",
    )


def _query(raw: _Question, where: str) -> Query:
    answerable = "_abs" not in raw.question_id
    labelled = [
        (TurnRef(s, t), turn.role)
        for s, turns in enumerate(raw.haystack_sessions)
        for t, turn in enumerate(turns)
        if turn.has_answer
    ]
    stems = sorted({_STEM.sub("", name) for name in raw.answer_session_ids})
    return Query(
        position=0,
        text=raw.question,
        category=raw.question_type,
        evidence=(
            _by_session(raw, tuple(ref for ref, _ in labelled), answerable=answerable),
            _by_user_turn(
                raw, tuple(ref for ref, role in labelled if role == "user"), answerable=answerable
            ),
        ),
        answerable=answerable,
        id=raw.question_id,
        answer=answer_text(raw.answer),
        answer_raw=raw.answer,
        time=_time(raw.question_date, f"{where}: question_date"),
        family="+".join(stems) or None,
    )


def _by_session(raw: _Question, labelled: tuple[TurnRef, ...], *, answerable: bool) -> Evidence:
    """Gold sessions are those named as answers, gold turns those labelled.

    An id that stands twice in the haystack names both places; in the published files only
    fillers repeat, so this decides nothing there. An empty session is never gold: nothing in it
    can be found.
    """
    named = tuple(raw.answer_session_ids)
    if not answerable:
        return Evidence(rule="session-labels", status="none_by_design", references=named)
    there = {
        place: name
        for place, name in enumerate(raw.haystack_session_ids)
        if name in named and raw.haystack_sessions[place]
    }
    unresolved = tuple(dict.fromkeys(name for name in named if name not in there.values()))
    return Evidence(
        rule="session-labels",
        status="unresolved" if not there else "partial" if unresolved else "ok",
        turns=labelled if there else (),
        sessions=tuple(there),
        references=named,
        unresolved=unresolved,
    )


def _by_user_turn(raw: _Question, labelled: tuple[TurnRef, ...], *, answerable: bool) -> Evidence:
    """Gold are the labelled user turns: all that the official retrieval runner can give credit to.

    What it searches is another haystack, though: see docs/metrics.md, "Where other tools differ".
    """
    names = tuple(f"{raw.haystack_session_ids[s]}_{t + 1}" for s, t in labelled)
    if not answerable:
        return Evidence(rule="user-turn-labels", status="none_by_design", references=names)
    return Evidence(
        rule="user-turn-labels",
        status="ok" if labelled else "unresolved",
        turns=labelled,
        sessions=tuple(sorted({ref.session for ref in labelled})),
        references=names,
    )
