import msgspec
import pytest

from memruler.errors import (
    CorpusError,
    Interrupted,
    Refusal,
    SystemUnderTestError,
    UsageError,
)
from memruler.model.corpus import Evidence
from memruler.model.system import Hit, Ranking, SystemIdentity
from memruler.replay.begin import check_measurable
from memruler.replay.run import measure
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

SEALED = ("queries.parquet", "lineage.parquet", "trace.parquet")


def silent(*_):
    return None


def run(plan, root, stem="r"):
    with RunFolder.claim(root, stem) as folder:
        manifest = measure(plan, folder, silent)
    return manifest, RunFolder.open(root / stem)


def test_a_run_is_sealed_with_all_it_saw(tmp_path, make_plan, make_instance, word_system):
    plan = make_plan(word_system, [make_instance(0), make_instance(1)], limit=3)
    manifest, folder = run(plan, tmp_path)
    assert manifest.state == "sealed"
    assert manifest.counts == {
        "instances": 2, "sessions": 8, "turns": 8, "queries": 6, "members": 6,
    }  # fmt: skip
    assert manifest.span_days == (3.0, 3.0)
    assert manifest.determinism.queries == manifest.determinism.identical == 6
    assert manifest.determinism.of == 6
    assert not manifest.determinism.other_process  # the plan has live objects
    assert not manifest.lineage_exported
    trace = read_table(folder, "trace").to_pylist()
    assert len(trace) == 6
    assert [len(row["items"]) for row in trace] == [3] * 6
    lineage = read_table(folder, "lineage").to_pylist()
    # The best hit of query q of instance i is the turn of session q of instance i.
    best = [lineage[row["items"][0]] for row in trace]
    assert [(b["instance"], b["sessions"]) for b in best] == [
        (i, [q]) for i in range(2) for q in range(3)
    ]
    assert not (tmp_path / "r" / "stores").exists()
    assert not (tmp_path / "r" / "journal.jsonl").exists()


def test_every_instance_gets_a_fresh_namespace_and_is_closed(
    tmp_path, make_plan, make_instance, word_system
):
    run(make_plan(word_system, [make_instance(0), make_instance(1)]), tmp_path)
    # Two instances, and both again to measure determinism.
    assert len(word_system.opened) == word_system.closed == 4
    assert len({n.folder for n in word_system.opened}) == 4
    names = {n.name for n in word_system.opened}
    assert len(names) == 4
    assert not any("inst" in name or "-r-" in name for name in names)


@pytest.mark.parametrize("at", range(8))
def test_interrupted_anywhere_it_resumes_to_the_same_bytes(
    tmp_path, make_plan, make_instance, word_system, at
):
    instances = [make_instance(0), make_instance(1), make_instance(2, queries=2)]
    run(make_plan(word_system, instances), tmp_path, "whole")
    seen = 0

    def stop(_):
        nonlocal seen
        seen += 1
        if seen == at + 1:
            raise KeyboardInterrupt

    word_system.on_search = stop
    told = "--stem cut" if at >= 3 else "before one instance was finished"
    with pytest.raises(Interrupted, match=told):
        run(make_plan(word_system, instances), tmp_path, "cut")
    assert (tmp_path / "cut").exists() == (at >= 3)
    manifest, _ = run(make_plan(word_system, instances), tmp_path, "cut")
    # An instance has three queries: before the first is done, nothing counts yet.
    assert manifest.resumed == (1 if at >= 3 else 0)
    for name in SEALED:
        whole, cut = (tmp_path / stem / name for stem in ("whole", "cut"))
        assert whole.read_bytes() == cut.read_bytes()


def test_a_run_resumed_with_other_settings_is_refused(
    tmp_path, make_plan, make_instance, word_system
):
    def stop(_):
        if len(word_system.opened) == 2:
            raise KeyboardInterrupt

    word_system.on_search = stop
    instances = [make_instance(0), make_instance(1)]
    with pytest.raises(Interrupted):
        run(make_plan(word_system, instances), tmp_path)
    with pytest.raises(UsageError, match="another retrieval"):
        run(make_plan(word_system, instances, limit=7), tmp_path)


