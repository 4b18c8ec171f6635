import numpy as np
import pytest

from memruler.errors import Refusal, UsageError
from memruler.replay.run import measure
from memruler.scoring.score import score
from memruler.stats.power import needed, smallest_effect
from memruler.stats.power_record import OneQuery
from memruler.store.folder import RunFolder
from memruler.studies.power import Pilot, study
from memruler.studies.power_pilot import read_pilot

BINARY = np.array([1.0] * 10 + [0.0] * 85 + [-1.0] * 5)


def pilot(deltas=BINARY, clusters=None, *, deterministic=False):
    return Pilot(
        base="a",
        candidate="b",
        metric="recall_all@5",
        cluster=None if clusters is None else "group",
        deltas=deltas,
        clusters=clusters,
        deterministic=deterministic,
    )


def test_between_deterministic_runs_one_query_is_a_fact():
    found = study(pilot(deterministic=True), effect=0.02)
    assert found.ruler == "exact"
    assert found.smallest == OneQuery(effect=0.01, counted=100)
    assert found.needed == OneQuery(effect=0.02, counted=50)
    assert (found.curve, found.repeats, found.by_repeats) == ((), None, ())
    assert found.no_repeats == "a deterministic ruler gives the same again"


@pytest.mark.parametrize(("effect", "queries"), [(0.03, 34), (1, 1), (0.1, 10), (1 / 49, 49)])
def test_queries_of_which_one_is_no_larger(effect, queries):
    assert study(pilot(deterministic=True), effect=effect).needed.counted == queries


def test_a_sample_is_simulated():
    groups = np.arange(100) // 4
    for given in (pilot(clusters=groups), pilot(clusters=groups, deterministic=True)):
        found = study(given, effect=0.05, sample=given.deterministic)
        assert found.ruler == "sample"
        assert found.smallest == smallest_effect(BINARY, groups)
        assert found.needed == needed(0.05, BINARY, groups)
        assert [at.clusters for at in found.curve] == [12, 25, 50, 100, 200]
        assert (found.items, found.clusters) == (100, 25)
        assert "nothing can be said about repeats" in found.no_repeats


def test_repeats_are_told_apart_where_there_are_some():
    rng = np.random.default_rng(1)
    deltas = rng.normal(0, 0.1, (60, 1)) + rng.normal(0, 0.2, (60, 3))
    found = study(pilot(deltas), effect=0.05)
    assert found.no_repeats is None
    assert found.repeats.repeats == 3
    assert [need.at.repeats for need in found.by_repeats] == [1, 2, 3, 5, 10]
    assert found.by_repeats[2] == found.needed
    items = [need.at.items for need in found.by_repeats]
    assert items == sorted(items, reverse=True)


def test_without_an_effect_only_the_smallest():
    found = study(pilot())
    assert (found.needed, found.curve) == (None, ())


def test_an_effect_in_another_unit():
    rng = np.random.default_rng(1)
    assert study(pilot(rng.normal(0, 20, 50)), effect=5.0).needed.at.power >= 0.8
    with pytest.raises(UsageError, match="effect of 5"):
        study(pilot(deterministic=True), effect=5.0)


@pytest.fixture
def run(tmp_path, plan):
    def build(stem, instances=None, **settings):
        with RunFolder.claim(tmp_path, stem) as folder:
            measure(plan(instances, **settings), folder, lambda *_: None)
            score(folder, (1, 5))
        return folder.path

    return build


def test_two_runs_as_a_pilot(run):
    left, right = run("left"), run("right", limit=5)
    found = read_pilot(left, right, metric="recall_any@1", cluster="conversation")
    assert found.deterministic
    assert found.metric == "session:recall_any@1"
    assert (len(found.deltas), set(found.clusters)) == (12, {"inst-0", "inst-1"})
    assert not found.deltas.any()
    assert set(read_pilot(left, right, cluster="category").clusters) == {"any"}


def test_runs_that_are_no_pair(run, corpus):
    left, other = run("left"), run("other", corpus[:1])
    with pytest.raises(Refusal, match="items are only in left"):
        read_pilot(left, other)
    with pytest.raises(UsageError, match="no such metric"):
        read_pilot(left, run("same"), metric="recall_all@3")
