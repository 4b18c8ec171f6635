"""Re-scoring of a sealed run: what is gold under each target, counted by hand."""

import json
import math

import pytest

from memruler.errors import (
    CorpusError,
    FormatError,
    Refusal,
    SystemUnderTestError,
    UsageError,
)
from memruler.model.system import Hit, MemoryItem, Ranking, SystemIdentity
from memruler.replay.run import measure
from memruler.scoring.contested import contested
from memruler.scoring.from_run import traced_from_run
from memruler.scoring.open_target import open_target, open_targets
from memruler.scoring.traced import score_traced
from memruler.store.folder import RunFolder


class FormMemory:
    """Each turn as it was said and as a fact, each session but the last as a summary.

    Every search returns all summaries, then all facts, then all turns, each in order of writing.
    """

    def __init__(self, exports: bool, order: tuple[str, ...], tells: bool) -> None:
        self.items: list[MemoryItem] = []
        self._order, self._tells = order, tells
        if exports:
            self.lineage = lambda: self.items

    def ingest(self, session):
        for turn in session.turns:
            self._add("turn", (turn.key,), turn.text)
            self._add("fact", (turn.key,), f"it is so: {turn.text}")
        if session.key != "s0003":
            self._add("summary", tuple(turn.key for turn in session.turns), "in short")

    def _add(self, kind, sources, text):
        number = sum(item.kind == kind for item in self.items)
        self.items.append(MemoryItem(id=f"{kind}{number}", kind=kind, sources=sources, text=text))

    def settle(self):
        pass

    def search(self, text, k, at):
        del text, at
        ranked = [item for kind in self._order for item in self.items if item.kind == kind]
        if not self._tells:
            return Ranking(tuple(Hit(item=i.id, text=f"I know that {i.text}") for i in ranked[:k]))
        return Ranking(
            tuple(Hit(item=i.id, sources=i.sources, kind=i.kind, text=i.text) for i in ranked[:k])
        )

    def close(self):
        pass


class FormSystem:
    def __init__(self, exports=True, order=("summary", "fact", "turn"), tells=True):
        self.exports, self.order, self.tells = exports, order, tells

    def identity(self):
        return SystemIdentity(name="forms", version="1", digest="d" * 64)

    def open(self, namespace):
        del namespace
        return FormMemory(self.exports, self.order, self.tells)


@pytest.fixture
def replayed(tmp_path, make_plan, make_instance):
    def build(system=None, **settings):
        settings = {"limit": 20, **settings}
        plan = make_plan(system or FormSystem(), [make_instance(0), make_instance(1)], **settings)
        with RunFolder.claim(tmp_path, "r") as folder:
            measure(plan, folder, lambda *_: None)
        return tmp_path / "r"

    return build


def scored_by(path, targets="raw,source,canonical", rule="anchor", level="turn", k=(1, 5, 20)):
    return score_traced(traced_from_run(path, open_targets(targets), level), k, rule)


def first(scored, target):
    return scored.by_target[target].first.tolist()


def test_the_target_decides_where_the_first_credit_stands(replayed):
    """Ranks 1 to 3 are summaries, 4 to 7 facts, 8 to 11 turns; query q asks for turn q."""
    scored = scored_by(replayed())
    assert first(scored, "raw") == [8, 9, 10] * 2
    assert first(scored, "source") == [1, 2, 3] * 2
    assert first(scored, "canonical") == [1, 2, 3] * 2
    assert scored.by_target["raw"].values["recall_any", 5].tolist() == [0.0] * 6
    assert scored.by_target["source"].values["ndcg", 5][1] == 1 / math.log2(3)
    assert scored.traced.supports["source"].eligible().tolist() == [3] * 6
    assert scored.shared().all()


def test_kinds(replayed):
    scored = scored_by(replayed(), "kind:fact,kind:fact+turn,node")
    assert first(scored, "kind:fact") == [4, 5, 6] * 2
    assert first(scored, "kind:fact+turn") == [4, 5, 6] * 2
    assert not scored.served("node").any()
    assert not scored.shared().any()


def test_items_count_by_themselves(replayed):
    """Per id there are a turn, a fact and a summary to find; within 5 the summary and a fact."""
    path = replayed()
    by_id = scored_by(path, rule="id").by_target["source"]
    assert by_id.anchors.tolist() == [3] * 6
    assert by_id.found[5].tolist() == [2.0, 2.0, 1.0] * 2
    assert scored_by(path, level="item").by_target["source"].found[5].tolist() == [2, 2, 1] * 2


