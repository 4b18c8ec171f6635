"""Baselines: what is kept, what a check says, and what breaks it."""

import hashlib
import json
import multiprocessing
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from memruler.errors import ChecksumError, FormatError, InstrumentError, UsageError
from memruler.model.run import Determinism
from memruler.store.folder import RunFolder
from memruler.studies import baseline_accept
from memruler.studies.baseline_accept import accept, in_ci, propose, single_flight
from memruler.studies.baseline_check import check
from memruler.studies.baseline_folder import FILES, SUMS, exists, read_baseline, verified

_spec = spec_from_file_location(
    "run_folders", Path(__file__).parents[1] / "compare" / "conftest.py"
)
_folders = module_from_spec(_spec)
_spec.loader.exec_module(_folders)

make_run = _folders.make_run
A = _folders.QUERIES_A
BETTER = (*A[:3], A[3]._replace(session="x....", turn="x...."), A[4])
WORSE = (A[0]._replace(session="....."), *A[1:])
CODE = {"system.digest": "9" * 64}


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


def _page(found):
    return f"# {found.outcome}\n"


@pytest.fixture
def put(tmp_path):
    """Accepts a run as the baseline, and gives its folder."""

    def build(run, name="baseline"):
        out, baseline = tmp_path / f"{name}-proposal", tmp_path / name
        propose(run, baseline, out, page=_page)
        assert accept(out, baseline) is True
        return baseline

    return build


# What is kept.


def test_it_keeps_scores_and_no_text(make_run, put):
    run = make_run("first")
    baseline = put(run)
    assert {path.name for path in baseline.iterdir()} == {*FILES, SUMS}
    text = b"".join(path.read_bytes() for path in baseline.iterdir())
    assert b"Where did Ada go?" not in text
    assert b"Paris" not in text
    header = json.loads((baseline / "baseline.json").read_bytes())
    assert header["replaces"] is None
    assert header["manifest"]["fingerprint"]["system"]["name"] == "builtin:dense"
    assert header["manifest"]["chosen"] == header["manifest"]["defaulted"] == {}
    columns = pq.read_schema(baseline / "questions.parquet").names
    assert columns == ["instance", "instance_key", "query", "id", "category", "text_sha256"]
    for line in (baseline / SUMS).read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((baseline / name).read_bytes()).hexdigest() == digest


def test_the_same_run_gives_the_same_bytes(make_run, put):
    run = make_run("first")
    one, other = put(run, "one"), put(run, "other")
    for name in (*FILES, SUMS):
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_it_reads_back_as_the_run(make_run, put):
    run = make_run("first")
    baseline = put(run)
    loaded = read_baseline(baseline, verified(baseline))
    whole = RunFolder.open(run).manifest()
    assert loaded.manifest == msgspec.structs.replace(whole, chosen={}, defaulted={})
    assert loaded.scores["turn"].columns["recall_all@1"][("conv-1", 0)] == 1.0
    assert loaded.scores["session"].excluded == {("conv-2", 1): "unanswerable"}
    assert {q.text for q in loaded.queries.values()} != {"Where did Ada go?"}


# What a check says.


def test_nothing_moved(make_run, put):
    found = check(make_run("same"), put(make_run("first")))
    assert (found.outcome, found.verdict, found.code) == ("unchanged", "unchanged", 0)
    assert (found.figures.delta, found.figures.wins, found.figures.losses) == (0, 0, 0)
    assert found.baseline == "first"


@pytest.mark.parametrize(
    ("queries", "verdict", "delta"), [(BETTER, "better", 0.25), (WORSE, "worse", -0.25)]
)
def test_a_score_that_moved_is_no_fault(make_run, put, queries, verdict, delta):
    baseline = put(make_run("first"))
    found = check(make_run("new", queries, changes=CODE), baseline)
    assert (found.outcome, found.verdict, found.code) == ("moved", verdict, 0)
    assert found.figures.delta == delta
    assert [d.key for d in found.changed] == ["system.digest"]
    assert found.notes == ()
    assert {q.text for q in found.exact.queries} == {""}


