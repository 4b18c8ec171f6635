import os
import shutil

import msgspec
import pyarrow.parquet as pq
import pytest

from memruler.compare.exact import compare
from memruler.errors import Interrupted, SystemUnderTestError, UsageError
from memruler.report.write import write_report
from memruler.studies.ab import ab, plans_of
from memruler.studies.ab_read import read_ab

SPEC = """
out = "runs"
limit = 10
cutoffs = [1, 5]
[corpus]
name = "synthetic"
instances = 2
queries = 8
[a]
system = "builtin:lexical"
[b]
system = "builtin:lexical"
"""

LOGGED = '''
"""Finds by shared words, notes what it is asked to do, and fails where a file says so."""

import os
import random
from pathlib import Path

from memruler.errors import SystemUnderTestError
from memruler.model.system import Hit, Ranking, SystemIdentity

HERE = Path(__file__).parent


class Logged:
    def __init__(self, who: str = "x", deep: int = 10, drawn: bool = False):
        self.who, self.deep, self.drawn = who, deep, drawn

    def note(self, what):
        with (HERE / f"log.{os.getpid()}").open("a") as log:
            log.write(f"{self.who} {what}\\n")
        if (HERE / f"fail.{self.who}.{what.replace(' ', '.')}").exists():
            raise SystemUnderTestError(f"no {what}")

    def identity(self):
        return SystemIdentity(name="logged", version="1", digest="d" * 64)

    def open(self, namespace):
        return Memory(self, int(namespace.name.rpartition("-")[2]))


class Memory:
    def __init__(self, system, instance):
        self.system, self.instance, self.kept, self.asked = system, instance, [], 0

    def ingest(self, session):
        self.kept += [(t.key, t.text, set(t.text.lower().split())) for t in session.turns]

    def settle(self):
        self.system.note(f"wrote {self.instance}")

    def search(self, text, k, at):
        self.asked += 1
        self.system.note(f"search {self.instance}.{self.asked - 1}")
        words = set(text.lower().split())
        if self.system.drawn:
            random.Random(os.urandom(8)).shuffle(self.kept)
            words = set()
        order = sorted(self.kept, key=lambda one: -len(words & one[2]))
        return Ranking(tuple(
            Hit(item=key, score=float(len(words & has)), sources=(key,), kind="turn", text=said)
            for key, said, has in order[: min(k, self.system.deep)]
        ))

    def close(self):
        pass
'''

LOGGED_SPEC = SPEC.replace(
    '[a]\nsystem = "builtin:lexical"\n[b]\nsystem = "builtin:lexical"',
    '[a]\nsystem = "logged.py:Logged"\nsettings = { who = "a" }\n'
    '[b]\nsystem = "logged.py:Logged"\nsettings = { who = "b" }',
).replace("queries = 8", "queries = 3")


def run(folder, text=SPEC, tick=lambda *_: None):
    (folder / "spec.toml").write_text(text, encoding="utf-8")
    spec = read_ab(folder / "spec.toml")
    return ab(spec, folder, folder / spec.out, report=write_report, tick=tick)


def changed(text, *changes):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ab")
    return folder, run(folder)


@pytest.fixture
def logged(tmp_path):
    (tmp_path / "logged.py").write_text(LOGGED, encoding="utf-8")
    return tmp_path


def done(folder):
    """What was noted in this process, so not by the second process that probes determinism."""
    log = folder / f"log.{os.getpid()}"
    return log.read_text(encoding="utf-8").splitlines()


def started(folder):
    return [
        msgspec.json.decode((folder / "runs" / side / "manifest.json").read_bytes())["started"]
        for side in "ab"
    ]


def rankings(folder, side):
    table = pq.read_table(folder / "runs" / side / "trace.parquet")
    return table.select(["instance", "query", "items", "scores"])


def test_a_against_itself_is_exactly_zero(finished):
    folder, found = finished
    assert found.verdict == "zero"
    assert found.comparison.verdict == "unchanged"
    assert {row.delta for row in found.comparison.deltas} == {0.0}
    assert len(found.comparison.deltas) > 10
    assert found.comparison.queries == ()
    assert found.comparison.changed == ()
    assert {(row.delta, row.a - row.b) for row in found.means} == {(0.0, 0.0)}
    assert found.a.context == found.b.context
    assert rankings(folder, "a").equals(rankings(folder, "b"))
    assert rankings(folder, "a").num_rows == 16
    for table in ("lineage", "queries", "scores"):
        one, other = (folder / "runs" / side / f"{table}.parquet" for side in "ab")
        assert one.read_bytes() == other.read_bytes()


