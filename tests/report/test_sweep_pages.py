import msgspec
import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

from memruler.compare.sensitivity import sensitivity
from memruler.model.credit import Supports
from memruler.model.summary import PopulationCounts
from memruler.report.document import encode
from memruler.report.markdown_sweep import markdown_sweep
from memruler.report.sweep_words import outcome
from memruler.report.terminal_sweep import render_sweep
from memruler.scoring.traced import Traced, score_traced
from memruler.studies.spec_base import CorpusPart
from memruler.studies.sweep_cells import cells
from memruler.studies.sweep_record import Sweep, SweptCell
from memruler.studies.sweep_spec import SweepSpec

TARGETS = ("raw", "canonical")


def supports(target, item):
    """Each of two queries has one anchor, and one item of it."""
    return Supports(
        target=target,
        of=np.array([1, 1]),
        anchor_offsets=np.array([0, 1, 2]),
        support_offsets=np.array([0, 1, 2]),
        items=np.array([item, item]),
    )


def traced(name, first, text):
    """Item 0 is raw and item 1 canonical; `first` stands before the other one."""
    return Traced(
        name=name,
        origin="run",
        query=pa.array(["a:0", "a:1"]),
        category=np.array([0, 0]),
        categories=(text,),
        cluster=np.array([0, 0]),
        hits=np.array([[first, 1 - first]] * 2, np.int32),
        reason=np.array([-1, -1]),
        reasons=(),
        supports={"raw": supports("raw", 0), "canonical": supports("canonical", 1)},
        population=text,
    )


def found(firsts=(0, 1), text="plain", *, setting="facts", degraded=()):
    spec = SweepSpec(
        out="runs",
        corpus=CorpusPart(name="synthetic"),
        system=text,
        limit=2,
        sweep={setting: list(range(len(firsts)))},
        targets=TARGETS,
        cutoffs=(1, 2),
    )
    planned = list(cells(spec, None))
    scored = [
        score_traced(traced(cell.folder, first, text), (1, 2), "anchor")
        for cell, first in zip(planned, firsts, strict=True)
    ]
    return Sweep(
        spec=spec,
        cells=tuple(
            SweptCell(
                folder=cell.folder, values=cell.values, stored=9, kinds={text: 9}, lost={text: 2}
            )
            for cell in planned
        ),
        corpus={"name": text, "version": text, "sha256": "c" * 64},
        population=PopulationCounts(
            name=text,
            rule=text,
            corpus_queries=2,
            members=2,
            measured=2,
            partial_gold=0,
            excluded={},
            digest="d" * 64,
        ),
        clusters=1,
        sensitivity=sensitivity(scored),
        notes=(text,),
        corpus_notes=(),
        degraded=degraded,
    )


def shown(one):
    console = Console(width=80, no_color=True, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        render_sweep(one, "runs", console)
    return captured.get()


def test_a_choice_that_the_target_changes():
    one = found()
    text = shown(one)
    assert text.startswith("SWEEP of 2 cells by ndcg@2: CHANGED BY THE TARGET")
    assert "raw facts=0, canonical facts=1" in text
    assert "1.0000*" in text
    page = markdown_sweep(one)
    assert "**1.0000**" in page
    assert "| `ndcg@2` | facts=0 | facts=1 | changed |" in page


@pytest.mark.parametrize(
    ("firsts", "told"),
    [
        ((0, 0), "facts=0 = facts=1 tie under every target"),
        ((0, 1, 0), "depends on the target: raw facts=0 = facts=2, canonical facts=1"),
    ],
)
def test_what_is_said_of_a_choice(firsts, told):
    assert told in outcome(found(firsts).sensitivity.headline)


def test_a_page_of_many_cells_is_cut_and_the_page_is_not():
    one = found((0, 1) * 16)
    assert "... and 8 more in sweep.md" in shown(one)
    assert "`facts=31`" in markdown_sweep(one)


def test_cells_with_long_names_are_numbered():
    one = found((0, 1, 0), setting="a-setting-with-a-name")
    text = shown(one)
    assert "depends on the target: raw c1 = c3, canonical c2" in text
    assert "c2    a-setting-with-a-name=1" in text
    assert "raw a-setting-with-a-name=0 = a-setting-with-a-name=2" in markdown_sweep(one)


def test_hostile_text_is_shown_as_it_is(hostile):
    one = found(text=hostile, degraded=(hostile,))
    assert shown(one).startswith("DEGRADED")
    for page in (shown(one), markdown_sweep(one)):
        assert "\x1b" not in page
    assert "<script" not in markdown_sweep(one)


def test_it_reads_back():
    one = found()
    assert msgspec.json.decode(encode(one), type=Sweep) == one


def test_it_fits_80_columns():
    assert max(map(len, shown(found((0, 1) * 32, text="x" * 200)).splitlines())) <= 80


def test_a_tie_under_every_target_is_no_winner():
    page = shown(found((0, 0)))
    assert ": A TIE UNDER EVERY TARGET" in page.splitlines()[0]
    assert "tie under every target" in page
