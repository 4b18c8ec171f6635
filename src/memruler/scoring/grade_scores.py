"""The scores of a grading as a file that `gate` and `repeats` read, and what it declares.

A row is an answer: several draws of a judge are one value by then. `top` is what the reader was
given, as digests of texts: a store that calls its items anew each time still gives the same ones.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from memruler.errors import printable
from memruler.judges.rubric import content_sha256
from memruler.model.answers import AnswerItem, AnswersManifest, InstrumentIdentity
from memruler.model.corpus import TurnRef
from memruler.model.run import Manifest
from memruler.scoring.grade_summary import are_labels, item_value
from memruler.store.folder import RunFolder
from memruler.store.grades import GradeRow
from memruler.store.tables import batches

__all__ = ["About", "declared", "evidence_families", "instrument", "item_keys", "scores_csv"]

_DIGITS = 12
_LONGEST = 10_000
_RUN_PARTS = ("corpus", "ingest", "retrieval", "system", "embedder")
"""Parts of the run's fingerprint that shape an answer."""


class About:
    """What of an answer the scores say, without its texts.

    Attributes:
        conversation: Its instance.
        family: What moves together with it: the data set's own family, else the queries that share
            a gold turn with it, else itself.
        answered: Whether there is an answer.
        top: What the reader was given; None where it is not known.
    """

    __slots__ = ("answered", "conversation", "family", "top")

    def __init__(self, conversation: str, *, answered: bool, top: tuple[str, ...] | None) -> None:
        self.conversation = conversation
        self.family = ""
        self.answered = answered
        self.top = top


def item_keys(run: RunFolder) -> list[str]:
    """A key for each row of the lineage: a digest of its text, or its id where that is unknown."""
    keys = []
    for batch in batches(run, "lineage", ["id", "text"]):
        columns = batch.to_pydict()
        for name, text in zip(columns["id"], columns["text"], strict=True):
            digest = None if text is None else hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
            # No space: the keys of a list are separated by one.
            keys.append(digest or f"id:{quote(name, safe='')}")
    return keys


def evidence_families(items: Iterable[AnswerItem]) -> dict[tuple[int, int], str]:
    """The family of each query; sharing a gold turn is transitive."""
    parent: dict[tuple[int, int], tuple[int, int]] = {}
    first: dict[tuple[int, TurnRef], tuple[int, int]] = {}
    named: dict[tuple[int, int], str] = {}
    instances: dict[int, str] = {}

    def root(key: tuple[int, int]) -> tuple[int, int]:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for item in items:
        key = (item.instance, item.query)
        instances[item.instance] = item.instance_key
        if item.family is not None:
            named[key] = item.family
        elif key not in parent:
            parent[key] = key
            for turn in sorted(item.evidence):
                parent[root(key)] = root(first.setdefault((item.instance, turn), key))
    roots = {key: root(key) for key in parent}
    return named | {key: f"{instances[top[0]]}#{top[1]}" for key, top in roots.items()}


def scores_csv(
    rows: Sequence[GradeRow], about: Mapping[tuple[int, int, int], About], metric: str
) -> bytes:
    """The file, a row an answer, in the order of the rows.

    Args:
        rows: Every grading, those of one answer together.
        about: Instance, query and repeat to the rest.
        metric: Name of the column of values.
    """
    head = ["id", "repeat", metric, "error", "top", "conversation", "category", "evidence"]
    answers: dict[tuple[int, int, int], list[GradeRow]] = {}
    for row in rows:
        answers.setdefault((row.instance, row.query, row.repeat), []).append(row)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    labels = are_labels(rows)
    for key, drawn in answers.items():
        one, known = drawn[0], about[key]
        values = [row.graded.value for row in drawn if row.graded.value is not None]
        value = item_value(values, labels=labels)
        reason = next((row.graded.reason for row in drawn if row.graded.reason), "no value")
        cells = [
            f"{known.conversation}#{one.query}",
            str(one.repeat),
            "" if value is None else repr(value),
            reason if value is None else "",
            " ".join(known.top or ()),
            known.conversation,
            one.category,
            known.family,
        ]
        writer.writerow([printable(cell, _LONGEST) for cell in cells])
    return text.getvalue().encode()


def declared(
    run: Manifest,
    answers: AnswersManifest,
    judge: InstrumentIdentity | None,
    *,
    grader: str,
    grader_sha256: str,
    metric: str,
    draws: int,
    members: Iterable[str],
    exact: bool,
) -> dict[str, Any]:
    """What the scores were measured with; two files compare only where it is the same.

    The grader is the ruler and can never be what is under test. The memory's parts keep the names
    that they have in a run's fingerprint; `reader` and `judge` stand beside them. A server's port
    and what it calls its backend are left out: they change by themselves.

    Args:
        run: Of the run.
        answers: Of the answers.
        judge: Who judged; None where nobody did.
        grader: Its name.
        grader_sha256: Its digest.
        metric: What its value is called.
        draws: How often the judge was asked about each answer.
        members: Ids of the graded items.
        exact: Whether a repetition gives the same.
    """
    ids = sorted(members)
    return {
        "axis": "accuracy",
        **{name: run.fingerprint.get(name) for name in _RUN_PARTS},
        "population": {"name": "graded", "items": len(ids), "digest": content_sha256(ids)},
        "denominator": {"unscored": "left_out", "unanswerable": "counted"},
        "ruler": {"grader": grader, "sha256": grader_sha256, "metric": metric},
        "reader": instrument(answers.reader),
        "judge": None if judge is None else {**instrument(judge), "draws": draws},
        "deterministic": exact,
    }


def instrument(identity: InstrumentIdentity) -> dict[str, Any]:
    """What of a reader's or judge's identity must be the same on both sides."""
    host = identity.host
    return {
        "kind": identity.kind,
        "model": identity.model,
        "served": identity.served,
        "host": None if host is None else host.rpartition(":")[0] or host,
        "prompt": identity.prompt,
        "prompt_sha256": identity.prompt_sha256,
        "settings": identity.settings,
    }
