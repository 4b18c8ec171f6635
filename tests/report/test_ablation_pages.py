import json

import jsonschema
import msgspec
import pytest
from rich.console import Console

from memruler.compare.load import QueryKey
from memruler.model.summary import PopulationCounts
from memruler.report.document import encode
from memruler.report.markdown_ablation import markdown_ablation
from memruler.report.terminal_ablation import render_ablation
from memruler.stats.factorial import fractional_design, parse_generator
from memruler.studies.ablation_attribute import attribute
from memruler.studies.ablation_cells import folder_name
from memruler.studies.ablation_record import Ablation, CellResult
from memruler.studies.ablation_spec import AblationSpec, Factor, Outcome
from memruler.studies.spec_base import CorpusPart

NAMES = ("decay", "rounding-of-16-c", "mmr", "dedup")
FRACTION = ("dedup = decay * rounding-of-16-c * mmr",)


def found(generators=(), *, uneven=False, text="plain", cells_on=NAMES):
    """Query q is found where factor q is off; the last one only in the first cell."""
    design = fractional_design(cells_on, [parse_generator(g) for g in generators])
    keys = [QueryKey("conv", q) for q in range(5)]
    values = [
        {
            key: float(key.query < 4 and cells_on[key.query % len(cells_on)] not in on)
            for key in keys
            if not (uneven and key.query == 4 and on)
        }
        for on in design.cells
    ]
    outcome = Outcome(level="turn", metric="recall_all@5")
    spec = AblationSpec(
        out="runs",
        corpus=CorpusPart(name="synthetic"),
        system=text,
        factors={name: Factor(off={"a": text}, on={"a": 1}) for name in cells_on},
        metrics=(outcome,),
        design="fraction" if generators else "full",
        generators=generators,
    )
    return Ablation(
        spec=spec,
        cells=tuple(
            CellResult(
                on=on, folder=folder_name(on), embedded=None, from_cache=7, stored=9, lost={text: 2}
            )
            for on in design.cells
        ),
        resolution=design.resolution,
        words=tuple(map(str, design.words)),
        no_shares="a fraction gives no shares" if generators else None,
        corpus={"name": text, "version": text, "sha256": "c" * 64},
        population=PopulationCounts(
            name=text,
            rule=text,
            corpus_queries=9,
            members=5,
            measured=5,
            partial_gold=0,
            excluded={text: 4},
            digest="d" * 64,
        ),
        clusters=1,
        attributions=(attribute(outcome, design, values, keys, shared=True),),
        notes=(text,),
        corpus_notes=(text,),
        degraded=(text,) if text != "plain" else (),
    )


def printed(ablation, width=80):
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        render_ablation(ablation, "runs", console)
    return captured.get()


@pytest.mark.parametrize("generators", [(), FRACTION], ids=["whole", "fraction"])
@pytest.mark.parametrize("uneven", [False, True], ids=["same", "shared"])
def test_the_page_fits_eighty_columns_whole(generators, uneven, hostile):
    for text in ("plain", hostile):
        lines = printed(found(generators, uneven=uneven, text=text)).splitlines()
        assert max(map(len, lines)) <= 80
        table = [line for line in lines if line.startswith(("rounding-of-16-c ", "factor "))]
        # No number was folded: a row has as many words as the head.
        assert len(table[0].split()) == len(table[1].split())


def test_shares_stand_beside_their_total():
    lines = printed(found()).splitlines()
    assert lines[0] == "ABLATION of 4 factors in 16 cells (whole design)"
    assert "turn recall_all@5 0.8000 -> 0.0000 (-0.8000), all off -> all on" in lines
    rows = {line.split()[0]: line.split() for line in reversed(lines) if line}
    assert rows["decay"] == ["decay", *["-0.2000"] * 3, "0/1", "-0.2000", "0/1", "1"]
    assert rows["total"] == ["total", "-0.8000", "4"]
    assert rows["decay+mmr"][1:] == ["0.4000", "-", "7", "9", "2"]


def test_a_fraction_shows_aliases_and_no_share():
    text = printed(found(FRACTION))
    assert "(fraction of resolution 4)" in text
    assert " share" not in text.partition("cells (")[0]
    flat = " ".join(text.split())
    assert "main of decay includes rounding-of-16-c x mmr x dedup" in flat
    assert "decay x mmr + rounding-of-16-c x dedup =" in flat
    assert "no shares a fraction gives no shares" in flat


def test_a_small_fraction_without_pairs_shows_no_share_either():
    text = printed(found(("mmr = decay * dedup",), cells_on=("decay", "dedup", "mmr")))
    assert "share" not in text.partition("cells (")[0]


def test_uneven_cells_show_the_floor():
    text = printed(found(uneven=True))
    assert "factor              share    floor    alone" in text
    assert "-1.0000  -0.8000" in text


def test_many_cells_are_cut_and_the_page_has_them_all():
    names = tuple(f"f{i}" for i in range(6))
    many = found(cells_on=names)
    assert "... and 32 more in ablation.md" in printed(many)
    page = markdown_ablation(many)
    assert sum(line.startswith("| `f0") for line in page.splitlines()) == 2 + 32


@pytest.mark.parametrize("generators", [(), FRACTION], ids=["whole", "fraction"])
def test_hostile_text_stays_text(generators, hostile):
    ablation = found(generators, text=hostile)
    page = markdown_ablation(ablation)
    shown = printed(ablation)
    for text in (page, shown):
        assert "\x1b" not in text
        assert "\u202e" not in text
    outside = "".join(page.split("`")[::2])
    assert "<script>" not in outside
    assert "\n# head" not in page
    # Every row of a table has the columns of its head.
    columns = None
    for line in page.splitlines():
        bars = line.replace("\\|", "").count("|") if line.startswith("|") else None
        assert bars is None or columns is None or bars == columns
        columns = bars


def test_the_record_fits_its_schema_and_reads_back():
    ablation = found(FRACTION, uneven=True)
    data = encode(ablation)
    schema = msgspec.json.schema(Ablation)
    jsonschema.validate(json.loads(data), schema, cls=jsonschema.Draft202012Validator)
    assert msgspec.json.decode(data, type=Ablation) == ablation
