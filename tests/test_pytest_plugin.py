"""The plug-in in a pytest of its own, and the assertion on runs whose scores are written down."""

import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from memruler.errors import InstrumentError, UsageError
from memruler.model.run import Determinism
from memruler.pytest_plugin import _INI
from memruler.studies.baseline_accept import accept, propose
from memruler.testing import NotComparable, Regressed, Unresolved, assert_no_regression

pytest_plugins = ["pytester"]

_spec = spec_from_file_location("run_folders", Path(__file__).parent / "compare" / "conftest.py")
_folders = module_from_spec(_spec)
_spec.loader.exec_module(_folders)

make_run = _folders.make_run
A = _folders.QUERIES_A
BETTER = (*A[:3], A[3]._replace(session="x...."), A[4])
WORSE = (A[0]._replace(session="....."), *A[1:])
CODE = {"system.digest": "9" * 64}
NOISY = {"determinism": Determinism(instances=1, queries=3, identical=2, of=3, other_process=True)}


# The assertion.


def test_as_good_and_better_pass(make_run):
    first = make_run("first")
    assert assert_no_regression(first, make_run("same")).figures.delta == 0
    found = assert_no_regression(first, make_run("better", BETTER, changes=CODE), min_delta=0.25)
    assert found.figures.delta == 0.25


def test_worse_is_a_regression_that_names_the_questions(make_run):
    first, worse = make_run("first"), make_run("worse", WORSE, changes=CODE)
    with pytest.raises(Regressed) as caught:
        assert_no_regression(first, worse)
    said = str(caught.value)
    assert "recall_all@5 at the session level 0.7500 -> 0.5000 (-0.2500, exact)" in said
    assert "worse: conv-1 #0" in said
    # As much was allowed to be lost, and a hair less was not.
    assert_no_regression(first, worse, min_delta=-0.25)
    with pytest.raises(Regressed):
        assert_no_regression(first, worse, min_delta=-0.249)


def test_an_improvement_that_was_asked_for_must_be_there(make_run):
    with pytest.raises(Regressed, match=r"at least \+0.3 was asked for"):
        assert_no_regression(make_run("a"), make_run("b", BETTER, changes=CODE), min_delta=0.3)


def test_another_metric_decides(make_run):
    first, other = make_run("first"), make_run("other", WORSE, changes=CODE)
    assert assert_no_regression(first, other, metric="recall_all@1").figures.delta == 0
    with pytest.raises(Regressed):
        assert_no_regression(first, other, metric="ndcg@5")
    with pytest.raises(UsageError):
        assert_no_regression(first, other, metric="no_such@5")


def test_a_draw_needs_its_whole_interval(make_run):
    first = make_run("first")
    draw = make_run("draw", WORSE, changes=CODE, fields=NOISY)
    with pytest.raises(Unresolved, match="95 % interval"):
        assert_no_regression(first, draw, min_delta=-0.3)
    same = make_run("same-draw", changes=CODE, fields=NOISY)
    with pytest.raises(Unresolved):
        assert_no_regression(first, same)
    many = tuple(
        A[0]._replace(instance=f"conv-{n:03d}", session="x...." if n % 3 else ".x...")
        for n in range(120)
    )
    base = make_run("many", many)
    worse = tuple(q._replace(session=".....") if n % 2 else q for n, q in enumerate(many))
    lost = make_run("lost", worse, changes=CODE, fields=NOISY)
    with pytest.raises(Regressed, match="interval"):
        assert_no_regression(base, lost)
    found = assert_no_regression(base, lost, min_delta=-0.7)
    assert found.interval.interval.high < 0
    assert found.figures.delta == -0.5


def test_what_must_not_be_compared_fails_by_its_own_name(make_run):
    first = make_run("first")
    with pytest.raises(NotComparable, match="THE EMBEDDER IS ANOTHER ONE"):
        assert_no_regression(
            first, make_run("e", BETTER, changes={"embedder.model_sha256": "0" * 64})
        )
    other = make_run("limit", BETTER, changes={"retrieval.limit": 10})
    with pytest.raises(NotComparable, match=r"retrieval\.limit differs"):
        assert_no_regression(first, other)
    assert assert_no_regression(first, other, changed=["limit"]).verdict == "better"


@pytest.mark.parametrize("fields", [{"degraded": ("a stub",)}, {"state": "running"}])
def test_a_broken_run_is_no_pass_on_either_side(make_run, fields):
    first, broken = make_run("first"), make_run("broken", BETTER, fields=fields)
    for pair in ((first, broken), (broken, first)):
        with pytest.raises(InstrumentError):
            assert_no_regression(*pair)


