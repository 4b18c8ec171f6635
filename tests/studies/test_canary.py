"""A sound ruler sees what was put there; a broken one is found out, whatever broke."""

import hashlib
from dataclasses import replace
from types import MappingProxyType

import msgspec
import numpy as np
import pytest

from memruler.compare import exact
from memruler.compare.refusal import Incomparable
from memruler.errors import Interrupted, Refusal, SystemUnderTestError, UsageError
from memruler.metrics import vectorised
from memruler.metrics.names import METRICS
from memruler.model.system import Ranking
from memruler.replay.run import measure
from memruler.scoring import levels
from memruler.scoring.score import score
from memruler.store.folder import RunFolder
from memruler.studies import canary_arms, canary_checks, canary_gate
from memruler.studies.canary import CanarySettings, canary, canary_of_run

ASK = CanarySettings(metric="recall_all@5", plant=3)


def quiet(*_):
    pass


def checks_of(found):
    return {check.name: check.seen for check in found.checks}


def test_a_sound_ruler_sees_everything(plan):
    found = canary(plan(), ASK, quiet)
    assert found.outcome == "sees"
    assert set(checks_of(found).values()) == {True}
    assert len(found.checks) == 19
    session, turn = found.levels
    assert (turn.level, turn.counted, turn.of, turn.degradable) == ("turn", 12, 12, 10)
    assert [step.queries for step in turn.steps] == [1, 2, 4, 8, 10]
    for step in (*session.steps, *turn.steps):
        assert step.found == step.expected == -step.queries / 12
    assert turn.smallest.effect == 1 / 12
    assert found.noisy is None


