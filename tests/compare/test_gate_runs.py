import json
import math

import pytest

from memruler.compare.gate import band, gate
from memruler.compare.refusal import Incomparable
from memruler.errors import Refusal, UsageError

EXACT = {"deterministic": True}


@pytest.fixture
def files(tmp_path):
    """Two files of labels that give these paired differences; one cluster name an item."""

    def build(deltas, clusters=None, meta=None):
        paths = tmp_path / "base.csv", tmp_path / "cand.csv"
        names = clusters or ["c"] * len(deltas)
        for side, path in enumerate(paths):
            rows = [
                f"{i},{int(d == 1) if side else int(d == -1)},{name}"
                for i, (d, name) in enumerate(zip(deltas, names, strict=True))
            ]
            path.write_text("\n".join(["id,score,conv", *rows]), encoding="utf-8")
            if meta is not None:
                path.with_name(path.name + ".meta.json").write_text(json.dumps(meta))
        return paths

    return build


def deltas(wins, ties, losses):
    return [1] * wins + [0] * ties + [-1] * losses


@pytest.mark.parametrize(
    ("row", "options", "want"),
    [
        ((40, 440, 20), {}, ("pass", None)),
        ((40, 440, 20), {"threshold": 0.02}, ("unresolved", "noise_floor")),
        ((40, 440, 20), {"threshold": 0.02, "band": 0.03}, ("unresolved", "under_powered")),
        ((20, 440, 40), {}, ("fail", None)),
        ((6, 52, 2), {}, ("unresolved", "under_powered")),
        ((6, 52, 2), {"band": 0.1}, ("unresolved", "noise_floor")),
        ((6, 52, 2), {"threshold": -0.02}, ("pass", None)),
    ],
)
def test_published_rows(files, row, options, want):
    found = gate(*files(deltas(*row)), metric="score", **options)
    assert (found.outcome, found.why) == want
    assert (found.wins, found.ties, found.losses) == row
    assert found.delta == pytest.approx((row[0] - row[2]) / sum(row))
    assert (found.ruler, found.counted) == ("interval", sum(row))


def test_what_it_rests_on(files):
    found = gate(*files(deltas(6, 52, 2)))
    ends = [round(100 * end, 1) for end in (found.interval.mean, found.interval.low)]
    assert [*ends, round(100 * found.interval.high, 1)] == [6.7, -1.7, 16.7]
    assert (found.interval.method, found.interval.clusters) == ("exact", 60)
    assert (found.threshold, found.band, found.cluster) == (0.0, 0.04, None)
    assert (found.metric, found.base, found.candidate) == ("score", "base.csv", "cand.csv")


def test_clusters_widen(files):
    one = [f"c{i // 10}" for i in range(60)]
    found = gate(*files([1] * 8 + [-1] * 2 + [0] * 50, one), cluster="conv")
    assert [round(100 * v, 1) for v in (found.delta, found.interval.low, found.interval.high)] == [
        10.0,
        0.0,
        30.0,
    ]
    assert (found.outcome, found.why) == ("unresolved", "under_powered")
    assert (found.interval.clusters, found.cluster) == (6, "conv")
    assert found.interval.warnings
    alone = gate(*files([1] * 8 + [-1] * 2 + [0] * 50)).interval
    assert round(100 * alone.high, 1) == 20.0


def test_draws_record_their_seed(tmp_path):
    for name, shift in (("base.csv", 0.0), ("cand.csv", 0.1)):
        rows = [f"{i},{math.sin(i * (2 + shift)) + shift}" for i in range(200)]
        (tmp_path / name).write_text("\n".join(["id,score", *rows]), encoding="utf-8")
    sides = tmp_path / "base.csv", tmp_path / "cand.csv"
    found = gate(*sides, resamples=2000, seed=11)
    assert (found.interval.method, found.interval.resamples, found.interval.seed) == (
        "monte-carlo",
        2000,
        11,
    )
    assert found == gate(*sides, resamples=2000, seed=11)
    assert found != gate(*sides, resamples=2000, seed=12)
    with pytest.raises(UsageError, match="resamples"):
        gate(*sides, resamples=999)


@pytest.mark.parametrize("row", [(1, 0, 0), (0, 0, 1)])
def test_one_item_is_refused(files, row):
    with pytest.raises(Refusal, match="1 items in 1 cluster: resampling needs at least two"):
        gate(*files(deltas(*row)))


def test_one_cluster_is_refused(files):
    with pytest.raises(Refusal, match="60 items in 1 cluster"):
        gate(*files(deltas(6, 52, 2)), cluster="conv")