def test_an_accepted_baseline_is_a_side(make_run, tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    baseline = tmp_path / "baseline"
    propose(make_run("first"), baseline, tmp_path / "out", page=str)
    accept(tmp_path / "out", baseline)
    assert assert_no_regression(baseline, make_run("b", BETTER, changes=CODE)).verdict == "better"
    with pytest.raises(Regressed):
        assert_no_regression(baseline, make_run("w", WORSE, changes=CODE))
    data = (baseline / "scores.parquet").read_bytes()
    (baseline / "scores.parquet").write_bytes(data[:-1])
    with pytest.raises(InstrumentError, match="scores"):
        assert_no_regression(baseline, make_run("x", BETTER, changes=CODE))
    with pytest.raises(UsageError, match="no baseline here"):
        assert_no_regression(tmp_path / "missing", make_run("y"))


@pytest.mark.parametrize("least", [float("nan"), float("inf")])
def test_a_threshold_is_a_number(make_run, least):
    with pytest.raises(UsageError, match="no number"):
        assert_no_regression(make_run("a"), make_run("b"), min_delta=least)


# The plug-in.


MEMORY = """
from memruler.model.system import Hit, Ranking, SystemIdentity

class Words:
    def __init__(self, sign: int = 1):
        self.sign = sign
    def identity(self):
        return SystemIdentity(
            name="words", version="1", digest="mine", settings={"sign": self.sign}
        )
    def open(self, namespace):
        return Memory(self.sign)

class Memory:
    def __init__(self, sign):
        self.sign, self.kept = sign, []
    def ingest(self, session):
        for turn in session.turns:
            self.kept.append((turn.key, turn.text))
    def settle(self):
        pass
    def search(self, text, k, at):
        words = set(text.lower().split())
        def order(pair):
            return (-self.sign * len(words & set(pair[1].lower().split())), pair[0])
        best = sorted(self.kept, key=order)[:k]
        return Ranking(tuple(
            Hit(item=key, score=None, sources=(key,), kind="turn", text=said)
            for key, said in best
        ))
    def close(self):
        pass
"""
SUITE = """
import pytest
from memruler.testing import NotComparable, Regressed, assert_no_regression
from memory import Words

@pytest.fixture(scope="session")
def good(memruler):
    return memruler.measure(Words(), settings={"instances": 1})

@pytest.fixture(scope="session")
def bad(memruler):
    return memruler.measure(Words(sign=-1), settings={"instances": 1})

def test_live(memruler, good):
    run = memruler.load(good)
    assert run.manifest.fingerprint["system"]["settings"] == {"sign": 1}
    assert "retrieval" not in run.manifest.defaulted
    assert run.manifest.counts["queries"] == len(run.queries)

def test_same(memruler, good):
    again = memruler.measure(Words(), settings={"instances": 1})
    memruler.assert_no_regression(again, baseline=good)

def test_regressed(memruler, good, bad):
    memruler.assert_no_regression(bad, baseline=good)

def test_by_name(memruler):
    run = memruler.load(memruler.measure("memory.py:Words", settings={"instances": 1}))
    assert run.manifest.determinism.other_process
    assert run.manifest.counts["instances"] == 1

def test_not_comparable(memruler, good):
    memruler.assert_no_regression(
        memruler.measure(Words(), settings={"instances": 2}), baseline=good
    )

def test_no_baseline(memruler, good):
    memruler.assert_no_regression(good)
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    pytester.makepyfile(memory=MEMORY, test_memory=SUITE)
    return pytester


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["alone", "xdist"]
)
def test_a_suite_passes_and_fails_as_it_should(suite, workers):
    found = suite.runpytest_subprocess(*workers, "-W", "error")
    found.assert_outcomes(passed=3, failed=3)
    found.stdout.fnmatch_lines_random(
        [
            "*Regressed: recall_all@3 at the session level*",
            "*NotComparable: *",
            "*UsageError: there is no baseline here*",
        ]
    )


def test_settings_of_the_project_are_used(suite):
    suite.makeini(
        "[pytest]\nmemruler_baseline = figures\nmemruler_metric = ndcg@1\n"
        "memruler_min_delta = -0.5\nmemruler_changed = retrieval.limit\n"
    )
    suite.makepyfile(
        test_memory="""
        from memory import Words
        from memruler.studies.baseline_accept import accept, propose

        def test_it(memruler, tmp_path, monkeypatch):
            monkeypatch.delenv("CI", raising=False)
            propose(memruler.measure(Words()), memruler.baseline, tmp_path / "out", page=str)
            accept(tmp_path / "out", memruler.baseline)
            assert memruler.baseline.name == "figures"
            run = memruler.measure(Words(), settings={"limit": 30})
            found = memruler.assert_no_regression(run)
            assert found.figures.metric == "ndcg@1"
            assert [d.key for d in found.changed] == ["retrieval.limit"]
        """
    )
    suite.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_example_of_the_documents(suite):
    page = (Path(__file__).parents[1] / "docs" / "pytest.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (settings,) = re.findall(r"^```ini\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    suite.makepyfile(
        my_memory=MEMORY.replace("class Memory:", "class Store:")
        .replace("Memory(self.sign)", "Store(self.sign)")
        .replace("class Words", "class Memory"),
        test_memory=example,
    )
    for line in settings.splitlines()[1:]:
        assert line.split(" = ")[0] in _INI
    found = suite.runpytest_subprocess()
    # The example's project has accepted no baseline yet.
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["*UsageError: there is no baseline here*"])


def test_a_setting_that_is_no_number_is_told(suite):
    suite.makeini("[pytest]\nmemruler_min_delta = a lot\n")
    suite.makepyfile(test_memory="def test_it(memruler): memruler.assert_no_regression('x')")
    found = suite.runpytest_subprocess()
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*memruler_min_delta = 'a lot' is no number*"])


def test_loading_it_imports_nothing_heavy():
    code = (
        "import sys, memruler.pytest_plugin, memruler.testing\n"
        "heavy = {'numpy', 'pyarrow', 'click', 'msgspec', 'rich', 'openai', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_lives_with_a_suite_that_does_not_use_it(pytester):
    pytester.makepyfile(test_it="import sys\ndef test_it(): assert 'numpy' not in sys.modules")
    pytester.runpytest_subprocess("-W", "error").assert_outcomes(passed=1)
