import pytest

from memruler.errors import InstrumentError
from memruler.model.system import (
    CountsEmbedding,
    CountsTruncated,
    ExportsLineage,
    Memory,
    MemorySystem,
    Namespace,
    SearchesMany,
    SessionInput,
    TurnInput,
    Warns,
)
from memruler.studies.canary_system import LossySystem
from memruler.systems.registry import open_system

ABILITIES = (SearchesMany, ExportsLineage, CountsTruncated)


def session(*keys):
    return SessionInput(
        key="s0000", turns=tuple(TurnInput(key=k, text=k, speaker="A") for k in keys)
    )


def opened(system, folder, position=0):
    folder.mkdir(exist_ok=True)
    return system.open(Namespace(f"bench-abc-{position}", folder))


def test_it_has_the_abilities_of_the_system_and_no_others(tmp_path, word_system):
    for system in (open_system("builtin:lexical", {}).system, word_system):
        lossy = LossySystem(system, {})
        assert isinstance(lossy, MemorySystem)
        for ability in (Warns, CountsEmbedding):
            assert isinstance(lossy, ability) == isinstance(system, ability)
        bare = opened(system, tmp_path / f"bare-{id(system)}")
        memory = opened(lossy, tmp_path / f"lossy-{id(system)}")
        assert isinstance(memory, Memory)
        for ability in ABILITIES:
            assert isinstance(memory, ability) == isinstance(bare, ability)
        memory.close()
        bare.close()


def test_what_is_lost_never_arrives_and_only_in_its_instance(tmp_path, word_system):
    arrived = []
    word_system.on_ingest = lambda s: arrived.append([turn.key for turn in s.turns])
    lossy = LossySystem(word_system, {1: frozenset({"b", "c"})})
    opened(lossy, tmp_path, 0).ingest(session("a", "b"))
    memory = opened(lossy, tmp_path, 1)
    memory.ingest(session("a", "b"))
    memory.ingest(session("b", "c"))  # nothing is left of it
    assert arrived == [["a", "b"], ["a"]]


def test_the_loss_is_part_of_the_identity(word_system):
    lossy = LossySystem(word_system, {0: frozenset("ab"), 1: frozenset("c")})
    own, changed = word_system.identity(), lossy.identity()
    assert changed.settings == {**own.settings, "canary_lost_turns": 3}
    assert changed.digest == own.digest


def test_a_namespace_of_no_instance(tmp_path, word_system):
    with pytest.raises(InstrumentError, match="does not end with its instance"):
        LossySystem(word_system, {}).open(Namespace("bench", tmp_path))