def test_a_question_that_moved_elsewhere_is_told(make_run, put):
    baseline = put(make_run("first"))
    # One turn rank better: no metric of the session level changes.
    elsewhere = (*A[:1], A[1]._replace(turn="x...."), *A[2:])
    found = check(make_run("new", elsewhere, changes=CODE), baseline)
    assert (found.outcome, found.verdict, found.figures.delta) == ("moved", "unchanged", 0)
    assert [q.query for q in found.exact.queries] == [1]


def test_a_move_that_nothing_explains_is_told_and_not_refused(make_run, put):
    found = check(make_run("new", WORSE), put(make_run("first")))
    assert (found.outcome, found.code) == ("moved", 0)
    assert "changed without changing its identity" in found.notes[0]


def test_settings_of_the_system_are_watched_and_its_name_is_not(make_run, put):
    baseline = put(make_run("first"))
    watched = {"system.settings.decay_rate": 0.0, "system.version": "2"}
    found = check(make_run("new", changes=watched), baseline)
    assert {d.key for d in found.changed} == set(watched)
    other = check(make_run("other", changes={"system.name": "mine"}), baseline)
    assert (other.outcome, other.code) == ("incomparable", 4)
    declared = make_run("declared", changes={"system.name": "mine"})
    assert check(declared, baseline, changed=["system"]).outcome == "unchanged"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"corpus.sha256": "0" * 64}, "corpus"),
        ({"population.digest": "0" * 64}, "population"),
        ({"ruler.version": "2"}, "ruler"),
        ({"retrieval.limit": 10}, "undeclared"),
    ],
)
def test_what_must_not_be_compared_is_refused(make_run, put, changes, code):
    found = check(make_run("new", WORSE, changes=changes), put(make_run("first")))
    assert (found.outcome, found.verdict, found.code) == ("incomparable", None, 4)
    assert found.figures is None
    assert [reason.code for reason in found.refused.reasons] == [code]


@pytest.mark.parametrize("changed", [(), ("embedder",), ("embedder.model_sha256",)])
def test_another_embedder_is_loud_even_when_declared(make_run, put, changed):
    baseline = put(make_run("first"))
    run = make_run("new", WORSE, changes={"embedder.model_sha256": "0" * 64})
    found = check(run, baseline, changed=changed)
    assert (found.outcome, found.code) == ("incomparable", 4)
    assert found.refused.reasons[0].what.startswith("THE EMBEDDER IS ANOTHER ONE")


def test_other_questions_are_refused_by_their_digests(make_run, put):
    other = (A[0]._replace(text="Where did Bob go?"), *A[1:])
    found = check(make_run("new", other), put(make_run("first")))
    assert (found.outcome, found.code) == ("incomparable", 4)
    assert found.refused.reasons[0].what.startswith("1 queries are not in both")


def test_lists_that_became_shorter_cost_what_they_lack(make_run, put):
    baseline = put(make_run("first"))
    # What is asked for is found in each list that is left: over shared queries nothing is lost.
    shorter = (A[0], A[1]._replace(session="x..", turn="..x"), *A[2:])
    run = make_run("new", shorter, changes=CODE)
    found = check(run, baseline)
    assert (found.outcome, found.code) == ("moved", 0)
    assert found.notes[0].startswith("LISTS BECAME SHORTER OR LONGER: recall_all@5")
    assert "by -0.25 over all 4 measured queries" in found.notes[0]
    assert found.figures.metric == "recall_all@3"
    asked = check(run, baseline, metric="recall_all@5")
    assert (asked.outcome, asked.code) == ("incomparable", 4)
    assert asked.refused.reasons[0].code == "shared_and_floor_disagree"
    longer = (A[0], A[1], A[2]._replace(session="x..x.."), *A[3:])
    assert check(make_run("longer", longer, changes=CODE), baseline).code == 0


def test_a_draw_carries_an_interval(make_run, put):
    noisy = Determinism(instances=1, queries=3, identical=2, of=3, other_process=True)
    baseline = put(make_run("first"))
    run = make_run("new", WORSE, changes=CODE, fields={"determinism": noisy})
    found = check(run, baseline)
    assert (found.outcome, found.verdict, found.code) == ("unresolved", None, 0)
    assert found.exact is None
    assert found.interval.interval.low <= found.figures.delta <= found.interval.interval.high
    assert found.figures.delta == -0.25
    assert found.figures.base == 0.75