def test_session_level(replayed):
    """Whatever comes from the gold session counts; here that is what comes from its one turn."""
    scored = scored_by(replayed(), level="session")
    assert first(scored, "raw") == [8, 9, 10] * 2
    assert first(scored, "source") == [1, 2, 3] * 2


def test_a_store_that_does_not_tell_keeps_its_misses(replayed):
    """Only items that were returned are known, so an anchor without one is still an anchor."""
    scored = scored_by(replayed(FormSystem(exports=False, order=("turn",)), limit=2))
    assert scored.by_target["raw"].anchors.tolist() == [1] * 6
    assert first(scored, "raw") == [1, 2, 0] * 2
    assert "canonical" not in scored.by_target
    assert "does not export" in scored.traced.unserved["canonical"]


def test_contested_credits(replayed):
    traced = traced_from_run(replayed(), open_targets("raw,source"))
    found = contested(traced, "source", "raw", 5)
    assert found.query.tolist() == [0, 0, 1, 1, 2, 3, 3, 4, 4, 5]
    assert found.rank.tolist() == [1, 4, 2, 5, 3] * 2
    assert (traced.hits[found.query, found.rank - 1] == found.item).all()
    assert not len(contested(traced, "raw", "source", 20).query)


OWN = """
class Half:
    name = "half"

    def grade(self, form, session, turn):
        return {"turn": 1.0, "fact": 0.5}.get(form.kind, 0.0)


class Pair:
    name = "pair"

    def grade(self, form, session, turn):
        return 0.0

    def sets(self, forms, session, turn):
        return [[place for place, form in enumerate(forms) if form.kind != "turn"]]


class Wrong:
    name = "wrong"

    def grade(self, form, session, turn):
        return 2


class Broken:
    name = "broken"

    def grade(self, form, session, turn):
        raise RuntimeError("no")


class Taken(Half):
    name = "raw"


class Nothing:
    pass


class Exits:
    name = "exits"

    def grade(self, form, session, turn):
        raise SystemExit(0)


class Prints(Half):
    def grade(self, form, session, turn):
        print("loud")
        return super().grade(form, session, turn)


class Text:
    name = "text"

    def grade(self, form, session, turn):
        return "1"


class Between(Pair):
    def sets(self, forms, session, turn):
        return [[0, 1.5]]


class Leaves:
    name = "leaves"

    def __init__(self):
        raise SystemExit(0)


class Secretive(Half):
    @property
    def name(self):
        raise RuntimeError("guess")


class Escape(Half):
    name = "\\x1b[31mred"


class Surrogate(Half):
    name = "\\ud800"


class Unseen(Half):
    name = "source "


class Endless(Half):
    name = "x" * 65
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN, encoding="utf-8")
    return lambda name: f"{path}:{name}"


def test_a_target_of_ones_own_grades(replayed, own):
    half = scored_by(replayed(), own("Half")).by_target["half"]
    # The fact gives half of it at rank 4, the turn the rest at rank 8.
    assert half.found[5].tolist() == [0.5, 0.5, 0.0] * 2
    assert half.found[20].tolist() == [1.0] * 6
    assert half.first.tolist() == [8, 9, 10] * 2
    assert half.values["ndcg", 20][0] == 0.5 / math.log2(5) + 0.5 / math.log2(9)


def test_a_target_of_ones_own_composes(replayed, own):
    """Fact and summary together: complete where the fact stands."""
    scored = scored_by(replayed(), own("Pair"))
    assert first(scored, "pair") == [4, 5, 6] * 2
    assert not scored.by_target["pair"].values["recall_any", 1].any()


def test_what_a_target_prints_is_no_part_of_the_scores(replayed, own, capsys):
    assert scored_by(replayed(), own("Prints")).by_target["half"].found[5][0] == 0.5
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("loud\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Wrong", "not from 0 to 1"),
        ("Broken", "no"),
        ("Exits", "grade raised SystemExit: 0"),
        ("Text", "str is no grade"),
        ("Between", "sets raised TypeError"),
    ],
)
def test_a_target_that_fails_is_named(replayed, own, name, said):
    with pytest.raises(UsageError, match=said) as failed:
        scored_by(replayed(), own(name))
    assert "own.py" in str(failed.value)


def test_what_is_no_target(own, tmp_path):
    for text, said in [
        (own("Nothing"), "no target"),
        (own("Taken"), "cannot be called"),
        (own("Leaves"), "raised SystemExit: 0"),
        (own("Secretive"), "raised RuntimeError: guess"),
        *((own(name), "cannot be called") for name in ("Escape", "Surrogate", "Unseen", "Endless")),
        (own("Missing"), "no class"),
        ("sauce", "unknown target"),
        ("raw,raw", "twice"),
        ("", "unknown target"),
    ]:
        with pytest.raises(UsageError, match=said):
            open_targets(text)
    broken = tmp_path / "broken.py"
    broken.write_text("import nowhere", encoding="utf-8")
    with pytest.raises(SystemUnderTestError):
        open_target(f"{broken}:Half")


def test_sessions_as_items_have_no_turn_level(replayed):
    path = replayed(FormSystem(order=("turn",)), granularity="session")
    with pytest.raises(UsageError, match="--level session"):
        traced_from_run(path, open_targets("raw"))
    assert traced_from_run(path, open_targets("raw"), "session").supports["raw"].of.sum() == 6


def lines(instance, *items):
    return [json.dumps({"instance": instance, **item}) for item in items]


TURNS = [{"id": f"turn{n}", "kind": "turn", "turns": [[n, 0]]} for n in range(4)]
FACT = {"id": "never-returned", "kind": "fact", "turns": [[0, 0], [2, 0]]}


@pytest.fixture
def with_file(replayed, tmp_path):
    """A system that tells neither kinds nor sources, and a file that does."""

    def build(told, targets="raw,source,canonical"):
        path = tmp_path / "r"
        if not path.exists():
            replayed(FormSystem(exports=False, order=("turn",), tells=False), limit=2)
        file = tmp_path / "lineage.jsonl"
        file.write_text("\n".join(told) + "\n", encoding="utf-8")
        return traced_from_run(path, open_targets(targets), "turn", file)

    return build


def test_a_lineage_file_may_be_the_whole_store(with_file):
    traced = with_file(lines("inst-0", *TURNS, FACT) + lines("inst-1", *TURNS))
    assert not traced.unserved
    (notice,) = traced.notices
    assert (notice.kind, notice.count) == ("never-returned", 5)
    scored = score_traced(traced, (1, 2), "anchor")
    # The third query's turn is in the store and was not returned: a miss.
    assert first(scored, "raw") == [1, 2, 0, 1, 2, 0]
    assert scored.served("raw").all()
    # The fact descends from the gold of queries 0 and 2 of the first conversation only.
    assert scored.served("canonical").tolist() == [True, False, True, False, False, False]
    assert traced.supports["source"].eligible().tolist() == [2, 1, 2, 1, 1, 1]


def test_a_lineage_file_that_lacks_what_came_back(with_file):
    """What else the store holds is then unknown, and every anchor stays in."""
    traced = with_file(lines("inst-0", *TURNS[:1]))
    assert list(traced.unserved) == ["canonical"]
    assert traced.supports["raw"].anchors().tolist() == [1] * 6
    notices = {notice.kind: notice for notice in traced.notices}
    assert notices["unknown-item"].count == 3
    assert notices["unknown-item"].names == ("turn1", "turn0", "turn1")
    assert score_traced(traced, (2,), "anchor").by_target["raw"].first.tolist() == [
        1,
        0,
        0,
        0,
        0,
        0,
    ]


class KeyedSystem(FormSystem):
    """Says nothing but ids, and its ids are the keys: so sources are known without a file."""

    def open(self, namespace):
        memory = super().open(namespace)

        def search(text, k, at):
            del text, at
            turns = [item for item in memory.items if item.kind == "turn"]
            return Ranking(tuple(Hit(item=turn.sources[0]) for turn in turns[:k]))

        memory.search = search
        return memory


@pytest.mark.parametrize("told", [[], TURNS[3:]])
def test_known_sources_do_not_make_a_file_the_whole_store(replayed, tmp_path, told):
    """Anchors that were missed would be taken for absent from the store, and recall would rise."""
    path = replayed(KeyedSystem(exports=False), limit=2)
    file = tmp_path / "lineage.jsonl"
    file.write_text("\n".join(lines("inst-0", *told)), encoding="utf-8")
    traced = traced_from_run(path, open_targets("raw,canonical"), "turn", file)
    assert list(traced.unserved) == ["canonical"]
    assert traced.supports["raw"].anchors().tolist() == [1] * 6
    (notice,) = [notice for notice in traced.notices if notice.kind == "unknown-item"]
    assert notice.count == 4
    bare = traced_from_run(path, open_targets("raw"), "turn")
    assert bare.supports["raw"].anchors().tolist() == [1] * 6


def test_kinds_are_filled_in_where_sources_are_known(replayed, tmp_path):
    """And where the run knows another kind, the file does not change it."""

    class Unnamed(FormSystem):
        def open(self, namespace):
            memory = super().open(namespace)
            add = memory._add
            memory._add = lambda kind, sources, text: add(
                "unknown" if kind == "fact" else kind, sources, text
            )
            return memory

    path = replayed(Unnamed(order=("unknown", "turn")))
    file = tmp_path / "lineage.jsonl"
    fact = {"id": "unknown0", "kind": "fact", "turns": [[0, 0]]}
    other = {"id": "turn0", "kind": "fact", "turns": [[0, 0]]}
    file.write_text("\n".join(lines("inst-0", fact, other)), encoding="utf-8")
    traced = traced_from_run(path, open_targets("raw,kind:fact"), "turn", file)
    assert traced.supports["kind:fact"].anchors().sum() == 1
    (notice,) = [notice for notice in traced.notices if notice.kind == "lineage-conflict"]
    assert notice.names == ("turn0",)


def test_the_system_is_believed_before_the_file(replayed, tmp_path):
    path = replayed()
    file = tmp_path / "lineage.jsonl"
    other = [{"id": "turn0", "kind": "turn", "turns": [[1, 0]]}, TURNS[1]]
    file.write_text("\n".join(lines("inst-0", *other)), encoding="utf-8")
    traced = traced_from_run(path, open_targets("raw"), "turn", file)
    (notice,) = [notice for notice in traced.notices if notice.kind == "lineage-conflict"]
    assert (notice.count, notice.names) == (1, ("turn0",))
    assert first(score_traced(traced, (20,), "anchor"), "raw") == [8, 9, 10] * 2


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (["{"], "line 1"),
        (lines("inst-0", TURNS[0], TURNS[0]), "line 2.*twice|twice"),
        (lines("inst-9", TURNS[0]), "no instance"),
        (lines("inst-0", {"id": "a", "kind": "turn"}), "leave the item out"),
        (lines("inst-0", {"id": "a", "kind": "No Kind", "turns": [[0, 0]]}), "kind"),
        (lines("inst-0", {"id": "a", "kind": "fact", "turns": [[-1, 0]]}), "turns"),
        (lines("inst-0", {"id": "a", "kind": "fact", "turns": [[0, 0]], "gold": 1}), "gold"),
    ],
)
def test_a_lineage_file_that_is_wrong(with_file, told, said):
    with pytest.raises(CorpusError, match=said):
        with_file(told)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("ingest", None),
        ("ingest", {}),
        ("population", {"rule": "strict"}),
        ("retrieval", {"limit": "ten"}),
        ("retrieval", {"limit": 0}),
        ("corpus", []),
    ],
)
def test_a_manifest_without_what_credit_depends_on(replayed, part, value):
    path = replayed() / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["fingerprint"][part] = value
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(FormatError, match="fingerprint in the manifest"):
        traced_from_run(path.parent, open_targets("raw"))


def test_items_of_no_known_origin_are_refused_and_no_zero(with_file, tmp_path):
    with_file(lines("inst-0", *TURNS))
    with pytest.raises(Refusal, match="none of 4 returned items"):
        traced_from_run(tmp_path / "r", open_targets("raw"), "turn")


def test_a_file_may_not_add_to_a_store_that_tells_all(replayed, tmp_path):
    path = replayed()
    file = tmp_path / "lineage.jsonl"
    file.write_text("\n".join(lines("inst-0", FACT)), encoding="utf-8")
    with pytest.raises(CorpusError, match=r"1 items are not in the run.*never-returned"):
        traced_from_run(path, open_targets("raw"), "turn", file)


def test_a_kind_that_nobody_stores_is_told(replayed):
    traced = traced_from_run(replayed(), open_targets("raw,kind:facts"), "turn")
    (notice,) = [one for one in traced.notices if one.kind == "no-such-kind"]
    assert "kind:facts" in notice.what
    assert "fact, summary, turn" in notice.what
