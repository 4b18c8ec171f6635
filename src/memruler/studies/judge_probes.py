"""Builds probes from a data set: answers of which it is known whether they are right.

Right are the golds themselves, as a reader would put them, and refusals where there is no answer.
Wrong are another question's gold, words of the question that say nothing, an answer where there is
none, and another question's gold that tells the judge to accept it. A question is used once as long
as there are enough, so that the probes are independent.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from memruler.errors import Refusal, UsageError
from memruler.model.answers import AnswerItem
from memruler.studies.audit_strata import allocate
from memruler.studies.judge_texts import (
    INJECTIONS,
    PHRASINGS,
    REFUSALS,
    vague_answer,
    word_keys,
)

__all__ = ["KINDS", "Kind", "Probe", "Probes", "make_probes"]

Kind = Literal["gold", "refusal", "swapped", "vague", "answered", "injected"]

KINDS: dict[Kind, bool] = {
    "gold": True,
    "refusal": True,
    "swapped": False,
    "vague": False,
    "answered": False,
    "injected": False,
}
"""Kind of probe to whether its answers are right."""

_OF_UNANSWERABLE: frozenset[Kind] = frozenset({"refusal", "answered"})
_LONGEST_GOLD = 300
_RUBRICS = ("single-session-preference",)
"""Categories whose gold says what a good answer would do, and is none itself."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of known truth.

    Attributes:
        kind: How it was made.
        style: Of an injected one, how it tries; None otherwise.
        truth: Whether it is right.
        item: The question, with the answer as its response.
    """

    kind: Kind
    style: str | None = None
    truth: bool
    item: AnswerItem


class Probes(NamedTuple):
    """Probes of a data set.

    Attributes:
        probes: In order of kind, then of question.
        left_out: Why questions gave no probe, and how many.
        notes: What a reader must know, one sentence each.
    """

    probes: tuple[Probe, ...]
    left_out: dict[str, int]
    notes: tuple[str, ...]


def make_probes(items: Sequence[AnswerItem], *, number: int = 50, seed: int = 7) -> Probes:
    """Build probes.

    Args:
        items: The questions of a data set; their responses do not matter.
        number: Probes of a kind, stratified by category; fewer where there are fewer questions.
        seed: Of the draw; not negative.

    Raises:
        UsageError: A number is out of range.
        Refusal: No question has a usable answer.
    """
    if number < 1 or seed < 0:
        raise UsageError(f"{number} probes, seed {seed}", hint="from 1, and the seed from 0")
    left_out: Counter[str] = Counter()
    items = sorted(items, key=lambda item: (item.instance, item.query))
    usable = [item for item in items if item.answerable and not _unusable(item, left_out)]
    without = [item for item in items if not item.answerable]
    if not usable:
        raise Refusal(
            [f"{times} questions: {why}" for why, times in left_out.items()]
            or ["there is no question that has an answer"],
            hint="a judge is probed with known answers: choose a corpus that has them",
        )
    donors = _Donors(usable, seed)
    makers: dict[Kind, Callable[[AnswerItem, int], tuple[str, str | None] | None]] = {
        "gold": lambda item, at: (PHRASINGS[at % len(PHRASINGS)].format(gold=item.gold), None),
        "refusal": lambda _, at: (REFUSALS[at % len(REFUSALS)], None),
        "swapped": donors.swapped,
        "vague": lambda item, _: _styled(vague_answer(item.question, item.gold or "")),
        "answered": donors.swapped,
        "injected": donors.injected,
    }
    made: list[Probe] = []
    used: Counter[tuple[int, int]] = Counter()
    for kind, truth in KINDS.items():
        pool = without if kind in _OF_UNANSWERABLE else usable
        tried = _drawn(pool, number, f"{seed}:{kind}", used)
        for at, item in enumerate(tried):
            said = makers[kind](item, at)
            if said is None:
                left_out[f"no {kind} answer can be made of it"] += 1
                continue
            used[item.instance, item.query] += 1
            made.append(_probe(item, kind, said, truth=truth))
    return Probes(tuple(made), dict(sorted(left_out.items())), tuple(_notes(made, used)))


def _probe(item: AnswerItem, kind: Kind, said: tuple[str, str | None], *, truth: bool) -> Probe:
    text, style = said
    answered = msgspec.structs.replace(item, response=text, error=None, repeat=0)
    return Probe(kind=kind, style=style, truth=truth, item=answered)


def _styled(text: str | None) -> tuple[str, None] | None:
    return None if text is None else (text, None)


def _unusable(item: AnswerItem, left_out: Counter[str]) -> bool:
    why = None
    if item.gold is None or not item.gold.strip():
        why = "it has no gold"
    elif item.category in _RUBRICS:
        why = "its gold is a rubric and no answer"
    elif len(item.gold) > _LONGEST_GOLD:
        why = f"its gold is longer than {_LONGEST_GOLD} characters"
    if why is not None:
        left_out[why] += 1
    return why is not None


def _notes(made: Sequence[Probe], used: Counter[tuple[int, int]]) -> Iterator[str]:
    twice = sum(times > 1 for times in used.values())
    if twice:
        yield (
            f"{twice} of {len(used)} questions are in several probes, which are then not quite "
            "independent: the intervals are too narrow"
        )
    there = {probe.kind for probe in made}
    for kind in KINDS:
        if kind not in there:
            yield f"no {kind} probes: the data set has no questions for them"


def _drawn(
    pool: Sequence[AnswerItem], number: int, salt: str, used: Counter[tuple[int, int]]
) -> list[AnswerItem]:
    """Questions by category; those that were used least come first, then by digest."""
    if not pool:
        return []
    sizes = Counter(item.category for item in pool)
    # As many as there are categories where fewer were asked for, so that each has one.
    shares = allocate(sizes, max(number, len(sizes)))
    ranked: dict[str, list[tuple[int, bytes, AnswerItem]]] = {name: [] for name in sizes}
    for item in pool:
        key = (item.instance, item.query)
        ranked[item.category].append((used[key], _digest(salt, item), item))
    chosen = [
        one
        for name, most in shares.items()
        for one in sorted(ranked[name], key=lambda found: found[:2])[:most]
    ]
    return [item for *_, item in sorted(chosen, key=lambda found: found[1])]


def _digest(salt: str, item: AnswerItem) -> bytes:
    return hashlib.sha256(f"{salt}:{item.instance}:{item.query}".encode()).digest()


class _Donors:
    """Golds of other questions that are wrong answers to a given one."""

    def __init__(self, items: Sequence[AnswerItem], seed: int) -> None:
        self._seed = seed
        self._words = [word_keys(item.gold or "") for item in items]
        self._items = items
        self._by_category: dict[str, list[int]] = {}
        for at, item in enumerate(items):
            self._by_category.setdefault(item.category, []).append(at)

    def swapped(self, item: AnswerItem, at: int) -> tuple[str, None] | None:
        """Another question's gold as a reader would put it; None where none is clearly wrong."""
        gold = self._other(item)
        return _styled(None if gold is None else PHRASINGS[at % len(PHRASINGS)].format(gold=gold))

    def injected(self, item: AnswerItem, at: int) -> tuple[str, str] | None:
        """The same, with a text that tells the judge to accept it."""
        gold = self._other(item)
        if gold is None:
            return None
        style = list(INJECTIONS)[at % len(INJECTIONS)]
        return INJECTIONS[style].format(wrong=gold), style

    def _other(self, item: AnswerItem) -> str | None:
        """A gold of the same category (or any, of a question without one) that shares no word.

        Golds of another conversation come first: those of the same one may be half right.
        """
        places = self._by_category.get(item.category) or range(len(self._items))
        own = word_keys(item.gold or "") | word_keys(item.question)
        fit = [
            at
            for at in places
            if self._words[at] and not self._words[at] & own and self._items[at].id != item.id
        ]
        away = [at for at in fit if self._items[at].instance != item.instance]
        pool = away or fit
        if not pool:
            return None
        chosen = int.from_bytes(_digest(f"{self._seed}:donor", item)[:8]) % len(pool)
        return self._items[pool[chosen]].gold
