"""What is measured, what is left out, and the refusal that follows."""

import pytest

from memruler.corpora.populations import (
    REASONS,
    count,
    count_all,
    exclusion,
    is_member,
    refuse_unmeasurable,
)
from memruler.errors import Refusal
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

ANSWERABLE = Population(name="answerable", rule="one", members="answerable", description="")
OTHER_RULE = Population(name="other", rule="two", members="answerable", description="")
ALL = Population(name="all", rule="one", members="all", description="")


def query(position, *, one=(0,), two=(0,), status="ok", answerable=True):
    readings = []
    for rule, sessions in (("one", one), ("two", two)):
        state = status if sessions or status == "none_by_design" else "unresolved"
        turns = tuple(TurnRef(session, 0) for session in sessions)
        readings.append(Evidence(rule=rule, status=state, sessions=sessions, turns=turns))
    return Query(
        position=position,
        text="q",
        category="c",
        evidence=tuple(readings),
        answerable=answerable,
    )


def instance(*queries, sizes=(1, 1, 0)):
    sessions = tuple(
        Session(
            position=s,
            turns=tuple(Turn(position=t, speaker="A", text="x") for t in range(size)),
        )
        for s, size in enumerate(sizes)
    )
    return Instance(position=0, key="i", sessions=sessions, queries=queries)


class Corpus:
    def __init__(self, *instances, variant=None):
        self.instances = instances
        self.info = CorpusInfo(
            name="made-up",
            version="1",
            licence="unknown",
            sha256="0",
            tier="local-file",
            populations=(ANSWERABLE, OTHER_RULE, ALL),
            retrieval_variant=variant,
        )

    def __iter__(self):
        return iter(self.instances)


ABSTENTION = query(0, one=(), two=(), status="none_by_design", answerable=False)


@pytest.mark.parametrize(
    ("asked", "population", "reason"),
    [
        (query(0), ANSWERABLE, None),
        (query(0, status="partial"), ANSWERABLE, None),
        (ABSTENTION, ANSWERABLE, "unanswerable_by_design"),
        (ABSTENTION, ALL, "unanswerable_by_design"),
        (query(0, one=()), ANSWERABLE, "gold_unresolved"),
        (query(0, one=()), OTHER_RULE, None),
        (query(0, one=(0, 1)), ANSWERABLE, "haystack_is_evidence"),  # session 2 has no turns
        (query(0, one=(0,), two=(1,)), ANSWERABLE, "haystack_is_evidence"),  # together they cover
    ],
)
def test_exclusion(asked, population, reason):
    assert exclusion(asked, instance(asked), population) == reason
    assert reason is None or reason in REASONS


def test_the_haystack_is_held_against_each_query_alone():
    first, second = query(0, one=(0,), two=()), query(1, one=(1,), two=())
    both = instance(first, second)  # together they cover it, and each has a distractor
    assert exclusion(first, both, ANSWERABLE) is None
    assert exclusion(second, both, ANSWERABLE) is None


@pytest.mark.parametrize(
    ("asked", "population", "member"),
    [
        (query(0), ANSWERABLE, True),
        (query(0, status="partial"), ANSWERABLE, True),
        (query(0, one=()), ANSWERABLE, False),
        (query(0, one=()), OTHER_RULE, True),
        (ABSTENTION, ANSWERABLE, False),
        (ABSTENTION, ALL, True),
        (query(0, one=()), ALL, True),
    ],
)
def test_membership(asked, population, member):
    assert is_member(asked, population) is member


def test_counts_leave_nothing_out():
    queries = (
        query(0),
        query(1, status="partial"),
        query(2, one=()),
        query(3, one=(0, 1)),
        ABSTENTION,
    )
    counts = count_all(Corpus(instance(*queries), instance(query(0))))
    assert (counts.instances, counts.sessions, counts.empty_sessions) == (2, 6, 2)
    assert (counts.turns, counts.queries) == (4, 6)
    for one in counts.populations:
        assert one.measurable + sum(one.excluded.values()) == one.queries == 6
    answerable, other, everything = counts.populations
    assert answerable.excluded == {
        "unanswerable_by_design": 1,
        "gold_unresolved": 1,
        "haystack_is_evidence": 1,
    }
    assert (answerable.measurable, answerable.partial, answerable.members) == (3, 1, 4)
    assert other.members == 5
    assert (everything.measurable, everything.members) == (3, 6)


def test_one_population_counts_as_among_all():
    corpus = Corpus(instance(query(0), ABSTENTION))
    assert count(corpus, ALL) == count_all(corpus).populations[2]


def test_the_refusal_names_every_reason_its_count_and_the_variant():
    info = Corpus(variant="made-up-with-distractors").info
    excluded = {"unanswerable_by_design": 30, "haystack_is_evidence": 470, "gold_unresolved": 0}
    with pytest.raises(Refusal) as caught:
        refuse_unmeasurable(info, excluded)
    told = str(caught.value)
    assert caught.value.exit_code == 4
    assert "no query of made-up can be measured" in told
    assert told.index("470 of 500") < told.index("30 of 500")
    assert "gold_unresolved" not in told
    assert "use made-up-with-distractors" in told


def test_the_refusal_without_a_variant():
    with pytest.raises(Refusal, match="choose another population"):
        refuse_unmeasurable(Corpus().info, {"unanswerable_by_design": 3})
    with pytest.raises(Refusal, match="needs a corpus with distractors"):
        refuse_unmeasurable(Corpus().info, {"haystack_is_evidence": 3})