def test_the_planted_arm_lost_exactly_the_gold_that_is_counted(plan, word_system):
    seen = []
    word_system.on_ingest = lambda session: seen.append(len(session.turns))
    found = canary(plan(), ASK, quiet)
    planted = found.planted
    assert (planted.queries, planted.zero, planted.short) == (3, 3, 0)
    assert planted.verdict == "worse"
    assert planted.delta < 0
    # Base and its probe write 2 x 27 turns and some again; the planted arm as many, less the loss.
    whole = 2 * 27
    base, arm = sum(seen[: len(seen) // 2]), sum(seen[len(seen) // 2 :])
    assert base >= whole
    assert base - arm >= planted.turns
    assert planted.turns >= planted.queries


def test_another_seed_plants_elsewhere_and_is_seen_too(plan):
    outcomes = {canary(plan(), msgspec.structs.replace(ASK, seed=s), quiet).outcome for s in (1, 2)}
    assert outcomes == {"sees"}


def test_recall_any_too(plan):
    found = canary(plan(), msgspec.structs.replace(ASK, metric="recall_any@3"), quiet)
    assert found.outcome == "sees"


def formulas(**broken):
    return MappingProxyType({**vectorised._FORMULAS, **broken})


def ones(window):
    return np.ones(len(window.gold))


def noughts(window):
    return np.zeros(len(window.gold))


def ignores_gold(patch):
    patch.setattr(vectorised, "_FORMULAS", formulas(recall_all=ones))


def always_nought(patch):
    patch.setattr(vectorised, "_FORMULAS", formulas(recall_all=noughts))


def any_for_all(patch):
    patch.setattr(vectorised, "_FORMULAS", formulas(recall_all=vectorised._FORMULAS["recall_any"]))


def constant_scorer(patch):
    real = levels.score_matrix

    def score_matrix(*arguments):
        matrix = real(*arguments)
        values = {key: np.full_like(value, 0.5) for key, value in matrix._values.items()}
        return replace(matrix, _values=values)

    patch.setattr(levels, "score_matrix", score_matrix)


def one_rank_too_deep(patch):
    real = levels.score_matrix

    def score_matrix(relevance, observed, gold, cutoffs):
        pad = np.zeros((len(relevance), 1), bool)
        return real(np.hstack([relevance[:, 1:], pad]), np.maximum(observed - 1, 0), gold, cutoffs)

    patch.setattr(levels, "score_matrix", score_matrix)


def nothing_is_gold(patch):
    patch.setattr(levels, "relevance", lambda codes, *_: np.zeros(codes.shape, bool))


def everything_is_gold(patch):
    def relevance(codes, _, offsets):
        return np.arange(codes.shape[1]) < np.diff(offsets)[:, None]

    patch.setattr(levels, "relevance", relevance)


def counts_unmeasurable(patch):
    real = levels.score_matrix

    def score_matrix(*arguments):
        matrix = real(*arguments)
        return replace(matrix, _counted={k: ~of for k, of in matrix._counted.items()})

    patch.setattr(levels, "score_matrix", score_matrix)


def definition_and_formula(patch):
    """The referee is broken in the same way: only the known loss can tell."""
    patch.setattr(vectorised, "_FORMULAS", formulas(recall_all=ones))
    blind = replace(METRICS["recall_all"], definition=lambda *_: 1.0)
    patch.setattr(canary_arms, "METRICS", {**METRICS, "recall_all": blind})


def verdict_always_unchanged(patch):
    patch.setattr(exact, "verdict", lambda _: "unchanged")


def verdict_always_worse(patch):
    patch.setattr(exact, "verdict", lambda _: "worse")


def gains_are_called_worse(patch):
    patch.setattr(
        canary_checks, "verdict", lambda delta: "unchanged" if delta.delta == 0 else "worse"
    )


def small_losses_are_unchanged(patch):
    patch.setattr(
        canary_checks, "verdict", lambda delta: "worse" if delta.delta < -0.2 else "unchanged"
    )


def intervals_are_made_up(patch):
    real = canary_gate.paired_bootstrap

    def shifted(deltas):
        found = real(deltas)
        return msgspec.structs.replace(found, low=found.low + 0.1, high=found.high + 0.1)

    patch.setattr(canary_gate, "paired_bootstrap", shifted)


def gate_always_passes(patch):
    patch.setattr(canary_gate, "gate_interval", lambda _: ("pass", None))


@pytest.mark.parametrize(
    ("broken", "control"),
    [
        (ignores_gold, "turn: gold out of sight"),
        (always_nought, "turn: gold on top"),
        (any_for_all, "turn: all but one"),
        (constant_scorer, "turn: gold on top"),
        (one_rank_too_deep, "turn: gold on top"),
        (nothing_is_gold, "turn: gold on top"),
        (everything_is_gold, "turn: made worse"),
        (counts_unmeasurable, "turn: gold on top"),
        (definition_and_formula, "turn: made worse"),
        (verdict_always_unchanged, "planted: compared"),
        (verdict_always_worse, "an identical copy"),
        (gains_are_called_worse, "turn: reversed"),
        (small_losses_are_unchanged, "turn: made worse"),
        (intervals_are_made_up, "gate: intervals"),
        (gate_always_passes, "gate: outcomes"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_ruler_is_blind(plan, monkeypatch, broken, control):
    broken(monkeypatch)
    try:
        found = canary(plan(), ASK, quiet)
    except Refusal as refusal:
        # So broken that not a single number came out: that is no pass either.
        pytest.fail(f"refused instead: {refusal}")
    assert found.outcome == "blind"
    assert checks_of(found)[control] is False


def test_nothing_found_is_refused_with_how_many_could_lose(plan, word_system, monkeypatch):
    real = word_system.open

    def junk(namespace):
        memory = real(namespace)
        search = memory.search

        def last(text, k, at):
            # No query has its gold in these two sessions.
            hits = [h for h in search(text, 27, at).hits if h.sources[0][:5] in {"s0006", "s0007"}]
            return Ranking(tuple(hits[:k]))

        monkeypatch.setattr(memory, "search", last)
        return memory

    monkeypatch.setattr(word_system, "open", junk)
    with pytest.raises(Refusal, match=r"0 of \d+ that count") as caught:
        canary(plan(), msgspec.structs.replace(ASK, metric="recall_all@1"), quiet)
    assert "nothing can be made worse" in caught.value.reasons[-1]


def test_fewer_are_planted_where_fewer_can_lose(plan):
    found = canary(plan(), msgspec.structs.replace(ASK, plant=500), quiet)
    assert found.planted.queries == found.levels[1].degradable == 10
    assert found.outcome == "sees"


def test_whole_sessions_have_no_turn_to_lose(plan):
    found = canary(plan(granularity="session"), ASK, quiet)
    assert found.outcome == "sees"
    assert found.planted is None
    assert [level.level for level in found.levels] == ["session"]
    assert checks_of(found)["planted: compared"] is None


def test_lists_that_become_too_short_are_counted_apart(plan, corpus):
    # Two sessions of three turns, five of them ever returned: without one the list has no depth 6.
    small = [
        msgspec.structs.replace(i, sessions=i.sessions[:2], queries=i.queries[:1]) for i in corpus
    ]
    found = canary(plan(small), msgspec.structs.replace(ASK, metric="recall_all@6", plant=1), quiet)
    assert found.planted is None or found.planted.short == 1
    assert checks_of(found)["planted: every one at 0"] is None
    assert found.outcome == "sees"


def test_a_failed_search_is_no_part_of_it(plan, word_system):
    def fail(request):
        if request.text == "alpha0":
            raise SystemUnderTestError("gone")

    word_system.on_search = fail
    found = canary(plan(), ASK, quiet)
    assert found.outcome == "sees"
    assert found.levels[1].counted == 10


def test_a_system_that_draws_is_refused(plan, word_system):
    draws = iter(range(10**6))

    def shuffled(namespace, real=word_system.open):
        memory = real(namespace)
        search = memory.search

        def turned(text, k, at):
            hits = search(text, k, at).hits
            at_once = next(draws) % len(hits)
            return Ranking((*hits[at_once:], *hits[:at_once]))

        memory.search = turned
        return memory

    word_system.open = shuffled
    with pytest.raises(Incomparable, match="not deterministic"):
        canary(plan(), ASK, quiet)


def test_noise_is_simulated_only_where_it_is_assumed(plan):
    found = canary(plan(), msgspec.structs.replace(ASK, noise=0.2), quiet)
    assert found.noisy.items == 12
    assert found.noisy.effect > found.levels[0].smallest.effect
    assert found.noise == 0.2


def test_interrupted_keeps_nothing(plan, word_system):
    def stop(_):
        raise KeyboardInterrupt

    word_system.on_ingest = stop
    with pytest.raises(Interrupted, match="keeps nothing"):
        canary(plan(), ASK, quiet)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"metric": "ndcg@5"}, "values between 0 and 1"),
        ({"metric": "recall_pooled@5"}, "values between 0 and 1"),
        ({"metric": "recal@5"}, "unknown metric"),
        ({"metric": "recall_all@21"}, "looks deeper than the 20 hits"),
        ({"plant": 0}, "at least 1 query"),
        ({"noise": 0.0}, "0 of all labels"),
        ({"noise": float("nan")}, "nan of all labels"),
    ],
)
def test_what_cannot_be_asked(plan, asked, message):
    with pytest.raises(UsageError, match=message):
        canary(plan(), CanarySettings(**asked), quiet)


@pytest.fixture
def finished(tmp_path, plan):
    with RunFolder.claim(tmp_path, "run") as folder:
        measure(plan(), folder, quiet)
        score(folder, (1, 3))
    return folder.path


def digests(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def test_a_finished_run_is_asked_about_and_left_as_it_is(finished):
    before = digests(finished)
    found = canary_of_run(finished, ASK)
    assert digests(finished) == before
    assert found.outcome == "sees"
    assert found.planted is None
    assert not any(check.name.startswith("planted") for check in found.checks)
    assert found.levels[1].counted == 12


def test_a_finished_run_shows_a_broken_ruler(finished, monkeypatch):
    ignores_gold(monkeypatch)
    assert canary_of_run(finished, ASK).outcome == "blind"