def test_no_baseline_is_no_fault_of_the_run(make_run, tmp_path):
    found = check(make_run("new"), tmp_path / "baseline")
    assert (found.outcome, found.code, found.accepted) == ("no-baseline", 2, None)


def test_a_typing_error_is_not_a_broken_instrument(make_run, put, tmp_path):
    baseline = put(make_run("first"))
    with pytest.raises(UsageError, match="neither run has such a key"):
        check(make_run("new"), baseline, changed=["nonsense"])
    with pytest.raises(UsageError, match="recall_some"):
        check(make_run("new2"), baseline, metric="recall_some@5")
    with pytest.raises(FormatError, match="no such folder"):
        check(tmp_path / "missing", baseline)


# What breaks it.


def _flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("name", FILES)
def test_any_changed_byte_of_the_baseline_is_seen(make_run, put, name):
    baseline = put(make_run("first"))
    _flip(baseline / name)
    found = check(make_run("new"), baseline)
    assert (found.outcome, found.code, found.figures) == ("broken", 3, None)
    assert f"{name} does not fit {SUMS}" in found.broken


@pytest.mark.parametrize("name", [*FILES, SUMS])
def test_a_missing_file_of_the_baseline_is_seen(make_run, put, name):
    baseline = put(make_run("first"))
    (baseline / name).unlink()
    found = check(make_run("new"), baseline)
    assert (found.outcome, found.code) == ("broken", 3)
    assert f"the baseline lacks {name}" in found.broken


def test_checksums_that_were_changed_along_do_not_hide_other_scores(make_run, put):
    baseline = put(make_run("first"))
    shutil.copy(make_run("new", BETTER) / "scores.parquet", baseline)
    lines = [
        f"{hashlib.sha256((baseline / name).read_bytes()).hexdigest()}  {name}\n" for name in FILES
    ]
    (baseline / SUMS).write_text("".join(lines))
    with pytest.raises(FormatError, match="not those of its summary"):
        check(make_run("same"), baseline)


def test_lines_that_end_as_on_windows_are_no_damage(make_run, put):
    baseline = put(make_run("first"))
    (baseline / SUMS).write_bytes((baseline / SUMS).read_bytes().replace(b"\n", b"\r\n"))
    assert check(make_run("new"), baseline).outcome == "unchanged"


@pytest.mark.parametrize("name", ["scores", "trace", "timings", "queries"])
def test_a_damaged_run_is_broken(make_run, put, name):
    baseline, run = put(make_run("first")), make_run("new")
    _flip(run / f"{name}.parquet")
    found = check(run, baseline)
    assert (found.outcome, found.code) == ("broken", 3)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "running"}, "is not finished"),
        ({"degraded": ("the judge is a stub",)}, "the judge is a stub"),
    ],
)
def test_a_run_that_crashed_or_is_degraded_is_broken(make_run, put, fields, said):
    baseline = put(make_run("first"))
    run = make_run("new", WORSE, fields=fields)
    found = check(run, baseline)
    assert (found.outcome, found.code) == ("broken", 3)
    assert said in found.broken
    with pytest.raises(InstrumentError, match=said):
        propose(run, baseline, run.parent / "out", page=_page)
    assert not (run.parent / "out").exists()


def test_a_toy_embedder_is_broken_whatever_the_manifest_says(make_run, put):
    found = check(make_run("new", changes={"embedder.kind": "toy"}), put(make_run("first")))
    assert (found.outcome, found.code) == ("broken", 3)
    assert "stand-in" in found.broken


def test_a_run_that_was_not_scored_is_broken(make_run, put):
    baseline, run = put(make_run("first")), make_run("new")
    (run / "summary.json").unlink()
    found = check(run, baseline)
    assert (found.outcome, found.code) == ("broken", 3)
    assert "was not scored" in found.broken


