import hashlib
from collections import Counter
from pathlib import Path

import pytest

import memruler.systems.builtin
import memruler.systems.derived
from memruler.errors import UsageError
from memruler.model.system import (
    ExportsLineage,
    MemorySystem,
    Namespace,
    SearchesMany,
    SessionInput,
)
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table
from memruler.systems.derived.parser import Parser
from memruler.systems.derived.settings import resolve
from memruler.systems.derived.system import DerivedSystem
from memruler.systems.registry import SYSTEMS, open_system

NAME = "builtin:derived"


@pytest.fixture
def open_derived(tmp_path, fake):
    opened = []

    def one(folder="a", **given):
        settings, _, _ = resolve(given)
        embedder = fake() if settings.search.dense else None
        memory = DerivedSystem(settings, embedder).open(Namespace("n", tmp_path / folder))
        opened.append(memory)
        return memory

    yield one
    for memory in opened:
        memory.close()


def test_it_opens_by_name():
    assert NAME in SYSTEMS.names()
    opened = open_system(NAME, {"facts": "1"})
    assert isinstance(opened.system, MemorySystem)
    assert opened.chosen == {"facts": 1}
    assert opened.defaulted["timeline"] is True
    identity = opened.system.identity()
    assert identity.name == NAME
    assert identity.settings == {**opened.chosen, **opened.defaulted}
    assert "SQLite" in identity.version
    assert identity.embedder is None
    with pytest.raises(UsageError, match="facts"):
        open_system(NAME, {"facts": "9"})


def test_its_digest_is_that_of_both_packages():
    digest = hashlib.sha256()
    for package in (memruler.systems.builtin, memruler.systems.derived):
        for path in sorted(Path(package.__file__).parent.glob("*.py")):
            body = path.read_bytes()
            digest.update(f"{path.name}\0{len(body)}\0".encode() + body)
    found = open_system(NAME, {}).system.identity().digest
    assert found == digest.hexdigest()
    assert found != open_system("builtin:lexical", {}).system.identity().digest


@pytest.mark.parametrize("ranking", ["lexical", "dense", "hybrid"])
def test_every_form_is_found_with_its_sources(open_derived, turns, ranking):
    memory = open_derived(ranking=ranking)
    memory.ingest(turns.session("I met Anna yesterday in Oslo", "We ate two cakes", "Hm", key="s7"))
    memory.settle()
    items = {item.id: item for item in memory.lineage()}
    assert Counter(item.kind for item in items.values()) == {"turn": 3, "fact": 3, "summary": 1}
    assert {item.status for item in items.values()} == {"stored"}
    hits = memory.search("Anna in Oslo", 20, turns.at).hits
    found = {hit.item: hit for hit in hits}
    assert {"turn", "fact", "summary"} <= {hit.kind for hit in hits}
    for item, hit in found.items():
        assert (hit.kind, hit.sources) == (items[item].kind, items[item].sources)
    (summary,) = [hit for hit in hits if hit.kind == "summary"]
    assert summary.sources == ("s7.t0", "s7.t1")
    assert isinstance(memory, ExportsLineage)
    assert isinstance(memory, SearchesMany) == (ranking != "lexical")


@pytest.mark.parametrize("ranking", ["lexical", "dense", "hybrid"])
def test_a_store_reads_the_same_again(open_derived, turns, ranking):
    memory = open_derived(ranking=ranking)
    memory.ingest(turns.session("I met Anna in Oslo. We ate two cakes.", "I met Bob in Rome."))
    lineage, ranked = list(memory.lineage()), memory.search("whom I met in Rome", 9, turns.at)
    memory.close()
    again = open_derived(ranking=ranking)
    assert list(again.lineage()) == lineage
    assert again.search("whom I met in Rome", 9, turns.at) == ranked
    with pytest.raises(UsageError, match="other settings"):
        open_derived(ranking=ranking, facts="1")


