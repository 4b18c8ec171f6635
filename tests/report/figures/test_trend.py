from datetime import datetime, timedelta

import msgspec
import pytest

from memruler.report.figures.record import Missing
from memruler.report.figures.trend import TrendPoint, trend, trend_point

START = datetime(2026, 1, 2, 3, 4, 5)


def point(day, value, group="g", **more):
    told = {
        "run": f"r{day}",
        "metric": "session:recall_all@5",
        "counted": 9,
        "of": 10,
        "system": "mine",
        "corpus": "tiny",
        "population": "all",
    }
    started = START + timedelta(days=day)
    return TrendPoint(started=started, value=value, group=group, **{**told, **more})


def joined(parsed, figure):
    """How many points each drawn line has, by its colour."""
    return {
        node.get("stroke"): node.get("d").count("L") + 1
        for node in parsed(figure.svg).iter("path")
        if node.get("stroke-width") == "1.5" and "L" in node.get("d")
    }


def test_the_headline_of_a_run(make_document):
    document = make_document()
    found = trend_point(document.manifest, document.summary, "base")
    row = next(c for c in document.summary.slices[0].cutoffs if (c.level, c.k) == ("session", 5))
    assert (found.metric, found.value) == ("session:recall_all@5", row.values["recall_all"])
    assert (found.counted, found.of, found.doubt) == (row.counted, row.of, None)
    bare = [msgspec.structs.replace(s, cutoffs=()) for s in document.summary.slices]
    summary = msgspec.structs.replace(document.summary, slices=tuple(bare))
    assert trend_point(document.manifest, summary, "base") is None


@pytest.mark.parametrize(
    ("key", "same"),
    [
        ("system.settings.decay_rate", True),
        ("system.version", True),
        ("system.name", False),
        ("corpus.tier", True),
        ("corpus.sha256", False),
        ("corpus.queries", False),
        ("population.digest", False),
        ("ruler.version", False),
    ],
)
def test_what_may_never_be_the_change_parts_groups(make_run, make_document, key, same):
    del make_run
    document = make_document()
    parts = msgspec.json.decode(msgspec.json.encode(document.manifest.fingerprint))
    *path, last = key.split(".")
    place = parts
    for name in path:
        place = place[name]
    place[last] = "another"
    other = msgspec.structs.replace(document.manifest, fingerprint=parts)
    groups = {trend_point(m, document.summary, "r").group for m in (document.manifest, other)}
    assert (len(groups) == 1) is same


def test_other_counted_queries_part_groups(make_document, queries_a):
    document = make_document()
    short = make_document((queries_a[0]._replace(session="x"), *queries_a[1:]))
    one = trend_point(document.manifest, document.summary, "r")
    other = trend_point(document.manifest, short.summary, "r")
    assert one.group != other.group
    whole = document.summary.slices[0]
    cells = tuple(msgspec.structs.replace(c, members="0" * 64) for c in whole.cutoffs)
    slices = (msgspec.structs.replace(whole, cutoffs=cells), *document.summary.slices[1:])
    as_many = msgspec.structs.replace(document.summary, slices=slices)
    third = trend_point(document.manifest, as_many, "r")
    assert (third.counted, third.value) == (one.counted, one.value)
    assert third.group != one.group


def test_lines_stay_within_a_group(parsed, marks):
    figure = trend([point(0, 0.5), point(2, 0.7), point(1, 0.6), point(3, 0.1, "h")])
    assert joined(parsed, figure) == {"var(--series-1)": 3}
    heights = [round(1 - y / 220, 3) for fill, _, _, y in marks(figure) if fill]
    assert sorted(heights) == [0.1, 0.5, 0.6, 0.7]
    assert [row[1] for row in figure.table[1:]] == ["r0", "r1", "r2", "r3"]
    assert [row[2][0] for row in figure.table[1:]] == ["A", "A", "A", "B"]
    assert [row[4] for row in figure.table[1:]] == ["0.5000", "0.6000", "0.7000", "0.1000"]
    assert [row[2] for row in figure.table[3:]] == ["A: mine (3)", "B: mine (1)"]
    assert "4 runs in 2 groups" in figure.caption


def test_doubtful_runs_are_hollow_and_joined_to_none(parsed, marks):
    figure = trend([point(0, 0.5), point(1, 0.6, doubt="degraded"), point(2, 0.7)])
    assert joined(parsed, figure) == {"var(--series-1)": 2}
    hollow = [1 - y / 220 for fill, stroke, _, y in marks(figure) if not fill and stroke]
    assert hollow == pytest.approx([0.6], abs=1e-3)
    assert "1 degraded" in figure.caption


def test_doubt_is_read_from_the_manifest(make_document):
    document = make_document()

    def doubt(**fields):
        manifest = msgspec.structs.replace(document.manifest, **fields)
        return trend_point(manifest, document.summary, "r").doubt

    assert doubt(degraded=("toy embedder",)) == "degraded"
    assert doubt(determinism=None) == "determinism not measured"
    measured = msgspec.structs.replace(document.manifest.determinism, identical=2)
    assert doubt(determinism=measured) == "not deterministic"


def test_more_groups_than_colours(parsed):
    points = [point(day, 0.1 * day, f"g{day % 8}") for day in range(9)]
    figure = trend(points)
    # Two runs in the first group; those beyond the colours are not joined, whatever they are.
    assert joined(parsed, figure) == {"var(--series-1)": 2}
    points += [point(20 + day, 0.5, f"g{day}") for day in range(8)]
    assert len(joined(parsed, trend(points))) == 6


def test_none_and_one():
    assert trend([]) is None
    assert isinstance(trend([point(0, 0.5)]), Missing)


def test_hostile_names(hostile):
    figure = trend([point(0, 0.5, system=hostile, metric=hostile), point(1, 0.5, run=hostile)])
    assert "<script" not in figure.svg
    assert all(cell.isprintable() for row in figure.table for cell in row)
