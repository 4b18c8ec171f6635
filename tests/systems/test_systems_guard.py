"""What foreign code does wrong is named, and never scored."""

import asyncio
from itertools import product

import pytest

from memruler.errors import InstrumentError, SystemUnderTestError
from memruler.model.system import (
    Answers,
    CountsTruncated,
    ExportsLineage,
    Hit,
    MemoryItem,
    Namespace,
    Ranking,
    SearchesMany,
    SearchRequest,
    SystemIdentity,
)
from memruler.systems.guard import Guard
from memruler.systems.guarded import GuardedSystem

IDENTITY = SystemIdentity(name="x", version="1", digest="own")
METHODS = ["ingest", "settle", "search", "close", "search_many", "lineage", "answer"]


class Raises:
    """Names an error to be raised; some are too odd to be handled as objects."""

    def __init__(self, kind, arguments):
        self.kind, self.arguments = kind, arguments


def does(thing):
    def method(*_):
        if isinstance(thing, Raises):
            raise thing.kind(*thing.arguments)
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
        "answer": ("x", turns.at),
    }
    return getattr(memory, name)(*arguments.get(name, ()))


@pytest.mark.parametrize("name", METHODS)
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


class Mute(Exception):  # noqa: N818
    def __str__(self):
        raise SystemExit(4)


class Odd(Exception):  # noqa: N818
    def __str__(self):
        return 5  # noqa: PLE0307 - the fault itself


class Own(BaseException):
    pass


class Derived(InstrumentError):  # noqa: N818
    exit_code = 0


class Hollow(Exception):  # noqa: N818
    @property
    def __traceback__(self):
        raise OSError


class Masked(Exception):  # noqa: N818
    @property
    def __class__(self):
        raise OSError


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("kind", "arguments", "said"),
    [
        (asyncio.CancelledError, (), "CancelledError"),
        (GeneratorExit, (), "GeneratorExit"),
        (StopIteration, (7,), "StopIteration: 7"),
        (
            BaseExceptionGroup,
            ("two", [GeneratorExit(), ValueError()]),
            "BaseExceptionGroup: two (2 sub-exceptions)",
        ),
        (Own, ("x",), "Own: x"),
        (Mute, (), "Mute: its message cannot be read"),
        (Odd, (), "Odd: its message cannot be read"),
        (Derived, ("x",), "Derived: x"),
        (Hollow, ("x",), "Hollow: x"),
        (Masked, ("x",), "Masked: x"),
        (ValueError, ("\ud800",), r"ValueError: \ud800"),
    ],
)
def test_no_kind_of_error_escapes(tmp_path, turns, name, *, kind, arguments, said):
    memory = opened(tmp_path, **{name: Raises(kind, arguments)})
    with pytest.raises(SystemUnderTestError) as caught:
        call(memory, turns, name)
    assert str(caught.value).startswith(f"Mine.{name} raised {said} [{__file__}")
    assert "\n" not in str(caught.value)


def test_an_interrupt_inside_a_group_is_an_interrupt(tmp_path, turns):
    group = BaseExceptionGroup("x", [BaseExceptionGroup("y", [KeyboardInterrupt()]), OSError()])
    with pytest.raises(KeyboardInterrupt):
        call(opened(tmp_path, search=group), turns, "search")


class Prickly:
    def __getattr__(self, name):
        raise OSError(f"no {name}")


class Liar:
    @property
    def __class__(self):
        raise OSError("no class")


@pytest.mark.parametrize("kind", [Prickly, Liar])
def test_looking_at_what_came_back_is_guarded_too(tmp_path, turns, kind):
    thing = kind()
    made = type("Sys", (), {"identity": does(thing), "open": does(thing)})()
    guarded = GuardedSystem(made, Guard(__file__), "digest", {})
    with pytest.raises(SystemUnderTestError):
        guarded.open(Namespace("n", tmp_path))
    with pytest.raises(SystemUnderTestError):
        guarded.identity()
    with pytest.raises(SystemUnderTestError):
        call(opened(tmp_path, search=thing), turns, "search")


def test_an_error_of_memruler_passes_through(tmp_path, turns):
    error = InstrumentError("the embedder broke")
    with pytest.raises(InstrumentError) as caught:
        call(opened(tmp_path, search=error), turns, "search")
    assert caught.value is error


@pytest.mark.parametrize("has", list(product([True, False], repeat=4)))
def test_abilities_are_those_of_what_is_guarded(tmp_path, turns, has):
    many, exports, counts, answers = has
    ranking = Ranking((Hit(item="a", score=1.5),))
    item = MemoryItem(id="a", kind="fact", sources=(), text="x")
    methods = {
        "search_many": [ranking] if many else "absent",
        "lineage": (i for i in [item]) if exports else "absent",
        "truncated": 3 if counts else "absent",
        "answer": "in May" if answers else "absent",
    }
    memory = opened(tmp_path, **methods)
    assert isinstance(memory, SearchesMany) == many
    assert isinstance(memory, ExportsLineage) == exports
    assert isinstance(memory, CountsTruncated) == counts
    assert isinstance(memory, Answers) == answers
    if answers:
        assert call(memory, turns, "answer") == "in May"
    if counts:
        assert memory.truncated() == 3
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
        ("search", Ranking((Hit(item="\ud800"),)), "faulty Ranking: .*surrogates"),
        ("lineage", [MemoryItem(id="a", kind="x", sources=(), text="\udc00")], "surrogates"),
        ("truncated", -1, "returned no count"),
        ("truncated", True, "returned no count"),
        ("answer", 5, "returned no text"),
        ("answer", "\ud800", "raised UnicodeEncodeError"),
        ("answer", "x" * 1_000_001, "returned 1000001 characters; at most 1000000"),
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


def looped():
    found = {}
    found["self"] = [found]
    return found


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"x": float("nan")}, "nan is not finite"),
        ({"x": [float("-inf")]}, "-inf is not finite"),
        ({"x": "\ud800"}, "half a surrogate pair"),
        ({"\ud800": 1}, "half a surrogate pair"),
        ({"x": object()}, r"builtins\.object is neither"),
        (looped(), "it holds itself"),
        ({"x": 2**63}, "64 bits"),
        (["x"], "they are no dict"),
    ],
)
def test_settings_that_no_manifest_can_hold(settings, said):
    faulty = SystemIdentity(name="x", version="1", digest="own", settings=settings)
    with pytest.raises(SystemUnderTestError, match=said):
        system(identity=faulty).identity()


@pytest.mark.parametrize("field", ["name", "version", "degraded"])
def test_a_text_of_the_identity_that_no_file_can_hold(field):
    value = ("\udfff",) if field == "degraded" else "\udfff"
    faulty = SystemIdentity(**{"name": "x", "version": "1", "digest": "own", field: value})
    with pytest.raises(SystemUnderTestError, match=r"faulty SystemIdentity: .*surrogates"):
        system(identity=faulty).identity()


def test_a_foreign_system_tells_nothing_of_its_embedder():
    assert system().warnings() == ()
    assert system().embedder_usage() is None


def test_a_memory_that_lacks_methods(tmp_path):
    with pytest.raises(SystemUnderTestError, match=r"Sys\.open returned Mine, which has no settle"):
        opened(tmp_path, settle="absent")