def test_the_sides_were_asked_in_turns(finished):
    found = finished[1]
    assert (found.turns.instances, found.turns.of) == (2, 2)
    assert "each search by itself" in found.a.timing.basis
    assert found.latency.questions + found.latency.left_out["warm-up"] == 16
    assert found.latency.questions == found.a.timing.queries == found.b.timing.queries
    assert found.latency.a_first + found.latency.b_first == found.latency.questions
    assert found.latency.left_out.keys() == {"warm-up"}


def test_each_side_is_an_ordinary_run(finished):
    folder, found = finished
    for side in "ab":
        assert (folder / "runs" / side / "report.json").exists()
        assert not (folder / "runs" / side / "stores").exists()
    again = compare(folder / "runs" / "a", folder / "runs" / "b")
    assert again.headline == found.comparison.headline


def test_finished_sides_are_kept_and_give_the_same(finished, copied):
    before = started(copied)
    assert run(copied) == finished[1]
    assert started(copied) == before


def test_other_depths_need_no_new_run(copied):
    before = started(copied)
    found = run(copied, changed(SPEC, ("[1, 5]", '[2, 7]\nmetric = "ndcg@7"')))
    assert started(copied) == before
    assert (found.comparison.headline.metric, found.comparison.headline.k) == ("ndcg", 7)
    assert {row.metric for row in found.means} == {"ndcg"}
    # A depth that was scored stays, as in every study.
    assert {row.k for row in found.means if row.level == "turn"} == {1, 2, 5, 7}


def test_each_question_is_put_to_one_and_then_to_the_other(logged):
    found = run(logged, LOGGED_SPEC)
    assert found.verdict == "zero"
    told = done(logged)
    assert told[:8] == [
        "b wrote 0",
        "a wrote 0",
        "a search 0.0",
        "b search 0.0",
        "b search 0.1",
        "a search 0.1",
        "a search 0.2",
        "b search 0.2",
    ]
    assert told[8:12] == ["a wrote 1", "b wrote 1", "b search 1.0", "a search 1.0"]
    assert [difference.key for difference in found.comparison.changed] == ["system.settings.who"]


def test_the_failure_of_one_side_ends_only_that_side(logged):
    fault = logged / "fail.b.wrote.1"
    fault.touch()
    with pytest.raises(SystemUnderTestError, match=r"side b: .*no wrote 1") as caught:
        run(logged, LOGGED_SPEC)
    assert "side a is finished" in caught.value.hint
    assert (logged / "runs" / "a" / "report.json").exists()
    assert not (logged / "runs" / "b" / "trace.parquet").exists()
    before = len(done(logged))
    fault.unlink()
    found = run(logged, LOGGED_SPEC)
    anew = done(logged)[before:]
    # Instance 0 of B counts, and A is finished.
    assert anew == ["b wrote 1", *(f"b search 1.{at}" for at in range(3))]
    assert found.verdict == "zero"
    assert (found.turns.instances, found.turns.of) == (1, 2)
    assert found.latency.left_out["not asked of both in turns"] > 0
    assert {found.latency.questions} == {3 - found.latency.left_out["warm-up"]}


def test_both_sides_may_fail(logged):
    for side in "ab":
        (logged / f"fail.{side}.wrote.0").touch()
    with pytest.raises(SystemUnderTestError, match=r"side a: .*; side b: ") as caught:
        run(logged, LOGGED_SPEC)
    assert "is finished" not in caught.value.hint or ""
    assert not list((logged / "runs").glob("*/manifest.json"))


def test_a_search_that_fails_is_in_no_difference(logged):
    (logged / "fail.a.search.1.2").touch()
    found = run(logged, LOGGED_SPEC)
    assert found.latency.left_out["failed in A"] == 1
    assert found.b.errors == {}
    assert sum(found.a.errors.values()) == 1
    assert found.verdict == "refused"
    assert "1 queries count in one run only" in found.refused.reasons[0]


def interrupt(at):
    """Progress that is interrupted where it says `at`."""

    def tick(*words):
        if words == at:
            raise KeyboardInterrupt

    return tick


@pytest.mark.parametrize("side", ["a", "b"])
def test_an_interrupted_run_goes_on(logged, side):
    with pytest.raises(Interrupted, match="are kept") as caught:
        run(
            logged, changed(LOGGED_SPEC, ("limit = 10", "limit = 9")), interrupt(("a search", 2, 3))
        )
    assert caught.value.hint == "repeat the same command to go on"
    assert not list((logged / "runs").glob("*/manifest.json"))  # nothing counted yet

    def second(phase, *_):
        second.instances += phase == "instance"
        if phase == f"{side} search" and second.instances == 2:
            raise KeyboardInterrupt

    second.instances = 0
    with pytest.raises(Interrupted):
        run(logged, LOGGED_SPEC, second)
    before = started(logged)
    so_far = len(done(logged))
    found = run(logged, LOGGED_SPEC)
    assert started(logged) == before
    anew = done(logged)[so_far:]
    assert anew[:2] == ["a wrote 1", "b wrote 1"]
    assert len(anew) == 8
    assert (found.verdict, found.turns.instances) == ("zero", 2)


