"""A manifest that a person edited ends every verb that reads a run with one line."""

import json

import pytest

from memruler.cli.main import main
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.store.folder import RunFolder


@pytest.fixture
def run(tmp_path):
    settings = {"instances": 1, "queries": 3, "limit": 5}
    with RunFolder.claim(tmp_path, "r") as folder:
        measure(plan_run(PlanSpec(corpus="synthetic", settings=settings)), folder, lambda *_: None)
    return tmp_path / "r"


def call(*words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code


def spoil(run, part):
    path = run / "manifest.json"
    told = json.loads(path.read_text())
    head, _, name = part.partition(".")
    if name:
        del told["fingerprint"][head][name]
    else:
        told["fingerprint"][head] = 7
    path.write_text(json.dumps(told))


@pytest.mark.parametrize(
    "part",
    ["corpus", "corpus.name", "population.rule", "ingest", "retrieval", "retrieval.limit"],
)
@pytest.mark.parametrize("verb", ["answer", "grade", "failures", "abstention", "score"])
def test_a_fingerprint_without_a_part(run, capsys, verb, part):
    assert call("answer", run) == 0
    assert call("grade", run) == 0
    spoil(run, part)
    capsys.readouterr()
    assert call(verb, run) == 2
    said = capsys.readouterr().err
    assert "the fingerprint in the manifest lacks a part, or has another form" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("value", [None, 7, {"name": "x"}])
def test_a_system_that_is_none(run, capsys, value):
    path = run / "manifest.json"
    told = json.loads(path.read_text())
    told["fingerprint"]["retrieval"]["answers"] = True
    told["fingerprint"]["system"] = value
    path.write_text(json.dumps(told))
    assert call("answer", run, "--reader", "system") == 2
    assert "does not tell the system" in capsys.readouterr().err
