import pyarrow as pa
import pytest

from memruler.report.figures.latency import latency
from memruler.report.figures.record import Missing
from memruler.scoring.timing import timing
from memruler.store.folder import RunFolder
from memruler.store.tables import INGEST, TIMINGS, TRACE, write_table


@pytest.fixture
def timed(make_run):
    """A run whose searches took as long as told, after a warm-up; None is a failed one."""

    def build(name, times, *, batched=False):
        path = make_run(name)
        times = times if batched else [77.0, *times]
        rows = [{"instance": 0, "query": 0, "repeat": at} for at in range(len(times))]
        with RunFolder.claim(path.parent, path.name) as folder:
            trace = [
                {
                    **row,
                    "items": [],
                    "scores": [],
                    "context_chars": 0,
                    "error": None if ms is not None else "down",
                }
                for row, ms in zip(rows, times, strict=True)
            ]
            write_table(folder, "trace", pa.Table.from_pylist(trace, TRACE))
            told = [{**row, "latency_ms": ms or 99.0} for row, ms in zip(rows, times, strict=True)]
            write_table(folder, "timings", pa.Table.from_pylist(told, TIMINGS))
            ingest = {
                "instance": 0,
                "key": "conv-1",
                "sessions": 5,
                "turns": 50,
                "ingest_ms": 10.0,
                "batched": batched,
            }
            write_table(folder, "ingest", pa.Table.from_pylist([ingest], INGEST))
        return path

    return build


def test_percentiles_are_those_of_the_summary(timed, marks, texts):
    path = timed("r", [1.0, 2.0, 3.0, 4.0, None])
    told = timing(RunFolder.open(path))
    figure = latency([path])
    assert (told.p50_ms, told.p95_ms, told.queries) == (2.5, pytest.approx(3.85), 4)
    assert figure.table[1][:7] == ["r", "2.500", "2.500", "3.850", "1.000", "4.000", "4"]
    assert "r: p50 2.5, p95 3.85 ms" in texts(figure)
    assert "4 searches that count, each by itself" in figure.caption
    heights = sorted(1 - y / 220 for fill, _, _, y in marks(figure) if fill)
    assert heights == pytest.approx([0.5, 0.95], abs=1e-3)
    # From 0 ms, and as far right as the times say.
    places = sorted(x for fill, _, x, _ in marks(figure) if fill)
    assert places[1] / places[0] == pytest.approx(3.85 / 2.5, abs=1e-2)


def test_a_wide_spread_is_logarithmic_and_says_so(timed, texts):
    assert "milliseconds (logarithmic)" in texts(latency([timed("r", [0.1, 1.0, 100.0])]))
    assert "milliseconds" in texts(latency([timed("s", [1.0, 2.0])]))


def test_batches_stand_apart_without_percentiles(timed, texts, parsed):
    single, batched = timed("one", [1.0, 2.0]), timed("two", [3.0, 3.0], batched=True)
    figure = latency([single, batched])
    assert len(parsed(figure.svg).findall("svg")) == 2
    shown = texts(figure)
    assert {"each search by itself", "batches: a query's share of its batch", "two"} <= set(shown)
    # A run keeps its colour in every panel and figure.
    assert "var(--series-2)" not in figure.svg[: figure.svg.index("batches")]
    assert "var(--series-1)" not in figure.svg[figure.svg.index("batches") :]
    assert figure.table[2][:4] == ["two", "3.000", "-", "-"]
    assert "2 searches that count, 1 batches" in figure.caption


def test_none_and_all_failed(timed):
    assert latency([]) is None
    found = latency([timed("r", [None, None])])
    assert isinstance(found, Missing)
    assert found.reason == "no search ended without an error"


def test_many_values_stay_small(timed):
    assert len(latency([timed("r", [1 + at / 7 for at in range(5000)])]).svg) < 11_000
