"""Two scripted systems under a clock that only they move: no test judges real time."""

import gc
import re
from pathlib import Path

import msgspec
import pytest

from memruler.compare.timed import TimeComparison, compare_timed
from memruler.errors import CorpusError, InstrumentError, Refusal, SystemUnderTestError, UsageError
from memruler.replay.timing import time_systems


class Clock:
    """Moves only when a system works: a little unsteadily, and slower and slower with `drift`."""

    def __init__(self):
        self.now = 100.0
        self.drift = 0.0
        self.calls = 0

    def __call__(self):
        return self.now

    def work(self, seconds):
        self.calls += 1
        self.now += seconds * (1 + 0.01 * (self.calls * 7 % 5)) + self.drift * self.calls


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    for room in ("instance", "searches"):
        monkeypatch.setattr(f"memruler.replay.{room}.perf_counter", found)
    monkeypatch.setattr("memruler.replay.timing.gc.collect", int)  # slow in a process so full
    return found


@pytest.fixture
def make_side(clock, word_system, make_plan, make_instance):
    """A plan of a system that takes so long for a session and for a search."""

    def build(name="words", ingest=0.010, search=0.001, size=2, **settings):
        system = type(word_system)()
        identity = msgspec.structs.replace(system.identity(), name=name)
        system.identity = lambda: identity
        system.on_ingest = lambda _: clock.work(ingest)
        system.on_search = lambda _: clock.work(search)
        return make_plan(system, [make_instance(n) for n in range(size)], **settings)

    return build


def timed(base, candidate, rounds=4, warmup=1, tick=lambda *_: None):
    return time_systems(base, candidate, rounds=rounds, warmup=warmup, tick=tick)


def test_what_is_measured(make_side):
    base, candidate = make_side(limit=3), make_side("other", limit=3)
    found = timed(base, candidate)
    assert (found.instances, found.turns, found.queries, found.limit) == (2, 8, 6, 3)
    assert (found.rounds, found.warmup) == (4, 1)
    assert "".join(done.side[0] for done in found.passes) == "bccbcbbc" * 2 + "bccb"
    assert [done.round for done in found.passes[::4]] == [0, 1, 2, 3, 4]
    assert [done.warmup for done in found.passes[::4]] == [True, False, False, False, False]
    for done in found.passes:
        # Eight sessions of a turn each in 10 to 10.4 ms each; the middle search in 1 to 1.04 ms.
        assert 8 / 0.0832 <= done.ingest_turns_per_s <= 8 / 0.08
        assert 1.0 <= done.search_ms <= 1.04
        assert done.hits == 18
        assert done.ingest_embedded is None
    assert found.base.identity.name == "words"
    assert found.corpus["name"] == "tiny"
    assert not found.base.checked


def test_each_pass_has_fresh_stores_whose_names_tell_no_side(make_side):
    base, candidate = make_side(), make_side()
    timed(base, candidate, rounds=2)
    one, other = base.system.opened, candidate.system.opened
    assert len(one) == len(other) == 3 * 2 * 2
    assert all(re.fullmatch(r"bench-[0-9a-f]{12}-[0-2]", space.name) for space in one + other)
    assert len({space.name for space in one + other}) == 24
    assert {space.folder for space in one} == {space.folder for space in other}
    assert not any(space.folder.exists() for space in one)
    assert base.system.closed == candidate.system.closed == 12


def test_a_store_is_empty_at_the_start_of_a_pass(make_side):
    base = make_side()
    plain = base.system.open
    left = []

    def opened(namespace):
        left.extend(Path(namespace.folder).iterdir())
        return plain(namespace)

    base.system.open = opened
    timed(base, make_side(), rounds=2)
    assert left == []


def test_a_slower_search_and_a_faster_ingest_are_told_apart(make_side):
    found = compare_timed(timed(make_side(), make_side("other", ingest=0.005, search=0.002)))
    assert (found.search.verdict, found.ingest.verdict) == ("worse", "better")
    assert found.search.relative == pytest.approx(1, abs=0.1)
    assert found.ingest.relative == pytest.approx(1, abs=0.1)
    assert not found.own_band


def test_a_machine_that_slows_down_takes_no_side(clock, make_side):
    clock.drift = 1e-5
    found = compare_timed(timed(make_side(), make_side(), rounds=8))
    assert found.measured.passes[-1].search_ms > 2 * found.measured.passes[0].search_ms
    assert (found.search.verdict, found.ingest.verdict) == ("inconclusive", "inconclusive")


