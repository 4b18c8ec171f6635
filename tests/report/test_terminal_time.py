import io
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from memruler.compare.timed import compare_timed
from memruler.report.terminal_time import print_time, render_time

_spec = spec_from_file_location(
    "timed_records", Path(__file__).parents[1] / "compare" / "test_timed.py"
)
_records = module_from_spec(_spec)
_spec.loader.exec_module(_records)

measured, side = _records.measured, _records.side


def shown(*arguments, **options):
    out = io.StringIO()
    console = Console(file=out, width=80, highlight=False, markup=False, emoji=False)
    render_time(compare_timed(measured(*arguments, **options)), console)
    text = out.getvalue()
    assert all(cell_len(line) <= 80 for line in text.splitlines())
    assert all(c.isprintable() or c == "\n" for c in text)
    return text


def words(text):
    return " ".join(text.split())


def test_two_verdicts_and_what_they_rest_on():
    text = words(shown())
    for wanted in (
        "WORSE search 1.04 2.12",
        "INCONCLUSIVE ingest 1,040 1,060",
        "4 rounds of base, candidate, candidate, base and the reverse in turn: 8 passes a side",
        "1 round of warm-up thrown away",
        "two sigma of the difference if nothing differed",
        "tiny 1 (sha256 000000000000): 2 instances, 8 turns, 6 queries, 10 hits asked for",
        "10.0 hits a query; embedded: nothing",
        "collected before",
    ):
        assert wanted in text
    assert "OWN BAND" not in text


def test_own_band():
    text = shown(side(), side())
    assert text.startswith("OWN BAND")


def test_the_cache_is_shown():
    text = words(shown(use=(_records.COLD, _records.WARM)))
    assert "embedded 72 texts while writing (0 from the cache)" in text
    assert "embedded 0 texts while writing (72 from the cache)" in text
    assert "note every vector of the candidate's writes came from the cache" in text


def test_a_foreign_system_may_embed_what_nobody_knows():
    assert "embedded: not known" in words(shown(side(checked=True)))


def test_hostile_names_are_shown_harmlessly():
    nasty = "\x1b[2J\u202evil" * 40
    text = shown(side(nasty, warnings=(nasty,)), side("two", chosen={"a": nasty}))
    assert "\\x1b[2J" in text


def test_a_banner_for_a_stand_in():
    identity = msgspec.structs.replace(side().identity, degraded=("a toy",))
    assert shown(side(identity=identity)).startswith("DEGRADED")


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3, 1e6])
def test_any_size_fits(factor):
    record = measured()
    passes = tuple(
        msgspec.structs.replace(
            done,
            search_ms=done.search_ms * factor,
            ingest_turns_per_s=done.ingest_turns_per_s * factor,
        )
        for done in record.passes
    )
    out = io.StringIO()
    console = Console(file=out, width=80, highlight=False, markup=False, emoji=False)
    render_time(compare_timed(msgspec.structs.replace(record, passes=passes)), console)
    assert all(cell_len(line) <= 80 for line in out.getvalue().splitlines())


def test_on_stdout(capsys):
    print_time(compare_timed(measured()))
    told = capsys.readouterr()
    assert "WORSE" in told.out
    assert told.err == ""
