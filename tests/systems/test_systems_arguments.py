from pathlib import Path
from typing import Optional, Union

import pytest

from memruler.errors import SystemUnderTestError, UsageError
from memruler.systems.arguments import constructor_arguments


def factory(  # noqa: PLR0917 - one of every kind
    plain,
    whole: int = 1,
    share: "float" = 0.5,
    flag: bool = False,
    either: int | None = None,
    old: Optional[float] = None,  # noqa: UP045 - people still write it
    mixed: Union[int, str] = "x",  # noqa: UP007
    where: Path = Path("data"),
    *,
    guessed=7,
    text=None,
):
    del plain, whole, share, flag, either, old, mixed, where, guessed, text


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("whole", "12", 12),
        ("share", "0.25", 0.25),
        ("share", "2", 2.0),
        ("flag", "true", True),
        ("flag", "False", False),
        ("either", "none", None),
        ("either", "4", 4),
        ("old", "null", None),
        ("old", "1.5", 1.5),
        ("mixed", "5", 5),
        ("mixed", "five", "five"),
        ("where", "other", "other"),
        ("guessed", "8", 8),
        ("text", "none", "none"),
        ("plain", "5", "5"),
    ],
)
def test_conversion(name, typed, value):
    chosen, defaulted = constructor_arguments(factory, {"plain": "p", name: typed}, "f")
    assert chosen[name] == value
    assert type(chosen[name]) is type(value)
    assert name not in defaulted


def test_defaults_are_kept_apart_and_plain():
    chosen, defaulted = constructor_arguments(factory, {"plain": "p"}, "f")
    assert chosen == {"plain": "p"}
    assert defaulted["whole"] == 1
    assert defaulted["where"] == "data"


def test_any_keyword_is_taken_where_the_constructor_takes_any():
    def open_ended(**settings):
        del settings

    assert constructor_arguments(open_ended, {"x": "1"}, "f") == ({"x": "1"}, {})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "needs the setting plain"),
        ({"plain": "p", "hole": "1"}, "did you mean whole"),
        ({"plain": "p", "whole": "1.5"}, "of type int"),
        ({"plain": "p", "flag": "2"}, "of type bool"),
        ({"plain": "p", "share": "nan"}, "nan is not finite"),
        ({"plain": "p", "share": "-inf"}, "-inf is not finite"),
        ({"plain": "p", "share": "1e999"}, "of type float"),
        ({"plain": "p", "whole": "9" * 30}, "more than 64 bits"),
        ({"plain": "p", "whole": "9" * 5000}, "of type int"),
        ({"plain": "a\udcff"}, "half a surrogate pair"),
        ({"plain": "p", "whole": "\ud800"}, "half a surrogate pair"),
        ({"plain\udcff": "p"}, "half a surrogate pair"),
    ],
)
def test_mistakes(given, said):
    with pytest.raises(UsageError) as caught:
        constructor_arguments(factory, given, "f")
    assert said in str(caught.value)


def test_the_name_of_an_open_ended_setting_is_checked_too():
    with pytest.raises(UsageError, match="surrogate"):
        constructor_arguments(lambda **_: None, {"x\ud800": "1"}, "f")


class Ranker:
    pass


def test_a_default_shows_neither_an_address_nor_the_order_of_a_set():
    def one(ranker=Ranker(), key=lambda text: text, words=frozenset("bca"), kind=Ranker):  # noqa: B008
        del ranker, key, words, kind

    _, defaulted = constructor_arguments(one, {}, "f")
    name = f"{__name__}.test_a_default_shows_neither_an_address_nor_the_order_of_a_set"
    assert defaulted == {
        "ranker": f"<opaque {__name__}.Ranker>",
        "key": f"<opaque {name}.<locals>.<lambda>>",
        "words": ["a", "b", "c"],
        "kind": f"<opaque {__name__}.Ranker>",
    }


@pytest.mark.parametrize("default", [float("nan"), [float("inf")], "\ud800", 2**64])
def test_a_default_that_no_manifest_can_hold(default):
    def one(limit=default):
        del limit

    with pytest.raises(SystemUnderTestError, match="default of limit: "):
        constructor_arguments(one, {}, "f")
    assert constructor_arguments(one, {"limit": "1"}, "f")[1] == {}


def test_a_default_whose_equality_is_no_truth_value():
    class Array:
        def __eq__(self, other):
            raise ValueError("ambiguous")

        __hash__ = None

    def one(weights=Array()):  # noqa: B008
        del weights

    assert constructor_arguments(one, {"weights": "x"}, "f")[0] == {"weights": "x"}
