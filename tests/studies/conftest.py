"""A corpus with distractors and a memory that finds some of its evidence."""

import shutil
from datetime import datetime, timedelta

import pytest

from memruler.model.corpus import Evidence, Instance, Query, Session, Turn, TurnRef


def haystack(position, sessions=9):
    """Three turns a session; query q asks for turns 0 of sessions q and q + 1, or of q alone."""
    turns = ("alpha{0}", "beta{0}", "gamma{0}")
    queries = []
    for q in range(5):
        gold = (q, q + 1) if q % 2 else (q,)
        evidence = Evidence(
            rule="labels", status="ok", turns=tuple(TurnRef(s, 0) for s in gold), sessions=gold
        )
        text = " ".join(f"alpha{s}" for s in gold)
        queries.append(Query(position=q, text=text, category="any", evidence=(evidence,)))
    # Nobody's memory finds this one by its words.
    lost = Evidence(rule="labels", status="ok", turns=(TurnRef(8, 1),), sessions=(8,))
    queries.append(Query(position=5, text="gamma0", category="any", evidence=(lost,)))
    return Instance(
        position=position,
        key=f"inst-{position}",
        sessions=tuple(
            Session(
                position=s,
                time=datetime(2023, 5, 1) + timedelta(days=s),
                turns=tuple(
                    Turn(position=t, speaker="Ann", text=text.format(s))
                    for t, text in enumerate(turns)
                ),
            )
            for s in range(sessions)
        ),
        queries=tuple(queries),
    )


@pytest.fixture
def corpus():
    return [haystack(0), haystack(1)]


@pytest.fixture
def plan(make_plan, word_system, corpus):
    """Settings of the run, and what the corpus holds, may be given."""

    def build(instances=None, **settings):
        return make_plan(word_system, instances or corpus, **settings)

    return build


@pytest.fixture
def copied(finished, tmp_path):
    """The finished runs of a study, to be damaged; each file has a `finished` of its own."""
    shutil.copytree(finished[0] / "runs", tmp_path / "runs")
    return tmp_path