def test_exact(files):
    sides = files(deltas(3, 96, 1), meta=EXACT)
    found = gate(*sides)
    assert (found.ruler, found.outcome, found.why) == ("exact", "pass", None)
    assert (found.interval, found.band, found.delta) == (None, None, 0.02)
    assert gate(*sides, threshold=0.02).outcome == "fail"
    assert gate(*sides, threshold=0.0199).outcome == "pass"
    with pytest.raises(Refusal, match="no noise band applies") as caught:
        gate(*sides, band=0.04)
    assert caught.value.exit_code == 4
    assert gate(*files([1], meta=EXACT)).outcome == "pass"
    assert gate(*files([0, 0], meta=EXACT)).outcome == "fail"


def test_numbers_that_are_wrong(files):
    sides = files(deltas(6, 52, 2))
    for options in ({"band": -0.01}, {"threshold": math.nan}, {"seed": -1}):
        with pytest.raises(UsageError):
            gate(*sides, **options)


def test_huge_values_do_not_overflow(tmp_path):
    for name, sign in (("base.csv", "-"), ("cand.csv", "")):
        rows = "".join(f"{i},{sign}9e99\n" for i in range(20))
        (tmp_path / name).write_text("id,score\n" + rows, encoding="utf-8")
        (tmp_path / f"{name}.meta.json").write_text('{"deterministic": true}', encoding="utf-8")
    found = gate(tmp_path / "base.csv", tmp_path / "cand.csv")
    assert found.outcome == "pass"
    assert math.isfinite(found.delta)


def test_band_takes_the_wider_side(files):
    found = band(*files(deltas(6, 52, 2)))
    assert found.band == found.interval.high == pytest.approx(10 / 60)
    other = band(*files(deltas(2, 52, 6)))
    assert other.band == -other.interval.low == pytest.approx(10 / 60)


def test_a_band_of_nothing_but_ties(files):
    found = band(*files(deltas(0, 60, 0)))
    assert found.band == 0
    assert any("every difference is the same" in text for text in found.interval.warnings)


def test_a_fact_has_no_band(files):
    with pytest.raises(Refusal, match="no noise, and no band"):
        band(*files(deltas(6, 52, 2), meta=EXACT))


def test_a_band_is_of_one_configuration(files):
    sides = files(deltas(6, 52, 2), meta={"reader": "r1"})
    sides[1].with_name("cand.csv.meta.json").write_text('{"reader": "r2"}', encoding="utf-8")
    with pytest.raises(Incomparable, match="reader differs") as caught:
        band(*sides)
    assert "--changed" not in caught.value.hint
    assert "one configuration" in caught.value.hint


CHANGE = {"system.settings.decay_rate": 0.0}


@pytest.fixture
def better(queries_a):
    return (*queries_a[:3], queries_a[3]._replace(session="x...."), queries_a[4])


def test_exact_runs(make_run, better):
    runs = make_run("base"), make_run("cand", better, changes=CHANGE)
    found = gate(*runs, changed=("system",))
    assert (found.ruler, found.outcome, found.delta) == ("exact", "pass", 0.25)
    assert (found.wins, found.ties, found.losses, found.counted) == (1, 3, 0, 4)
    assert found.absent == {"unanswerable": 1}
    assert gate(*runs, changed=("system",), threshold=0.25).outcome == "fail"
    assert gate(*reversed(runs), changed=("system",)).outcome == "fail"
    assert gate(*reversed(runs), changed=("system",), threshold=-0.26).outcome == "pass"
    with pytest.raises(Refusal, match="no noise band applies"):
        gate(*runs, changed=("system",), band=0.0)
    with pytest.raises(Incomparable):
        gate(*runs)


@pytest.mark.parametrize("cluster", [None, "conversation", "category", "evidence", "path:1"])
def test_runs_that_are_draws(make_run, better, cluster):
    fields = {"determinism": None}
    runs = make_run("base", fields=fields), make_run("cand", better, changes=CHANGE, fields=fields)
    found = gate(*runs, changed=("system",), cluster=cluster)
    clusters = {None: 4, "conversation": 2, "category": 2, "evidence": 4, "path:1": 4}[cluster]
    assert (found.ruler, found.outcome) == ("interval", "unresolved")
    assert found.interval.clusters == clusters
    assert found.why == "under_powered"


def test_degraded_runs_say_so(make_run, better):
    fields = {"degraded": ("toy embedder",)}
    runs = make_run("base", fields=fields), make_run("cand", better, changes=CHANGE, fields=fields)
    assert gate(*runs, changed=("system",)).degraded == ("toy embedder",)
