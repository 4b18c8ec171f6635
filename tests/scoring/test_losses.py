"""What a store loses is counted, and so is the gold that goes with it."""

import msgspec
import pytest

from memruler.model.corpus import Turn
from memruler.replay.run import measure
from memruler.scoring.score import score
from memruler.store.folder import RunFolder
from memruler.systems.registry import open_system


@pytest.fixture
def measured(tmp_path, make_plan):
    def build(instances, system, **settings):
        opened = open_system(system, settings)
        with RunFolder.claim(tmp_path, "r") as folder:
            measure(make_plan(opened.system, instances), folder, lambda *_: None)
            return score(folder, (1, 2))

    return build


def speaking(instance, texts):
    """The instance with these texts in its sessions."""
    sessions = tuple(
        msgspec.structs.replace(s, turns=(Turn(position=0, speaker="Ann", text=text),))
        for s, text in zip(instance.sessions, texts, strict=True)
    )
    return msgspec.structs.replace(instance, sessions=sessions)


def test_a_refused_duplicate_takes_its_gold_with_it(measured, make_instance):
    one = speaking(make_instance(0), ["word0 here", "word0 here", "word2 there", "word3"])
    summary = measured([one], "builtin:lexical", dedup_prefix="true")
    assert summary.store.known
    assert summary.store.stored == 3
    assert summary.store.lost == {"prefix_duplicate": 1}
    # The turn of session 1 is the gold of query 1 and of no other.
    assert summary.store.lost_gold == {"prefix_duplicate": 1}
    assert summary.store.queries_hurt == 1


def test_eviction_is_counted_by_its_own_reason(measured, make_instance):
    summary = measured([make_instance(0)], "builtin:lexical", capacity="3")
    # All weigh the same, so the oldest goes: session 0, the gold of query 0.
    assert summary.store.lost == {"capacity": 1}
    assert summary.store.lost_gold == {"capacity": 1}


def test_nothing_lost_is_nothing_counted(measured, make_instance):
    store = measured([make_instance(0)], "builtin:lexical").store
    assert (store.stored, store.lost, store.lost_gold, store.queries_hurt) == (4, {}, {}, 0)
    assert store.truncated == 0


def test_texts_that_the_embedder_cut_are_counted(measured, make_instance):
    pytest.importorskip("onnxruntime", reason="needs memruler[local]")
    long = " ".join(f"number{i}" for i in range(300))
    one = speaking(make_instance(0), ["word0", long, "word2", "word3"])
    assert measured([one], "builtin:dense").store.truncated == 1


def test_a_system_without_lineage_tells_nothing_of_its_losses(
    tmp_path, make_plan, make_instance, word_system
):
    with RunFolder.claim(tmp_path, "r") as folder:
        measure(make_plan(word_system, [make_instance(0)]), folder, lambda *_: None)
        store = score(folder, (1,)).store
    assert not store.known
    assert store.truncated is None
