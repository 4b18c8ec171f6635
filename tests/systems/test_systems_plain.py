"""Settings in the form that JSON can hold."""

import json
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.systems.plain import Unfit, plain


class Colour(Enum):
    RED = "red"
    BOTH = frozenset({"b", "a"})


class Level(IntEnum):
    LOW = 1


class Shout(str):
    __slots__ = ()

    def __str__(self):
        return "something else"


@dataclass
class Pair:
    one: object
    other: object


class Record(msgspec.Struct):
    tags: set[str]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (None, None),
        (True, True),
        (Level.LOW, 1),
        (Colour.RED, "red"),
        (Colour.BOTH, ["a", "b"]),
        (Shout("x"), "x"),
        (np.int64(5), 5),
        (np.float32(0.5), 0.5),
        (Decimal("1.10"), "1.10"),
        (Fraction(1, 3), "1/3"),
        (Path("a") / "b", "a/b"),
        (date(2024, 1, 2), "2024-01-02"),
        (range(3), "range(0, 3)"),
        (b"\x01\xff", "01ff"),
        (deque([1, (2,)]), [1, [2]]),
        ({3, "a", None, 2.5}, ["a", 2.5, 3, None]),
        ({2: "x", "a": "y"}, {"2": "x", "a": "y"}),
        (MappingProxyType({"b": 1, "a": 2}), {"a": 2, "b": 1}),
        (Pair({"b", "a"}, Level.LOW), {"one": ["a", "b"], "other": 1}),
        (Record({"b", "a"}), {"tags": ["a", "b"]}),
    ],
)
def test_forms(value, form):
    found = plain(value)
    assert found == form
    assert type(found) is type(form)


def nested(depth):
    return [nested(depth - 1)] if depth else 1


def shared(depth):
    value = []
    for _ in range(depth):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "nan is not finite"),
        ({"x": {float("inf")}}, "inf is not finite"),
        (np.float64("nan"), "nan is not finite"),
        (2**63, "64 bits"),
        ("\ud800", "surrogate"),
        (Path("a\udcff"), "surrogate"),
        ({"\udcff": 1}, "surrogate"),
        ({1: "x", "1": "y"}, "two of its keys read 1"),
        (nested(100), "too much"),
        (shared(31), "too much"),
        (object(), r"builtins\.object is neither"),
        (plain, r"memruler\.systems\.plain\.plain is neither"),
    ],
)
def test_refused(value, said):
    with pytest.raises(Unfit, match=said):
        plain(value)


def test_an_object_is_marked_by_its_class_and_a_function_by_its_name():
    value = [object(), Record, plain, len, json.JSONEncoder().encode]
    assert plain(value, mark=True) == [
        "<opaque builtins.object>",
        f"<opaque {__name__}.Record>",
        "<opaque memruler.systems.plain.plain>",
        "<opaque builtins.len>",
        "<opaque builtins.method>",
    ]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.sets(st.text()),
    max_leaves=20,
)


@given(value=values)
def test_what_is_plain_goes_through_json_unchanged(value):
    try:
        form = plain(value)
    except Unfit:
        return
    assert msgspec.json.decode(msgspec.json.encode(form)) == form
    assert plain(form) == form


@given(words=st.lists(st.text() | st.integers() | st.frozensets(st.text()), unique=True))
def test_the_order_in_which_a_set_or_dict_was_filled_does_not_show(words):
    try:
        assert plain(set(words)) == plain(dict.fromkeys(reversed(words)).keys())
    except Unfit:
        return
    one, other = OrderedDict(), OrderedDict()
    for number, word in enumerate(words):
        if isinstance(word, str):
            one[word] = number
            other = OrderedDict({word: number, **other})
    assert list(plain(one).items()) == list(plain(other).items())