# Proposing and accepting.


def test_a_proposal_touches_nothing_but_its_folder(make_run, put, tmp_path):
    baseline = put(make_run("first"))
    before = {path: path.read_bytes() for path in baseline.iterdir()}
    out = tmp_path / "proposal"
    found = propose(make_run("new", WORSE, changes=CODE), baseline, out, page=_page)
    assert found.verdict == "worse"
    assert {path: path.read_bytes() for path in baseline.iterdir()} == before
    assert {path.name for path in out.iterdir()} == {*FILES, SUMS, baseline_accept.PAGE}
    header = json.loads((out / "baseline.json").read_bytes())
    assert header["replaces"] == hashlib.sha256((baseline / SUMS).read_bytes()).hexdigest()
    assert accept(out, baseline) is True
    assert not (baseline / baseline_accept.PAGE).exists()
    assert check(make_run("again", WORSE, changes=CODE), baseline).outcome == "unchanged"
    assert accept(out, baseline) is False


def test_a_stale_proposal_is_refused(make_run, put, tmp_path):
    baseline = put(make_run("first"))
    stale, fresh = tmp_path / "stale", tmp_path / "fresh"
    propose(make_run("one", WORSE, changes=CODE), baseline, stale, page=_page)
    propose(make_run("two", BETTER, changes=CODE), baseline, fresh, page=_page)
    accept(fresh, baseline)
    before = (baseline / SUMS).read_bytes()
    with pytest.raises(UsageError, match="not the one that this proposal was compared with"):
        accept(stale, baseline)
    assert (baseline / SUMS).read_bytes() == before
    shutil.rmtree(baseline)
    with pytest.raises(UsageError, match="there is none here"):
        accept(stale, baseline)


def test_ci_accepts_nothing_unless_it_is_forced(make_run, tmp_path, monkeypatch):
    out, baseline = tmp_path / "out", tmp_path / "baseline"
    propose(make_run("first"), baseline, out, page=_page)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(UsageError, match="accepted by a person"):
        accept(out, baseline)
    assert not baseline.exists()
    assert accept(out, baseline, force=True) is True


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("true", True),
        ("1", True),
        ("woodpecker", True),
        ("", False),
        ("false", False),
        ("0", False),
    ],
)
def test_what_counts_as_ci(monkeypatch, value, wanted):
    monkeypatch.setenv("CI", value)
    assert in_ci() is wanted


def test_a_damaged_proposal_is_not_accepted(make_run, tmp_path):
    out, baseline = tmp_path / "out", tmp_path / "baseline"
    propose(make_run("first"), baseline, out, page=_page)
    _flip(out / "scores.parquet")
    with pytest.raises(ChecksumError, match="scores"):
        accept(out, baseline)
    assert not exists(baseline)


def test_a_proposal_takes_nobody_s_folder(make_run, put):
    baseline, run = put(make_run("first")), make_run("new")
    with pytest.raises(UsageError, match="where the baseline does"):
        propose(run, baseline, baseline, page=_page)
    with pytest.raises(UsageError, match="something else"):
        propose(run, baseline, run, page=_page)
    with pytest.raises(UsageError, match="no proposal here"):
        accept(run, baseline)


def test_a_newer_baseline_is_refused_by_its_version(make_run, put):
    baseline = put(make_run("first"))
    header = json.loads((baseline / "baseline.json").read_bytes())
    header["schema_version"] = 99
    files = {**verified(baseline), "baseline.json": json.dumps(header).encode()}
    with pytest.raises(FormatError, match="schema version 99"):
        read_baseline(baseline, files)


def _try(baseline, answers):
    try:
        with single_flight(baseline):
            answers.put("")
    except UsageError as error:
        answers.put(str(error))


def test_one_process_at_a_time(tmp_path):
    baseline = tmp_path / "baseline"
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    with single_flight(baseline):
        child = context.Process(target=_try, args=(baseline, answers))
        child.start()
        said = answers.get()
        child.join()
    assert said.startswith("another process is working on this baseline")
    assert str(baseline) in said
    assert not baseline.exists()
    with single_flight(baseline):
        pass
