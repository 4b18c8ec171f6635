"""What a reader said of a saved run, and what a grader made of it.

The answers of one reader lie in `<run>/answers/<name>/`; each grading of them in
`<run>/answers/<name>/grades/<grade>/`. Retrieval and accuracy never share a table.
"""

from datetime import datetime
from typing import Any, Literal

import msgspec

from memruler.model.corpus import TurnRef

__all__ = [
    "ANSWERS_VERSION",
    "AnswerItem",
    "AnswerRecord",
    "AnswersManifest",
    "Graded",
    "GradesManifest",
    "InstrumentIdentity",
    "Usage",
]

ANSWERS_VERSION = 1
"""Version of the format of a folder of answers and of its grades."""


class InstrumentIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Which reader or judge it was: what shapes its words, read from the live object.

    Attributes:
        kind: `extractive`, `system` (the memory's own answers), `file` (answers made elsewhere) or
            `openai-chat`.
        model: The model that was asked for; None where there is none.
        served: The model that the server says it answered with; None before the first answer.
        system_fingerprint: What the server calls its backend, where it says so. Every one that
            was seen, joined by a comma.
        host: Host and port of the server; no user, key or path.
        prompt: Name of the prompt or rubric.
        prompt_sha256: Of the messages that a fixed case makes; for a reader without a model, of
            its code; for a memory's own answers, of the memory's code; for a file, of its bytes.
        settings: Everything else that was sent (temperature, seed, max_tokens, extra body) or
            set (k, context limit).
        honoured: What the server is known to have done with a setting: `temperature` and `seed`
            to `yes`, `no` or `unknown`. Only what was seen counts.
        client: Name and version of what sends the requests.
    """

    kind: Literal["extractive", "system", "file", "openai-chat"]
    model: str | None = None
    served: str | None = None
    system_fingerprint: str | None = None
    host: str | None = None
    prompt: str
    prompt_sha256: str
    settings: dict[str, Any] = {}
    honoured: dict[str, str] = {}
    client: str | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What requests cost. Tokens are None where the server did not say, never 0.

    Attributes:
        requests: Requests that the server answered now.
        reused: Replies that were paid for before, and taken from the cache.
        prompt_tokens, completion_tokens: Of the requests answered now, as the server counts.
        uncounted: Requests answered now of which the server did not tell the tokens.
        cost: In `currency`; None where no price was given or a reply was not counted.
        currency: As the person named it.
    """

    requests: int = 0
    reused: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    uncounted: int = 0
    cost: float | None = None
    currency: str = "USD"


class AnswerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader said to one query, once.

    Attributes:
        instance, query: Positions.
        repeat: 0-based re-draw.
        text: The answer; empty where it said nothing; None where it could not be asked.
        error: Why there is no answer; None where there is one.
        finish: Why it ended, as the server says.
        items: Rows of the lineage table that it was given, in order; those without a text are
            left out and counted in `textless`.
        textless: Hits within k whose text is not known.
        left_out: Hits within k that it was not given, since the context was full.
        context_chars: Characters of the context that it was given.
        prompt_tokens, completion_tokens: As the server counts, for the request that made it.
    """

    instance: int
    query: int
    repeat: int = 0
    text: str | None
    error: str | None = None
    finish: str | None = None
    items: tuple[int, ...] = ()
    textless: int = 0
    left_out: int = 0
    context_chars: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class AnswersManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder of answers is.

    Attributes:
        version: See `ANSWERS_VERSION`.
        name: Of the folder.
        run: Stem of the run.
        run_tables: Name of a table of the run to the SHA-256 that it had when it was read.
        run_fingerprint: The run's.
        reader: Who answered.
        repeats: Draws of each query.
        k: Hits that it was given at most; None for a memory's own answers.
        counts: `queries`; and of the answers, which are `repeats` a query, how many are
            `answered` (with a text), `empty` and `failed` (there is none). Of a file also how
            many of its ids are `unknown` to the run.
        usage: What it cost in the call that finished it.
        usage_total: Tokens and cost of all replies that the folder stands on, paid for now or
            before.
        started, finished: UTC.
        tool: memruler's version, commit, digest; as in a run's manifest.
        warnings: What puts the answers in doubt.
        degraded: Why they must not be trusted, those of the run included.
        tables: `answers` to the SHA-256 of its file.
    """

    version: int
    name: str
    run: str
    run_tables: dict[str, str]
    run_fingerprint: dict[str, Any]
    reader: InstrumentIdentity
    repeats: int = 1
    k: int | None = None
    counts: dict[str, int] = {}
    usage: Usage = Usage()
    usage_total: Usage = Usage()
    started: datetime
    finished: datetime
    tool: dict[str, Any] = {}
    warnings: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    tables: dict[str, str] = {}


class AnswerItem(msgspec.Struct, frozen=True, kw_only=True):
    """What a grader is shown: a query of the run, and what was said to it.

    Attributes:
        instance, query, repeat: Positions, and the draw.
        instance_key: The conversation.
        id: Of the query.
        category: Its category's name.
        question: Its text.
        gold: The answer as text; None when missing.
        gold_raw: The answer exactly as in the file (an int, a list, an object with a rubric).
        answerable: False when the data set says that no answer exists.
        asked: When it is asked by the data set.
        family: For clustering.
        evidence: Gold turns under the run's rule; empty where there is none.
        evidence_texts: What was said in them, in order of time, as far as the run tells: a None
            for each whose text is not known; empty where the order is not known, since the system
            does not export its lineage.
        response: The answer; None where there is none.
        error: Why there is none.
    """

    instance: int
    query: int
    repeat: int = 0
    instance_key: str = ""
    id: str
    category: str
    question: str
    gold: str | None
    gold_raw: Any = None
    answerable: bool = True
    asked: datetime | None = None
    family: str | None = None
    evidence: tuple[TurnRef, ...] = ()
    evidence_texts: tuple[str | None, ...] = ()
    response: str | None
    error: str | None = None


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """What a grader made of one answer.

    Attributes:
        value: From 0 to 1; None where the item is unscored, never 0 for want of a judge.
        reason: Why there is no value; None where there is one.
        label: A word for what it is, such as `stale` or `refused`; None where there is none.
        detail: Numbers beside it, by name: the same answer under a stricter parser, the parts of
            a rubric. They stand in the table under these names and never in the mean.
        reply: What the judge said, at most 200 characters.
    """

    value: float | None
    reason: str | None = None
    label: str | None = None
    detail: dict[str, float | None] = {}
    reply: str | None = None


class GradesManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder of grades is.

    Attributes:
        version: See `ANSWERS_VERSION`.
        name: Of the folder.
        grader: Name and profile, such as `locomo:official`.
        grader_sha256: Of the code and texts that shape a value.
        metric: What the value is called: `f1`, `accuracy`, `rubric`.
        judge: Who judged; None where nobody is asked.
        answers: The manifest of the answers.
        answers_sha256: Of the table of answers.
        draws: How often the judge was asked about each answer.
        sample: How the answers were drawn, where not all were graded: `number`, `of`, `seed`,
            `by`, and `strata` with what there is and what was drawn of each.
        counts: `items`, `scored`, and reasons of the unscored.
        usage: What the judge cost now; `usage_total`: all replies that the grades stand on.
        started, finished: UTC.
        tool: As in a run's manifest.
        warnings: What puts the grades in doubt.
        degraded: Why they must not be trusted.
        tables: `grades` to the SHA-256 of its file.
    """

    version: int
    name: str
    grader: str
    grader_sha256: str
    metric: str
    judge: InstrumentIdentity | None
    answers: AnswersManifest
    answers_sha256: str
    draws: int = 1
    sample: dict[str, Any] | None = None
    counts: dict[str, int] = {}
    usage: Usage = Usage()
    usage_total: Usage = Usage()
    started: datetime
    finished: datetime
    tool: dict[str, Any] = {}
    warnings: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    tables: dict[str, str] = {}
