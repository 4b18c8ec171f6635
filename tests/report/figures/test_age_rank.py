from datetime import timedelta

import msgspec
import pytest

from memruler.errors import UsageError
from memruler.replay.run import measure
from memruler.report.figures.age_rank import age_rank
from memruler.report.figures.record import Missing
from memruler.scoring.score import score
from memruler.store.folder import RunFolder


@pytest.fixture
def measured(tmp_path, make_plan, word_system):
    """A measured and scored run with its corpus."""

    def build(instances, name="r", limit=4):
        plan = make_plan(word_system, instances, limit=limit)
        with RunFolder.claim(tmp_path, name) as folder:
            measure(plan, folder, lambda *_: None)
            summary = score(folder, (1, 3))
        return tmp_path / name, plan.corpus, summary

    return build


def undated(instance):
    sessions = [msgspec.structs.replace(s, time=None) for s in instance.sessions]
    return msgspec.structs.replace(instance, sessions=tuple(sessions))


def test_every_gold_turn_counts_once(measured, make_instance):
    path, corpus, summary = measured([make_instance(0), make_instance(1)])
    figure = age_rank([path], corpus=corpus)
    head, *rows = figure.table
    assert head == ["run", "days", "rank 1", "rank 2 to 4", "not found", "all"]
    # Query q asks for the only turn of session q, which is found first, always.
    totals = [sum(int(row[at]) for row in rows) for at in range(2, 6)]
    assert totals == [6, 0, 0, 6]
    pooled = next(
        c.values["recall_pooled"]
        for c in summary.slices[0].cutoffs
        if (c.level, c.k) == ("turn", 1)
    )
    assert pooled == totals[0] / totals[3]
    assert "6 gold turns of 6 measured queries" in figure.caption


def test_ages_are_days_before_the_question(measured, make_instance, texts):
    made = make_instance(0)
    asked = made.sessions[-1].time + timedelta(days=10)
    queries = [msgspec.structs.replace(q, time=asked) for q in made.queries]
    path, corpus, _ = measured([msgspec.structs.replace(made, queries=tuple(queries))])
    figure = age_rank([path], corpus=corpus)
    # Sessions are a day apart: evidence is 13, 12 and 11 days old.
    rows = [row for row in figure.table[1:] if row[-1] != "0"]
    assert rows[0][1].startswith("11")
    assert rows[-1][1].endswith("13")
    assert sum(int(row[-1]) for row in rows) == 3
    assert "days from the evidence to the question" in texts(figure)


def test_two_runs_share_their_bins(measured, make_instance, parsed):
    path, corpus, _ = measured([make_instance(0)])
    other, _, _ = measured([make_instance(0)], "s")
    figure = age_rank([path, other], corpus=corpus)
    assert len(parsed(figure.svg).findall("svg")) == 2
    by_run = {name: [row[1] for row in figure.table[1:] if row[0] == name] for name in "rs"}
    assert by_run["r"] == by_run["s"]


def test_why_there_is_none(measured, make_instance):
    assert age_rank([]) is None
    path, corpus, _ = measured([make_instance(0)])
    without = age_rank([path])
    assert isinstance(without, Missing)
    assert "does not hold when its sessions took place" in without.reason
    path, corpus, _ = measured([undated(make_instance(0))], "undated")
    found = age_rank([path], corpus=corpus)
    assert isinstance(found, Missing)
    assert "has a time" in found.reason


def test_another_corpus_is_refused(measured, make_instance):
    path, corpus, _ = measured([make_instance(0)])
    corpus.info = msgspec.structs.replace(corpus.info, sha256="1" * 64)
    with pytest.raises(UsageError, match="not the one of the run"):
        age_rank([path], corpus=corpus)
