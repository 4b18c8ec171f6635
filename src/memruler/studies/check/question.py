"""What a probe asks, apart from how it finds out."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from memruler.errors import printable
from memruler.model.card import Outcome, Probe, Severity
from memruler.studies.check.subject import Subject

__all__ = ["BREAKS", "DECLARE", "TELLS", "Asked", "Family", "Question", "of"]

BREAKS: Severity = "breaks measurement"
DECLARE: Severity = "must be declared"
TELLS: Severity = "information"

_LONGEST = 300


class Question(NamedTuple):
    """A probe before it is asked.

    Attributes:
        name: Behind the name of its family.
        text: The question; `yes` is what a measurement wants.
        severity: What any other answer means.
    """

    name: str
    text: str
    severity: Severity


class Asked(NamedTuple):
    """An answer of a family to one of its questions.

    Attributes:
        name: Name of the question.
        outcome: The answer.
        found: What was seen, in one sentence.
        counts: The numbers behind it.
        severity: Where this answer weighs other than its question says.
    """

    name: str
    outcome: Outcome
    found: str
    counts: Mapping[str, int] = MappingProxyType({})
    severity: Severity | None = None


class Family(NamedTuple):
    """Questions that are found out together, in namespaces of their own.

    Attributes:
        name: It.
        questions: All that `ask` answers, in this order.
        ask: Finds out; may raise whatever the system raises.
    """

    name: str
    questions: tuple[Question, ...]
    ask: Callable[[Subject], Iterator[Asked]]

    def probe(self, asked: Asked, log: tuple[str, ...] = ()) -> Probe:
        """An answer with its question."""
        question = next(one for one in self.questions if one.name == asked.name)
        return Probe(
            name=f"{self.name}.{question.name}",
            question=question.text,
            outcome=asked.outcome,
            severity=asked.severity or question.severity,
            found=printable(asked.found, _LONGEST),
            counts=dict(asked.counts),
            log=log,
        )

    def crashed(self, name: str, why: str, log: tuple[str, ...] = ()) -> Probe:
        """The answer where the system broke."""
        return self.probe(Asked(name, "crashed", why), tuple(printable(line) for line in log))


def of(good: int, all_: int) -> Outcome:
    """`yes` where all are good, `no` where one is not."""
    return "yes" if good == all_ else "no"