def test_the_same_system_measures_its_own_band(make_side):
    assert compare_timed(timed(make_side(), make_side())).own_band
    base, candidate = make_side(), make_side()
    text = msgspec.structs.replace(candidate.settings.text, date=True)
    settings = msgspec.structs.replace(candidate.settings, text=text)
    other = msgspec.structs.replace(candidate, settings=settings)
    assert not compare_timed(timed(base, other)).own_band


def test_every_query_is_searched_by_itself(make_side):
    def many(_):
        raise AssertionError("a batch")

    base = make_side()
    plain = base.system.open

    def opened(namespace):
        memory = plain(namespace)
        memory.search_many = many
        return memory

    base.system.open = opened
    assert timed(base, make_side(), rounds=2).passes[0].hits > 0


def test_nobody_is_told_anything_while_the_clock_runs(clock, make_side):
    heard = []
    timed(make_side(), make_side(), rounds=2, tick=lambda *a: heard.append((*a, clock.calls)))
    assert [entry[:3] for entry in heard[:5]] == [("warm-up", at, 12) for at in range(4)] + [
        ("timing", 4, 12)
    ]
    assert heard[-1][:3] == ("timing", 12, 12)
    # Between two passes all of a pass was done: eight sessions and six searches.
    assert [entry[3] for entry in heard] == [14 * at for at in range(13)]


def test_garbage_is_collected_before_and_the_collector_left_on(make_side, monkeypatch):
    done = []
    monkeypatch.setattr("memruler.replay.timing.gc.collect", lambda: done.append("collected"))
    base = make_side()
    plain = base.system.on_ingest
    base.system.on_ingest = lambda session: (plain(session), done.append(gc.isenabled()))
    timed(base, make_side(), rounds=2)
    assert done[0] == "collected"
    assert done.count("collected") == 3 * 4 * 2
    assert False not in done


@pytest.mark.parametrize("side", ["base", "candidate"])
@pytest.mark.parametrize("what", ["on_ingest", "on_search"])
def test_a_side_that_fails_ends_it(make_side, side, what, monkeypatch):
    sides = {"base": make_side(), "candidate": make_side()}
    left = 60

    def fails(_):
        nonlocal left
        left -= 1
        if left < 0:
            raise SystemUnderTestError("the memory is full")

    setattr(sides[side].system, what, fails)
    # Until it fails, the clock stands still on that side; that must not be what ends it.
    ticking = iter(range(100_000)).__next__
    for room in ("instance", "searches"):
        monkeypatch.setattr(f"memruler.replay.{room}.perf_counter", ticking)
    with pytest.raises(SystemUnderTestError, match="the memory is full") as caught:
        timed(sides["base"], sides["candidate"], rounds=8)
    assert str(caught.value.where).startswith(f"{side}, instance inst-")
    spaces = [space for plan in sides.values() for space in plan.system.opened]
    assert not any(space.folder.exists() for space in spaces)


def test_a_clock_that_stands_still(make_side):
    base = make_side()
    base.system.on_ingest = lambda _: None
    with pytest.raises(InstrumentError, match="clock did not move"):
        timed(base, make_side())


@pytest.mark.parametrize(("rounds", "error"), [(1, Refusal), (3, UsageError)])
def test_a_wrong_number_of_rounds_ends_before_anything_is_opened(make_side, rounds, error):
    base = make_side()
    with pytest.raises(error):
        timed(base, make_side(), rounds=rounds)
    assert base.system.opened == []


def test_only_so_many_instances_and_queries(make_side):
    found = timed(make_side(size=3), make_side(), rounds=2)
    assert found.instances == 3
    settings = {"instances": 1, "queries": 2}
    found = timed(make_side(**settings), make_side(), rounds=2)
    assert (found.instances, found.queries) == (1, 2)


def test_nothing_to_write_or_to_ask(make_side):
    with pytest.raises(CorpusError, match="no turn"):
        timed(make_side(size=0), make_side())
    base = make_side()
    base.corpus.instances = [msgspec.structs.replace(i, queries=()) for i in base.corpus.instances]
    with pytest.raises(CorpusError, match="no query"):
        timed(base, make_side())


def test_two_corpora(make_side):
    candidate = make_side()
    candidate.corpus.info = msgspec.structs.replace(candidate.corpus.info, sha256="1" * 64)
    with pytest.raises(CorpusError, match="changed"):
        timed(make_side(), candidate)


def test_the_record_reads_back(make_side):
    found = compare_timed(timed(make_side(), make_side("other")))
    data = msgspec.json.encode(found)
    assert msgspec.json.decode(data, type=TimeComparison) == found
