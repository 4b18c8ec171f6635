from pathlib import Path
from typing import Optional, Union

import pytest

from memruler.errors import UsageError
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
    assert defaulted["where"] == repr(Path("data"))


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
    ],
)
def test_mistakes(given, said):
    with pytest.raises(UsageError) as caught:
        constructor_arguments(factory, given, "f")
    assert said in str(caught.value)
