"""A system's own answers: asked for only when a person says so, after and apart from searches."""

import pytest

from memruler.errors import Interrupted, SystemUnderTestError, UsageError
from memruler.model.system import Hit, Ranking, SystemIdentity
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table


class Speaking:
    """Ranks what it has in order, and answers by `say`; keeps what it was asked, in order."""

    def __init__(self, say=None, many=False):
        self.said, self.many = [], many
        self.say = say or (lambda text: f"said {text}")

    def identity(self):
        return SystemIdentity(name="speaking", version="1", digest="d" * 64)

    def open(self, namespace):
        del namespace
        return (_Many if self.many else _One)(self)


class _One:
    def __init__(self, system):
        self.system, self.keys = system, []

    def ingest(self, session):
        self.keys += [turn.key for turn in session.turns]

    def settle(self):
        pass

    def search(self, text, k, at):
        self.system.said.append(("search", text, at))
        return Ranking(tuple(Hit(item=key, sources=(key,)) for key in self.keys[:k]))

    def answer(self, text, at):
        self.system.said.append(("answer", text, at))
        return self.system.say(text)

    def close(self):
        pass


class _Many(_One):
    def search_many(self, requests):
        return [self.search(r.text, r.k, r.at) for r in requests]


def run(plan, root, stem="r"):
    with RunFolder.claim(root, stem) as folder:
        manifest = measure(plan, folder, lambda *_: None)
    return manifest, read_table(RunFolder.open(root / stem), "trace").to_pylist()


@pytest.mark.parametrize("many", [True, False])
def test_answers_are_asked_after_all_searches_at_their_time(
    tmp_path, make_plan, make_instance, many
):
    system = Speaking(many=many)
    manifest, trace = run(make_plan(system, [make_instance(0)], answers=True), tmp_path)
    assert [row["answer"] for row in trace] == ["said word0", "said word1", "said word2"]
    assert [row["answer_error"] for row in trace] == [None] * 3
    kinds = [kind for kind, _, _ in system.said]
    # The second round of searches is the probe of determinism, which asks for no answer.
    assert kinds == ["search"] * 3 + ["answer"] * 3 + ["search"] * 3
    assert len({at for _, _, at in system.said}) == 1
    assert manifest.fingerprint["retrieval"] == {"limit": 20, "answers": True}
    assert (manifest.counts["answered"], manifest.counts["unanswered"]) == (3, 0)
    assert manifest.counts["answer_failed"] == 0


def test_nobody_asks_unless_told_to(tmp_path, make_plan, make_instance):
    system = Speaking()
    manifest, trace = run(make_plan(system, [make_instance(0)]), tmp_path)
    assert {kind for kind, _, _ in system.said} == {"search"}
    assert [(row["answer"], row["answer_error"]) for row in trace] == [(None, None)] * 3
    assert manifest.fingerprint["retrieval"] == {"limit": 20}
    assert "answered" not in manifest.counts


def test_rankings_are_the_same_bytes_but_for_the_answers(tmp_path, make_plan, make_instance):
    for answers in (True, False):
        run(make_plan(Speaking(), [make_instance(0)], answers=answers), tmp_path, f"r{answers}")
    for name in ("queries.parquet", "lineage.parquet"):
        assert len({(tmp_path / s / name).read_bytes() for s in ("rTrue", "rFalse")}) == 1
    told, silent = (
        read_table(RunFolder.open(tmp_path / stem), "trace").drop_columns("answer")
        for stem in ("rTrue", "rFalse")
    )
    assert told.equals(silent)


def test_a_failing_answer_is_no_failing_search(tmp_path, make_plan, make_instance):
    def say(text):
        if text == "word1":
            raise SystemUnderTestError("no credit left")
        return None if text == "word2" else ""

    manifest, trace = run(make_plan(Speaking(say), [make_instance(0)], answers=True), tmp_path)
    assert [row["answer"] for row in trace] == ["", None, None]
    assert [row["answer_error"] for row in trace] == [None, "no credit left", None]
    assert [row["error"] for row in trace] == [None] * 3
    assert [len(row["items"]) for row in trace] == [4] * 3
    counts = [manifest.counts[key] for key in ("answered", "unanswered", "answer_failed")]
    assert counts == [1, 1, 1]
    assert "own answer failed at 1 of 3 queries" in " ".join(manifest.warnings)


def test_answers_that_all_fail_stop_no_run(tmp_path, make_plan, make_instance):
    def say(_):
        raise SystemUnderTestError("down")

    plan = make_plan(Speaking(say), [make_instance(i) for i in range(5)], answers=True)
    manifest, _ = run(plan, tmp_path)
    assert manifest.counts["answer_failed"] == 15


def test_a_system_that_does_not_answer_is_refused_and_leaves_nothing(
    tmp_path, make_plan, make_instance, word_system
):
    with pytest.raises(UsageError, match=r"no `answer`.*leave out --answers"):
        run(make_plan(word_system, [make_instance(0)], answers=True), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert word_system.closed == 1


def test_a_run_begun_without_answers_is_not_resumed_with_them(tmp_path, make_plan, make_instance):
    instances = [make_instance(0), make_instance(1)]
    system = Speaking()

    def stop(*_):
        if len(system.said) > 3:
            raise KeyboardInterrupt
        return Ranking(())

    system.said = _Counted(stop)
    with pytest.raises(Interrupted):
        run(make_plan(system, instances), tmp_path)
    with pytest.raises(UsageError, match="another retrieval"):
        run(make_plan(Speaking(), instances, answers=True), tmp_path)


class _Counted(list):
    """A list that tells of every addition."""

    def __init__(self, then):
        super().__init__()
        self.then = then

    def append(self, entry):
        super().append(entry)
        self.then()


def test_what_is_resumed_has_the_answers_of_before(tmp_path, make_plan, make_instance):
    instances = [make_instance(i) for i in range(3)]
    whole, expected = run(make_plan(Speaking(), instances, answers=True), tmp_path, "whole")

    def say(text):
        if len([1 for kind, _, _ in system.said if kind == "answer"]) == 5:
            raise KeyboardInterrupt
        return f"said {text}"

    system = Speaking(say)
    with pytest.raises(Interrupted, match="1 finished instance is kept"):
        run(make_plan(system, instances, answers=True), tmp_path, "cut")
    found, trace = run(make_plan(Speaking(), instances, answers=True), tmp_path, "cut")
    assert trace == expected
    assert found.counts == whole.counts


def test_settings_say_whether_answers_were_asked_for():
    spec = PlanSpec(corpus="synthetic", settings={"answers": True}, typed=("answers",))
    plan = plan_run(spec)
    assert plan.chosen["answers"] is True
    assert plan_run(PlanSpec(corpus="synthetic")).defaulted["answers"] is False