def test_the_rules_of_admission_hold_for_every_form(open_derived, turns):
    memory = open_derived(dedup_prefix="true", capacity="3")
    memory.ingest(turns.session("Ann: I met Bob.", "  ", "Ann: I met Bob in Rome. We ate a cake."))
    assert [(item.kind, item.status, item.reason) for item in memory.lineage()] == [
        ("turn", "evicted", "capacity"),
        ("fact", "refused", "prefix_duplicate"),  # it is its turn, word for word
        ("turn", "refused", "blank"),
        ("turn", "evicted", "capacity"),
        ("fact", "stored", None),
        ("fact", "stored", None),
        ("summary", "stored", None),
    ]


def test_stop_words_can_be_searched(open_derived, turns):
    session = turns.session("I met Anna.", "Anna and the others")
    for folder, setting in (("a", "true"), ("b", "false")):
        memory = open_derived(folder, stop_words=setting, summaries="false")
        memory.ingest(session)
        best = memory.search("the Anna", 1, turns.at).hits[0]
        assert best.sources == (("s0.t0",) if setting == "true" else ("s0.t1",))


def test_what_was_not_read_is_told(turns, tmp_path):
    system = open_system(NAME, {}).system
    memory = system.open(Namespace("n", tmp_path))
    memory.ingest(turns.session("I met Anna. " * 20_000))
    memory.close()
    assert system.warnings() == ("units of which only the first 131072 characters were parsed: 1",)
    assert open_system(NAME, {}).system.warnings() == ()


@pytest.fixture
def replay(tmp_path):
    """Measures the synthetic corpus as the verb does, and returns what was stored and found."""

    def one(stem, *assignments, granularity="turn"):
        spec = PlanSpec(
            corpus="synthetic",
            system=NAME,
            assignments=assignments,
            settings={"limit": 60, "granularity": granularity, "instances": 2, "queries": 12},
        )
        with RunFolder.claim(tmp_path, stem) as folder:
            manifest = measure(plan_run(spec), folder, lambda *_: None)
        folder = RunFolder.open(tmp_path / stem)
        tables = (read_table(folder, name).to_pylist() for name in ("lineage", "trace"))
        return manifest, *tables

    return one


def test_a_replay_attributes_every_item(replay):
    manifest, lineage, trace = replay("r", "facts=8")
    found = manifest.determinism
    assert found.other_process
    assert found.identical == found.queries == found.of == 24
    assert manifest.lineage_exported
    assert all(row["turns"] for row in lineage)
    counts = Counter(row["kind"] for row in lineage)
    assert counts["turn"] == manifest.counts["turns"]
    assert counts["summary"] == manifest.counts["sessions"]
    assert counts["fact"] > counts["turn"]
    assert {len(row["turns"]) for row in lineage if row["kind"] != "summary"} == {1}
    assert {lineage[item]["kind"] for row in trace for item in row["items"]} >= {"turn", "fact"}


def test_density_only_adds_facts(replay):
    def stored(lineage):
        return Counter((row["kind"], str(row["turns"]), row["text"]) for row in lineage)

    few, some, many = (stored(replay(f"f{n}", f"facts={n}")[1]) for n in (1, 5, 8))
    assert few < some <= many
    assert {kind for kind, _, _ in some - few} == {"fact"}


def test_sessions_as_units_are_parsed_too(replay):
    manifest, lineage, _ = replay("r", granularity="session")
    assert {row["kind"] for row in lineage} >= {"session", "fact", "summary"}
    assert all(len(row["sessions"]) == 1 and not row["turns"] for row in lineage)
    counts = Counter(row["kind"] for row in lineage)
    assert counts["session"] == counts["summary"] == manifest.counts["sessions"]


def test_the_parser_is_shown_sessions_and_nothing_else(monkeypatch, replay):
    seen, parse = [], Parser.__call__

    def spy(self, *given, **named):
        seen.append((given, named))
        return parse(self, *given, **named)

    monkeypatch.setattr(Parser, "__call__", spy)
    replay("r")
    assert len(seen) > 10
    assert all(len(given) == 1 and not named for given, named in seen)
    assert {type(given[0]) for given, _ in seen} == {SessionInput}
