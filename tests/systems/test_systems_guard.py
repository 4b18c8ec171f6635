"""What foreign code does wrong is named, and never scored."""

import pytest

from memruler.errors import InstrumentError, SystemUnderTestError
from memruler.model.system import (
    ExportsLineage,
    Hit,
    MemoryItem,
    Namespace,
    Ranking,
    SearchesMany,
    SearchRequest,
    SystemIdentity,
)
from memruler.systems.guard import Guard, GuardedSystem

IDENTITY = SystemIdentity(name="x", version="1", digest="own")


def does(thing):
    def method(*_):
        if isinstance(thing, BaseException):
            raise thing
        return thing

    return method


def system(identity=IDENTITY, **methods):
    """A guarded system whose memory's methods return a value or raise it."""
    plain = {"ingest": None, "settle": None, "search": Ranking(()), "close": None}
    found = {name: does(thing) for name, thing in {**plain, **methods}.items() if thing != "absent"}
    memory = type("Mine", (), found)()
    made = type("Sys", (), {"identity": does(identity), "open": does(memory)})()
    return GuardedSystem(made, Guard(__file__), "digest", {"size": 3})


def opened(tmp_path, **methods):
    return system(**methods).open(Namespace("n", tmp_path))


def call(memory, turns, name):
    arguments = {
        "ingest": (turns.session("x"),),
        "search": ("x", 5, turns.at),
        "search_many": ([SearchRequest(text="x", k=5, at=turns.at)],),
    }
    return getattr(memory, name)(*arguments.get(name, ()))


@pytest.mark.parametrize("name", ["ingest", "settle", "search", "close", "search_many", "lineage"])
def test_whatever_is_raised_names_class_method_and_line(tmp_path, turns, name):
    memory = opened(tmp_path, **{name: ValueError("odd\nvalue")})
    with pytest.raises(SystemUnderTestError) as caught:
        call(memory, turns, name)
    message = str(caught.value)
    assert message.startswith(f"Mine.{name} raised ValueError: odd\\nvalue [")
    assert "test_systems_guard.py:" in message
    assert "Traceback" not in message


def test_an_exit_is_a_failure_and_an_interrupt_is_not(tmp_path, turns):
    with pytest.raises(SystemUnderTestError, match="SystemExit"):
        call(opened(tmp_path, search=SystemExit(0)), turns, "search")
    with pytest.raises(KeyboardInterrupt):
        call(opened(tmp_path, search=KeyboardInterrupt()), turns, "search")


def test_an_error_of_memruler_passes_through(tmp_path, turns):
    error = InstrumentError("the embedder broke")
    with pytest.raises(InstrumentError) as caught:
        call(opened(tmp_path, search=error), turns, "search")
    assert caught.value is error


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize("exports", [True, False])
def test_abilities_are_those_of_what_is_guarded(tmp_path, turns, many, exports):
    ranking = Ranking((Hit(item="a", score=1.5),))
    item = MemoryItem(id="a", kind="fact", sources=(), text="x")
    methods = {
        "search_many": [ranking] if many else "absent",
        "lineage": (i for i in [item]) if exports else "absent",
    }
    memory = opened(tmp_path, **methods)
    assert isinstance(memory, SearchesMany) == many
    assert isinstance(memory, ExportsLineage) == exports
    if many:
        assert call(memory, turns, "search_many") == [ranking]
    if exports:
        assert list(memory.lineage()) == [item]


@pytest.mark.parametrize(
    ("name", "result", "said"),
    [
        ("search", None, "returned NoneType, not Ranking"),
        ("search", ["a"], "returned list, not Ranking"),
        ("search", Ranking(("a",)), "returned a faulty Ranking: Expected"),
        ("search", Ranking((Hit(item=5),)), r"Expected `str`, got `int` - at `\$.hits\[0\].item`"),
        ("search", Ranking((Hit(item="a", score="high"),)), "score"),
        ("search_many", [None], "returned NoneType, not Ranking"),
        ("search_many", 5, "raised TypeError"),
        ("lineage", [Hit(item="a")], "returned Hit, not MemoryItem"),
        (
            "lineage",
            [MemoryItem(id="a", kind="x", sources=(), text="x", status="lost")],
            "Invalid enum value 'lost'",
        ),
    ],
)
def test_a_result_of_another_kind(tmp_path, turns, name, result, said):
    with pytest.raises(SystemUnderTestError, match=said):
        call(opened(tmp_path, **{name: result}), turns, name)


def test_identity_is_its_own_but_the_digest_is_ours():
    got = system().identity()
    assert (got.name, got.digest, got.settings) == ("x", "digest", {"size": 3})
    with pytest.raises(SystemUnderTestError, match=r"Sys\.identity returned str"):
        system(identity="words").identity()
    with pytest.raises(SystemUnderTestError, match=r"Sys\.identity raised OSError"):
        system(identity=OSError()).identity()


def test_a_memory_that_lacks_methods(tmp_path):
    with pytest.raises(SystemUnderTestError, match=r"Sys\.open returned Mine, which has no settle"):
        opened(tmp_path, settle="absent")