def test_a_folder_of_which_nothing_counts_is_begun_anew(
    tmp_path, make_plan, make_instance, word_system
):
    def stop(_):
        raise KeyboardInterrupt

    word_system.on_search = stop
    with pytest.raises(Interrupted):
        run(make_plan(word_system, [make_instance(0)]), tmp_path)
    word_system.on_search = lambda _: None
    manifest, _ = run(make_plan(word_system, [make_instance(0)], limit=7), tmp_path)
    assert manifest.fingerprint["retrieval"] == {"limit": 7}


def test_a_run_that_fails_at_once_leaves_nothing(tmp_path, make_plan, make_instance, word_system):
    def fail(_):
        raise SystemUnderTestError("no room")

    word_system.on_ingest = fail
    with pytest.raises(SystemUnderTestError, match=r"no room \[instance inst-0\]"):
        run(make_plan(word_system, [make_instance(0)]), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_fails_later_keeps_what_counts(tmp_path, make_plan, make_instance, word_system):
    def fail(_):
        if len(word_system.opened) == 2:
            raise SystemUnderTestError("no room")

    word_system.on_ingest = fail
    instances = [make_instance(0), make_instance(1)]
    with pytest.raises(SystemUnderTestError):
        run(make_plan(word_system, instances), tmp_path)
    word_system.on_ingest = lambda _: None
    manifest, _ = run(make_plan(word_system, instances), tmp_path)
    assert manifest.resumed == 1


def test_a_sealed_folder_without_a_report_belongs_to_its_own_run(
    tmp_path, make_plan, make_instance, word_system
):
    run(make_plan(word_system, [make_instance(0)]), tmp_path)
    with pytest.raises(UsageError, match="another retrieval"):
        run(make_plan(word_system, [make_instance(0)], limit=7), tmp_path)
    manifest, _ = run(make_plan(word_system, [make_instance(0)]), tmp_path)
    assert manifest.state == "sealed"


def test_failures_of_finished_instances_count_on_resume(
    tmp_path, make_plan, make_instance, word_system
):
    def fail(request):
        if len(word_system.opened) == 2:
            raise KeyboardInterrupt
        if request.text in {"word0", "word1"}:
            raise SystemUnderTestError("down")

    word_system.on_search = fail
    instances = [make_instance(i, sessions=6, queries=6) for i in range(3)]
    with pytest.raises(Interrupted):
        run(make_plan(word_system, instances), tmp_path)

    def again(request):
        if request.text in {"word0", "word1", "word2"}:
            raise SystemUnderTestError("down")

    word_system.on_search = again
    with pytest.raises(SystemUnderTestError, match="5 of 12 searches failed"):
        run(make_plan(word_system, instances), tmp_path)


def test_a_finished_folder_is_not_overwritten(tmp_path, make_plan, make_instance, word_system):
    plan = make_plan(word_system, [make_instance(0)])
    run(plan, tmp_path)
    (tmp_path / "r" / "report.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="finished run"):
        run(plan, tmp_path)


def test_a_failed_search_is_an_error_and_no_empty_list(
    tmp_path, make_plan, make_instance, word_system
):
    def fail(request):
        if request.text == "word1":
            raise SystemUnderTestError("lost the connection")

    word_system.on_search = fail
    _, folder = run(make_plan(word_system, [make_instance(0)]), tmp_path)
    errors = read_table(folder, "trace").column("error").to_pylist()
    assert errors == [None, "lost the connection", None]


def test_too_many_failures_stop_the_run(tmp_path, make_plan, make_instance, word_system):
    asked = []

    def fail(_):
        asked.append(1)
        raise SystemUnderTestError("down", kind="timeout")

    word_system.on_search = fail
    with pytest.raises(SystemUnderTestError, match="5 of 6 searches failed, one with: down"):
        run(make_plan(word_system, [make_instance(0, sessions=6, queries=6)]), tmp_path)
    assert len(asked) == 5  # a server that hangs costs its whole time limit with each


def test_failures_are_counted_by_kind(tmp_path, make_plan, make_instance, word_system):
    kinds = iter(["timeout", "http 5xx", "timeout"])

    def fail(_):
        if kind := next(kinds, None):
            raise SystemUnderTestError("down", kind=kind)

    word_system.on_search = fail
    manifest, folder = run(
        make_plan(word_system, [make_instance(0, sessions=9, queries=9)]), tmp_path
    )
    assert any("3 of 9 searches failed (2 timeout, 1 http 5xx)" in w for w in manifest.warnings)
    assert read_table(folder, "trace").column("error").null_count == 6


def test_more_hits_than_asked_for_break_the_contract(
    tmp_path, make_plan, make_instance, word_system
):
    word_system.extra = 1
    with pytest.raises(SystemUnderTestError, match="4 hits where at most 3"):
        run(make_plan(word_system, [make_instance(0, sessions=9)], limit=3), tmp_path)


def test_a_system_that_ranks_anew_each_time_is_found_out(
    tmp_path, make_plan, make_instance, word_system
):
    def drift(_):
        word_system.extra = -len(word_system.opened)

    word_system.on_search = drift
    manifest, _ = run(make_plan(word_system, [make_instance(0)], limit=3), tmp_path)
    assert manifest.determinism.identical == 0
    assert "not deterministic: 3 of 3" in manifest.warnings[0]


def test_nothing_measurable_is_refused_before_anything_is_written(
    make_plan, make_instance, word_system
):
    instance = make_instance(0)
    none = (Evidence(rule="labels", status="none_by_design"),)
    queries = tuple(
        msgspec.structs.replace(q, evidence=none, answerable=False) for q in instance.queries
    )
    plan = make_plan(word_system, [msgspec.structs.replace(instance, queries=queries)])
    with pytest.raises(Refusal, match="unanswerable_by_design"):
        check_measurable(plan.corpus, plan.settings)


@pytest.mark.parametrize("field", ["sessions", "queries"])
def test_an_empty_corpus_is_said_to_be_empty(make_plan, make_instance, word_system, field):
    instance = msgspec.structs.replace(make_instance(0), **{field: ()})
    plan = make_plan(word_system, [instance])
    with pytest.raises(CorpusError, match="the corpus has no"):
        check_measurable(plan.corpus, plan.settings)


def test_instances_and_queries_can_be_limited(tmp_path, make_plan, make_instance, word_system):
    plan = make_plan(word_system, [make_instance(0), make_instance(1)], instances=1, queries=2)
    manifest, _ = run(plan, tmp_path)
    assert manifest.counts["instances"] == 1
    assert manifest.counts["queries"] == 2
    assert manifest.fingerprint["corpus"]["queries"] == 2


class VerbatimMemory:
    """Returns what it was given, in order, and says neither where from nor what it is."""

    def __init__(self):
        self.texts = []

    def ingest(self, session):
        self.texts += [turn.text for turn in session.turns]

    def settle(self):
        pass

    def search(self, text, k, at):
        del text, at
        hits = [Hit(item=f"row {n}", text=f"{t}\n") for n, t in enumerate(self.texts)]
        return Ranking(tuple(hits[:k]))

    def close(self):
        pass


class VerbatimSystem:
    """Opens `VerbatimMemory`."""

    def identity(self):
        return SystemIdentity(name="verbatim", version="1", digest="d" * 64)

    def open(self, namespace):
        del namespace
        return VerbatimMemory()


def test_a_verbatim_store_is_known_by_its_texts(tmp_path, make_plan, make_instance):
    plain = make_instance(0)
    twice = plain.sessions[0].turns
    sessions = (
        *plain.sessions,
        msgspec.structs.replace(plain.sessions[0], position=4, turns=twice),
    )
    instances = [make_instance(1), msgspec.structs.replace(plain, sessions=sessions)]
    manifest, folder = run(make_plan(VerbatimSystem(), instances), tmp_path)
    rows = read_table(folder, "lineage").to_pylist()
    assert {(row["kind"], row["attribution"], len(row["turns"])) for row in rows} == {
        ("turn", "text", 1),
        ("unknown", "unknown", 0),
    }
    assert manifest.warnings[0] == (
        "attribution of stored items: 7 by their text, 2 unknown (2 have the text of two or more "
        "units)"
    )
