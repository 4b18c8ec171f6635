import math
from itertools import combinations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.stats.repeats import Repeat, RepeatedSide, repeated_side
from memruler.stats.repeats_item import voted

KINDS = {"t": True, "f": False}


def draws(letters, tops=None):
    """`t` right, `f` wrong, `e` erred; a letter of `tops` each, `-` for keys that are unknown."""
    keys = tops or "-" * len(letters)
    return [
        Repeat(
            label=KINDS.get(letter),
            reason=None if letter in KINDS else "timed out",
            top=None if key == "-" else (key, "x"),
        )
        for letter, key in zip(letters, keys, strict=True)
    ]


@pytest.mark.parametrize(
    ("letters", "label"),
    [
        ("t", True),
        ("ttf", True),
        ("tff", False),
        ("tf", False),
        ("ttff", False),
        ("te", True),
        ("tfe", False),
        ("eee", None),
        ("eet", True),
    ],
)
def test_the_majority_of_those_that_vote(letters, label):
    item = voted(draws(letters), "q1")
    assert item.label is label
    assert item.tied == (letters in {"tf", "ttff", "tfe"})
    assert item.erred == letters.count("e")


@pytest.mark.parametrize(
    ("letters", "tops", "moved"),
    [
        ("ttt", "aab", None),
        ("ttf", "aaa", "reader"),
        ("ttf", "aab", "retrieval"),
        ("tft", "aab", "reader"),
        ("ttf", "aa-", "unknown"),
        ("ttff", "aba-", "reader"),
        ("tfe", "ab-", "retrieval"),
        ("tf", "--", "unknown"),
    ],
)
def test_what_moved(letters, tops, moved):
    assert voted(draws(letters, tops), "q1").moved == moved


def test_the_order_of_the_keys_counts():
    one = Repeat(label=True, top=("a", "b"))
    other = Repeat(label=False, top=("b", "a"))
    assert voted([one, other], "q1").moved == "retrieval"


def test_a_side_by_hand():
    side = repeated_side(
        {
            "steady": draws("ttt", "aaa"),
            "reader": draws("ttf", "aaa"),
            "retrieval": draws("tff", "abb"),
            "tie": draws("tfe"),
            "single": draws("tee"),
            "dead": draws("ee"),
        }
    )
    assert (side.items, side.labelled, side.errors, side.right) == (6, 5, 1, 3)
    assert side.accuracy == 3 / 5
    assert side.repeats == {2: 1, 3: 5}
    assert (side.even, side.ties) == (1, 1)
    assert side.erred == {"timed out": 5}
    flips = side.flips
    assert (flips.of, flips.items, flips.rate) == (4, 3, 0.75)
    assert flips.pairwise == pytest.approx((0 + 2 / 3 + 2 / 3 + 1) / 4)
    assert (flips.reader, flips.retrieval, flips.unknown) == (1, 1, 1)
    assert (flips.known, flips.same_top) == (3, 2)
    pairs = flips.pairs
    assert (pairs.total, pairs.known, pairs.same) == (10, 9, 7)
    assert (pairs.flipped, pairs.flipped_same, pairs.flipped_other) == (5, 2, 2)


@pytest.mark.parametrize(("letters", "accuracy"), [("t", 1.0), ("fe", 0.0), ("ee", None)])
def test_one_repeat_has_no_flip_rate(letters, accuracy):
    side = repeated_side({"a": draws(letters), "b": draws(letters)})
    assert side.flips is None
    assert "two repeats" in side.no_flips
    assert side.accuracy == accuracy


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        [Repeat(label=None)],
        [Repeat(label=True, reason="timed out")],
        [Repeat(label=1)],
        [Repeat(label="true")],
    ],
)
def test_repeats_that_cannot_be(wrong):
    with pytest.raises(UsageError, match="q1"):
        repeated_side({"q1": wrong})


def test_no_item():
    with pytest.raises(UsageError):
        repeated_side({})


LETTERS = st.text("tfe", min_size=1, max_size=6)
ITEMS = st.lists(
    LETTERS.flatmap(
        lambda letters: st.tuples(
            st.just(letters), st.text("ab-", min_size=len(letters), max_size=len(letters))
        )
    ),
    min_size=1,
    max_size=8,
)


@given(ITEMS, st.randoms(use_true_random=False))
def test_counts_add_up_and_no_order_matters(items, random):
    repeats = {f"q{at}": draws(*item) for at, item in enumerate(items)}
    side = repeated_side(repeats)
    assert side.labelled + side.errors == side.items == len(items)
    assert sum(side.repeats.values()) == len(items)
    assert sum(side.erred.values()) == sum(letters.count("e") for letters, _ in items)
    if side.flips is not None:
        flips, pairs = side.flips, side.flips.pairs
        assert flips.reader + flips.retrieval + flips.unknown == flips.items <= flips.of
        assert pairs.flipped_same + pairs.flipped_other <= pairs.flipped <= pairs.total
        assert pairs.same <= pairs.known <= pairs.total
        assert 0 <= flips.pairwise <= 1
        assert (flips.pairwise == 0) == (flips.items == 0)
    shuffled = list(repeats.items())
    random.shuffle(shuffled)
    assert repeated_side({name: random.sample(r, len(r)) for name, r in shuffled}) == side


@given(st.integers(2, 7), st.integers(0, 7))
def test_pairwise_is_the_share_of_pairs_that_disagree(n, right):
    letters = "t" * min(right, n) + "f" * (n - min(right, n))
    pairs = list(combinations(letters, 2))
    share = sum(a != b for a, b in pairs) / len(pairs)
    found = repeated_side({"q": draws(letters)}).flips
    assert found.pairwise == pytest.approx(share)
    assert found.pairs.total == math.comb(n, 2)


def test_the_record_is_plain():
    side = repeated_side({"a": draws("ttf", "aab"), "b": draws("e")})
    data = msgspec.json.encode(side)
    assert msgspec.json.decode(data, type=RepeatedSide) == side
