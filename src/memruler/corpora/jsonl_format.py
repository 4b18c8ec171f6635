"""memruler's own corpus format: one JSON object a line. These records are its definition.

The JSON Schema, the validator and the loader all come from them; see docs/corpora.md.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memruler.corpora.jsontext import NonEmpty, answer_text
from memruler.model.corpus import (
    Evidence,
    Instance,
    Population,
    Query,
    Session,
    Turn,
    TurnRef,
)

__all__ = [
    "POPULATIONS",
    "RULE",
    "TIME_PATTERN",
    "AboutCorpus",
    "EvidenceLine",
    "HeaderLine",
    "InstanceLine",
    "QueryLine",
    "SessionLine",
    "TurnLine",
    "TurnPlace",
    "parse_time",
    "schema",
    "schema_bytes",
    "to_instance",
]

RULE = "labels"

POPULATIONS = (
    Population(
        name="answerable",
        rule=RULE,
        members="answerable",
        description="Answerable queries with evidence.",
    ),
    Population(name="all", rule=RULE, members="all", description="Every query."),
)

TIME_PATTERN = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$"
)

Place = Annotated[int, Meta(ge=0, description="0-based position.")]
Time = Annotated[
    str,
    Meta(
        pattern=TIME_PATTERN,
        description="ISO 8601: a date, or a date and time; without a zone it is taken as UTC.",
        examples=[  # the first two are shown to people
            "2024-05-01",
            "2024-05-01T10:30:00Z",
            "2024-05-01T10:30",
            "2024-05-01T10:30:00+02:00",
        ],
    ),
]


class _Line(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A typing error in an optional name must not pass for an absent one."""


class TurnLine(_Line, frozen=True):
    """One utterance. `importance` and `tags` are what a production caller would have set."""

    speaker: NonEmpty
    text: str
    id: Annotated[NonEmpty | None, Meta(description="Unique in its instance.")] = None
    caption: Annotated[str | None, Meta(description="What a shared image shows.")] = None
    tags: tuple[NonEmpty, ...] = ()
    importance: Annotated[float, Meta(ge=0.0, le=1.0)] | None = None


class SessionLine(_Line, frozen=True):
    """One conversation. Sessions stand in the order in which they are to be counted."""

    turns: Annotated[tuple[TurnLine, ...], Meta(description="In order; may be empty.")]
    id: Annotated[NonEmpty | None, Meta(description="Unique in its instance.")] = None
    time: Time | None = None


class TurnPlace(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """`[session, turn]`: a turn by 0-based position."""

    # Not tuple[Place, Place]: msgspec 0.23 crashes on a union of a fixed tuple and bounded text.
    session: Place
    turn: Place


class EvidenceLine(_Line, frozen=True):
    """Where the answer is. The sessions of gold turns are gold without being named."""

    turns: Annotated[
        tuple[TurnPlace | NonEmpty, ...],
        Meta(description="Gold turns: [session, turn] by position, or the id of a turn."),
    ] = ()
    sessions: Annotated[
        tuple[Place | NonEmpty, ...],
        Meta(description="Gold sessions: by position, or the id of a session."),
    ] = ()


class QueryLine(_Line, frozen=True):
    """One question. Not answerable means that the right answer is that there is none."""

    text: NonEmpty
    category: NonEmpty = "uncategorised"
    id: Annotated[NonEmpty | None, Meta(description="Unique in its instance.")] = None
    answer: Annotated[Any, Meta(description="Text, a number, a list: kept as it is.")] = None
    answerable: bool = True
    time: Annotated[Time | None, Meta(description="When it is asked.")] = None
    family: Annotated[
        NonEmpty | None, Meta(description="Queries that move together, for clustering.")
    ] = None
    evidence: Annotated[EvidenceLine, Meta(examples=[{"turns": [[0, 0]]}])] = EvidenceLine()


class InstanceLine(_Line, frozen=True):
    """One isolated haystack with its queries: one line of the file."""

    id: Annotated[NonEmpty, Meta(description="Unique in the file.")]
    sessions: tuple[SessionLine, ...]
    queries: tuple[QueryLine, ...] = ()


class AboutCorpus(_Line, frozen=True):
    """What reports say of the corpus."""

    version: NonEmpty = "unknown"
    licence: Annotated[NonEmpty, Meta(description="An SPDX id.")] = "unknown"
    notes: Annotated[
        tuple[NonEmpty, ...], Meta(description="Sentences that every report must carry.")
    ] = ()


class HeaderLine(_Line, frozen=True, omit_defaults=False):
    """The first line, if it is not an instance: what the corpus is."""

    corpus: AboutCorpus
    schema: Literal[1] = 1


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) that each line of a file satisfies."""
    (header, instance), parts = msgspec.json.schema_components(
        (HeaderLine, InstanceLine), ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of a memruler corpus file",
        "description": "The first line may be a HeaderLine; every other line is an InstanceLine.",
        "anyOf": [instance, header],
        "$defs": dict(sorted(parts.items())),
    }


def schema_bytes() -> bytes:
    """The schema as it is published in docs/schema/corpus.schema.json."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2) + b"\n"


def parse_time(written: str) -> datetime:
    """A `Time` as a naive datetime in UTC.

    Raises:
        ValueError: There is no such date or time.
        OverflowError: In UTC it lies outside the years 1 to 9999.
    """
    time = datetime.fromisoformat(written)
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


def to_instance(position: int, line: InstanceLine) -> Instance:
    """The record of a line that the validator found no fault in.

    Args:
        position: 0-based place among the instances of the file.
        line: A line whose references all resolve.
    """
    sessions = tuple(
        Session(
            position=s,
            id=session.id,
            time=None if session.time is None else parse_time(session.time),
            turns=tuple(
                Turn(
                    position=t,
                    speaker=turn.speaker,
                    text=turn.text,
                    id=turn.id,
                    caption=turn.caption,
                    tags=turn.tags,
                    importance=turn.importance,
                )
                for t, turn in enumerate(session.turns)
            ),
        )
        for s, session in enumerate(line.sessions)
    )
    turn_ids: dict[str, TurnRef] = {
        t.id: TurnRef(s.position, t.position) for s in sessions for t in s.turns if t.id
    }
    session_ids = {session.id: session.position for session in sessions if session.id}
    return Instance(
        position=position,
        key=line.id,
        sessions=sessions,
        queries=tuple(
            Query(
                position=n,
                text=query.text,
                category=query.category,
                evidence=(_evidence(query, turn_ids, session_ids),),
                answerable=query.answerable,
                id=query.id or f"{line.id}/q{n}",
                answer=answer_text(query.answer),
                answer_raw=query.answer,
                time=None if query.time is None else parse_time(query.time),
                family=query.family,
            )
            for n, query in enumerate(line.queries)
        ),
    )


def _evidence(
    query: QueryLine, turn_ids: dict[str, TurnRef], session_ids: dict[str, int]
) -> Evidence:
    named = query.evidence
    references = tuple(
        one if isinstance(one, str) else msgspec.json.encode(one).decode()
        for one in (*named.turns, *named.sessions)
    )
    if not query.answerable:
        return Evidence(rule=RULE, status="none_by_design", references=references)
    turns = dict.fromkeys(
        turn_ids[one] if isinstance(one, str) else TurnRef(one.session, one.turn)
        for one in named.turns
    )
    sessions = {session_ids[one] if isinstance(one, str) else one for one in named.sessions}
    sessions.update(ref.session for ref in turns)
    return Evidence(
        rule=RULE,
        status="ok" if sessions else "unresolved",
        turns=tuple(turns),
        sessions=tuple(sorted(sessions)),
        references=references,
    )
