"""What is made of a finished measurement: verdicts, own band, and what must be said beside."""

from datetime import datetime

import msgspec
import pytest

from memruler.compare.timed import compare_timed
from memruler.errors import Refusal
from memruler.model.system import SystemIdentity
from memruler.model.timed import Pass, Timed, TimedSide
from memruler.stats.noise import schedule

UNKNOWN = {
    "ingest_embedded": None,
    "ingest_cached": None,
    "search_embedded": None,
    "search_cached": None,
}
COLD = {"ingest_embedded": 9, "ingest_cached": 0, "search_embedded": 2, "search_cached": 0}
WARM = {"ingest_embedded": 0, "ingest_cached": 9, "search_embedded": 0, "search_cached": 2}


def side(name="one", **fields):
    given = {
        "name": name,
        "identity": SystemIdentity(name=name, version="1", digest="d" * 64),
        "chosen": {},
        "text": {"speaker": True},
        "checked": False,
        "warnings": (),
    }
    return TimedSide(**{**given, **fields})


def measured(base=None, candidate=None, *, use=(UNKNOWN, UNKNOWN), hits=(60, 60), warmup=1):
    passes = []
    for at, name in enumerate(schedule(4, warmup)):
        slower = 2 if name == "candidate" else 1
        wobble = 1 + 0.02 * (at * 7 % 5)
        which = int(name == "candidate")
        passes.append(
            Pass(
                side=name,
                round=at // 4,
                warmup=at < 4 * warmup,
                search_ms=slower * wobble,
                ingest_turns_per_s=1000 * wobble,
                hits=hits[which],
                **use[which],
            )
        )
    return Timed(
        base=base or side(),
        candidate=candidate or side("two"),
        corpus={"name": "tiny", "version": "1", "sha256": "0" * 64, "tier": "bundled"},
        instances=2,
        turns=8,
        queries=6,
        limit=10,
        rounds=4,
        warmup=warmup,
        passes=tuple(passes),
        garbage="collected before",
        stores="fresh",
        tool={},
        machine={},
        packages={},
        started=datetime(2024, 1, 1),
        finished=datetime(2024, 1, 1),
    )


def notes(*arguments, **options):
    return " | ".join(compare_timed(measured(*arguments, **options)).notes)


def test_each_measure_in_its_own_direction():
    found = compare_timed(measured())
    assert (found.search.better, found.search.verdict) == ("lower", "worse")
    assert (found.ingest.better, found.ingest.verdict) == ("higher", "inconclusive")
    assert (found.search.rounds, found.search.warmup) == (4, 1)
    assert found.base.passes == found.candidate.passes == 8
    assert found.base.hits == 480  # the warm-up does not count
    assert found.notes == ()


def test_a_clock_too_coarse_for_the_base_is_refused():
    coarse = measured()
    still = tuple(msgspec.structs.replace(p, search_ms=1.0) for p in coarse.passes)
    with pytest.raises(Refusal, match="again and again"):
        compare_timed(msgspec.structs.replace(coarse, passes=still))


@pytest.mark.parametrize(
    ("change", "own"),
    [
        ({}, True),
        ({"name": "alias", "chosen": {"a": 1}}, True),
        ({"text": {"speaker": False}}, False),
        ({"identity": SystemIdentity(name="one", version="1", digest="e" * 64)}, False),
        (
            {
                "identity": SystemIdentity(
                    name="one", version="1", digest="d" * 64, settings={"decay": 0.1}
                )
            },
            False,
        ),
    ],
)
def test_own_band_is_the_same_system_with_the_same_settings(change, own):
    candidate = msgspec.structs.replace(side(), **change)
    assert compare_timed(measured(side(), candidate)).own_band is own


def test_a_warm_cache_is_told():
    told = notes(use=(UNKNOWN, WARM))
    assert "every vector of the candidate's writes came from the cache" in told
    assert "every vector of the candidate's questions came from the cache" in told
    assert "base's" not in told
    assert notes(use=(COLD, COLD)) == ""
    assert compare_timed(measured(use=(COLD, WARM))).candidate.ingest_cached == 72


def test_one_warm_side_and_one_cold_side_is_told():
    assert "only one side embedded" in notes(use=(COLD, WARM))
    assert "only one side embedded" not in notes(use=(WARM, WARM))
    assert "only one side embedded" not in notes(use=(UNKNOWN, COLD))


def test_a_side_that_returns_less_is_told():
    assert "480 hits in the base, 80 in the candidate" in notes(hits=(60, 10))


def test_no_warmup_is_told():
    assert "no warm-up" in notes(warmup=0)


def test_the_check_of_a_foreign_system_is_told_where_only_one_side_has_it():
    foreign = side("two", checked=True)
    assert "the times of the candidate hold memruler's check" in notes(side(), foreign)
    assert "the times of the base hold" in notes(foreign, side())
    assert "check" not in notes(foreign, foreign)


def test_what_a_system_says_and_that_it_is_degraded():
    toy = SystemIdentity(name="two", version="1", digest="d", degraded=("a toy",))
    found = compare_timed(measured(side(), side("two", identity=toy, warnings=("decay is off",))))
    assert found.degraded == ("a toy",)
    assert found.notes == ("candidate: decay is off",)
