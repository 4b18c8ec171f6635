import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import Refusal
from memruler.stats import paired_bootstrap
from memruler.stats.repeats import Repeat
from memruler.stats.repeats_pair import RepeatedPair, repeated_pair

KINDS = {"t": True, "f": False}


def draws(letters, tops=None):
    keys = tops or "-" * len(letters)
    return [
        Repeat(
            label=KINDS.get(letter),
            reason=None if letter in KINDS else "timed out",
            top=None if key == "-" else (key,),
        )
        for letter, key in zip(letters, keys, strict=True)
    ]


def side(**items):
    return {name: draws(*words.split()) for name, words in items.items()}


def by_hand():
    return repeated_pair(
        side(
            steady="tt aa", won="ff aa", moved="ff aa", flips="ttf aaa", lost="tt", dead="ee", x="t"
        ),
        side(
            steady="tt aa", won="tt aa", moved="tt ab", flips="fff aaa", lost="ff", dead="tt", x="t"
        ),
    )


def test_by_hand():
    found = by_hand()
    assert found.items == 7
    assert found.errors == {"base": 1, "candidate": 0, "both": 0}
    full = found.full
    assert (full.of, full.base, full.candidate, full.wins, full.losses) == (6, 4, 4, 2, 2)
    assert full.delta == 0
    assert full.interval == paired_bootstrap([0, 1, 1, -1, -1, 0])
    # Not the one that flips, not the one with a single repeat.
    assert (found.stable.of, found.stable.wins, found.stable.losses) == (4, 2, 1)
    assert found.stable.interval == paired_bootstrap([0, 1, 1, -1])
    assert (found.errors_wrong.of, found.errors_wrong.wins) == (7, 3)
    between = found.discordance
    assert (between.of, between.items, between.rate) == (6, 4, 4 / 6)
    assert (between.reader, between.retrieval, between.unknown) == (2, 1, 1)
    assert found.base.flips.items == 1


def test_other_items_are_refused_and_listed():
    base = side(**{f"q{n}": "tt" for n in range(9)}, both="tt")
    with pytest.raises(Refusal) as caught:
        repeated_pair(base, side(both="tt", new="tt"))
    first, second = caught.value.reasons
    assert first == "only the base has 9 items: q0, q1, q2, q3, q4 and 4 more"
    assert second == "only the candidate has 1 item: new"


def test_an_item_without_a_cluster_is_refused():
    both = side(a="tt", b="tt", c="tt")
    with pytest.raises(Refusal, match="no cluster is given for 1 item: b"):
        repeated_pair(both, both, clusters={"a": 1, "c": 1})


def test_clusters_are_resampled_whole():
    base, candidate = side(a="ff", b="ff", c="tt", d="tt"), side(a="tt", b="tt", c="tt", d="tt")
    found = repeated_pair(base, candidate, clusters={"a": 1, "b": 1, "c": 2, "d": 3})
    assert found.full.interval.clusters == 3
    assert found.full.interval == paired_bootstrap([1, 1, 0, 0], [1, 1, 2, 3])


def test_too_little_has_shares_and_a_reason_instead_of_an_interval():
    found = repeated_pair(side(a="tt", b="tf"), side(a="ff", b="tt"))
    assert (found.stable.of, found.stable.delta, found.stable.interval) == (1, -1, None)
    assert "1 cluster" in found.stable.no_interval
    assert found.full.no_interval is None


def test_nothing_stable_and_nothing_labelled():
    found = repeated_pair(side(a="ee", b="e"), side(a="tt", b="tf"))
    assert (found.full.of, found.full.delta, found.full.interval) == (0, None, None)
    assert "label on both sides" in found.full.no_interval
    assert "unanimous" in found.stable.no_interval
    assert found.discordance.rate is None
    assert found.errors == {"base": 2, "candidate": 0, "both": 0}


def test_failing_does_not_pay():
    """A candidate that errs on what it would get wrong gains nothing over all items."""
    base = side(a="tt", b="tt", c="ff", d="ff")
    found = repeated_pair(base, side(a="tt", b="ee", c="ff", d="ff"))
    assert found.full.delta == 0
    assert found.errors_wrong.delta == -0.25


SIDES = st.lists(
    st.tuples(st.text("tfe", min_size=1, max_size=4), st.text("tfe", min_size=1, max_size=4)),
    min_size=2,
    max_size=8,
)


@given(SIDES)
def test_swapping_the_sides_turns_every_sign(pairs):
    base = {f"q{n}": draws(one) for n, (one, _) in enumerate(pairs)}
    candidate = {f"q{n}": draws(other) for n, (_, other) in enumerate(pairs)}
    forth, back = repeated_pair(base, candidate), repeated_pair(candidate, base)
    for name in ("full", "stable", "errors_wrong"):
        one, other = getattr(forth, name), getattr(back, name)
        assert (one.wins, one.losses, one.of) == (other.losses, other.wins, other.of)
        assert one.candidate - one.base == one.wins - one.losses
        if one.interval is not None:
            assert one.interval.mean == pytest.approx(-other.interval.mean)
            assert one.interval.mean == pytest.approx(one.delta)
    assert forth.discordance == back.discordance
    assert forth.stable.of <= forth.full.of <= forth.errors_wrong.of == forth.items


def test_a_side_against_itself_is_concordant():
    one = side(a="ttf abc", b="ff", c="e")
    found = repeated_pair(one, one)
    assert (found.discordance.items, found.full.delta, found.errors["both"]) == (0, 0, 1)


def test_the_record_is_plain():
    found = by_hand()
    assert msgspec.json.decode(msgspec.json.encode(found), type=RepeatedPair) == found