def test_a_run_stopped_while_one_side_is_probed_only_lacks_its_end(logged):
    with pytest.raises(Interrupted):
        run(logged, LOGGED_SPEC, interrupt(("b determinism", 0, 1)))
    so_far = len(done(logged))
    found = run(logged, LOGGED_SPEC)
    assert len(done(logged)) == so_far
    assert (found.verdict, found.turns.instances) == ("zero", 2)


def test_a_side_measured_anew_was_not_asked_in_turns(copied):
    shutil.rmtree(copied / "runs" / "b")
    found = run(copied)
    assert found.verdict == "zero"
    assert found.turns.instances == 0
    assert (found.latency.median_ms, found.latency.questions) == (None, 0)


@pytest.mark.parametrize("damage", [b"{", b'{"started": [], "instances": [0]}'])
def test_what_cannot_be_read_of_the_turns_is_not_claimed(copied, damage):
    (copied / "runs" / "turns.json").write_bytes(damage)
    assert run(copied).turns.instances == 0


def test_sides_of_another_spec_are_refused(copied):
    with pytest.raises(UsageError, match=r"side a: .* another retrieval") as caught:
        run(copied, changed(SPEC, ("limit = 10", "limit = 11")))
    assert "remove the folder a" in caught.value.hint
    other = changed(SPEC, ("[b]\n", "[b]\nsettings = { stop_words = false }\n"))
    with pytest.raises(UsageError, match=r"side b: .* another system"):
        run(copied, other)


def test_a_draw_gets_an_interval(logged):
    text = changed(LOGGED_SPEC, ('who = "b" }', 'who = "b", drawn = true }'), ("= 3\n", "= 8\n"))
    text = changed(text, ("[1, 5]", "[1]"))
    found = run(logged, text)
    assert (found.comparison, found.refused) == (None, None)
    assert found.gate.ruler == "interval"
    assert found.gate.cluster == "conversation"
    assert found.gate.interval.low <= found.gate.delta <= found.gate.interval.high
    assert found.verdict in {"worse", "unresolved"}
    assert {row.delta for row in found.means} == {None}
    assert found.b.determinism.identical < found.b.determinism.queries


def test_lists_that_are_too_short_refuse_the_headline_and_not_the_rest(logged):
    text = changed(LOGGED_SPEC, ('who = "b" }', 'who = "b", deep = 3 }'), ("= 3\n", "= 8\n"))
    found = run(logged, text)
    assert (found.verdict, found.comparison) == ("refused", None)
    assert "k=5: not in the candidate" in found.refused.reasons[0]
    assert "`shared = true`" in found.refused.hints[0]
    assert found.latency.questions > 0
    before = started(logged)
    # The depth that decides is comparable, and the other one is left out and told.
    found = run(logged, changed(text, ("cutoffs", 'metric = "recall_all@1"\ncutoffs')))
    assert found.comparison.headline.k == 1
    assert any(gone.k == 5 for gone in found.comparison.omitted)
    short = next(row for row in found.means if (row.level, row.k) == ("turn", 5))
    assert (short.delta, short.comparable) == (None, False)
    assert started(logged) == before


def test_shared_queries_need_no_new_run(tmp_path):
    text = changed(SPEC, ("[b]\n", "[b]\nsettings = { capacity = 40 }\n"))
    assert run(tmp_path, text).verdict == "refused"
    before = started(tmp_path)
    found = run(tmp_path, changed(text, ("cutoffs", "shared = true\ncutoffs")))
    assert started(tmp_path) == before
    assert found.comparison.shared_only
    assert found.verdict == "worse"


def test_what_is_run_for_each_side(tmp_path):
    (tmp_path / "spec.toml").write_text(
        changed(SPEC, ('system = "builtin:lexical"\n[b]', 'system = "x/mine.toml"\n[b]')),
        encoding="utf-8",
    )
    plans = plans_of(read_ab(tmp_path / "spec.toml"), tmp_path)
    assert plans["a"].system == str(tmp_path / "x" / "mine.toml")
    assert plans["b"].system == "builtin:lexical"
    assert plans["a"].settings["one_by_one"] is True
    assert "one_by_one" in plans["a"].typed


@pytest.mark.slow
def test_the_reference_server_against_itself(tmp_path):
    text = changed(SPEC, ("builtin:lexical", "recipe:reference-http"), ("= 2\n", "= 1\n"))
    found = run(tmp_path, text)
    assert found.verdict == "zero"
    assert rankings(tmp_path, "a").equals(rankings(tmp_path, "b"))
    assert (found.turns.instances, found.turns.of) == (1, 1)
