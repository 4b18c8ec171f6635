import json
import tomllib
from pathlib import Path

import jsonschema
import msgspec
import pytest

from memruler.errors import UsageError
from memruler.studies.spec_base import SpecFaults
from memruler.studies.sweep_cells import axes, cells, combinations, size
from memruler.studies.sweep_read import read_sweep
from memruler.studies.sweep_spec import MOST_CELLS, SweepSpec

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "density.toml"

SPEC = """
out = "runs"
system = "builtin:derived"
[corpus]
name = "synthetic"
[settings]
summaries = false
[sweep]
facts = [1, 5, 8]
"""


@pytest.fixture
def read(tmp_path):
    def reading(text, *changes):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
        return read_sweep(tmp_path / "spec.toml")

    return reading


@pytest.fixture
def faults(read):
    def telling(*changes, text=SPEC):
        with pytest.raises(SpecFaults) as caught:
            read(text, *changes)
        assert caught.value.exit_code == 2
        assert caught.value.hint == "see docs/sweep.md"
        return list(caught.value.faults)

    return telling


def test_the_example_is_right_and_fits_the_schema():
    spec = read_sweep(EXAMPLE)
    assert [cell.folder for cell in cells(spec, EXAMPLE.parent)] == ["f1", "f5", "f8"]
    raw = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    jsonschema.validate(
        json.loads(json.dumps(raw)),
        msgspec.json.schema(SweepSpec),
        cls=jsonschema.Draft202012Validator,
    )


def test_the_cells_are_all_combinations(read, tmp_path):
    spec = read(
        SPEC,
        ("[1, 5, 8]", "[1, 5]\ntimeline = ['now', 'anchored']\ntext.speaker = [true, false]"),
        ('name = "synthetic"', 'name = "jsonl"\npath = "../a.jsonl"\nqueries = 3'),
    )
    found = list(cells(spec, tmp_path))
    assert len(found) == size(spec.sweep) == 8
    assert [cell.folder for cell in found[:3]] == [
        "facts=1+timeline=now+text.speaker=true",
        "facts=1+timeline=now+text.speaker=false",
        "facts=1+timeline=anchored+text.speaker=true",
    ]
    first = found[0].plan
    assert first.assignments == ("summaries=false", "facts=1", "text.speaker=true")
    assert first.settings == {
        "timeline": "now",
        "granularity": "turn",
        "forms": "turns",
        "limit": 60,
        "instances": None,
        "queries": 3,
    }
    assert {"queries", "limit", "timeline", "forms", "system"} == set(first.typed) - {"granularity"}
    assert first.path == str(tmp_path / "../a.jsonl")
    assert found[0].values == {"facts": "1", "timeline": "now", "text.speaker": "true"}


def test_what_is_stored_can_be_swept(read, tmp_path):
    spec = read(
        SPEC,
        ('"synthetic"', '"locomo"'),
        ("facts = [1, 5, 8]", 'forms = ["turns", "turns,observations"]'),
        ("summaries = false", ""),
        ("builtin:derived", "builtin:lexical"),
    )
    found = list(cells(spec, tmp_path))
    assert [cell.plan.settings["forms"] for cell in found] == ["turns", "turns,observations"]
    assert [cell.folder for cell in found] == ["forms=turns", "forms=turns,observations"]


def test_names_of_ones_own(read, tmp_path):
    spec = read(SPEC, ("out =", 'names = ["a", "b", "c"]\nout ='))
    assert [cell.folder for cell in cells(spec, tmp_path)] == ["a", "b", "c"]


def test_axes_are_what_a_person_would_type():
    table = {"a": [True, 0.5], "b": {"c": ["none", 3]}, "d": [[1], float("nan")], "e": 4, "f": {}}
    assert axes(table) == {
        "a": ["true", "0.5"],
        "b.c": ["none", "3"],
        "d": [None, None],
        "e": None,
        "f": None,
    }
    assert list(combinations({"a": [1, 2], "b": ["x"]})) == [
        {"a": "1", "b": "x"},
        {"a": "2", "b": "x"},
    ]


def test_every_fault_is_told_at_once(faults):
    told = faults(
        ('out = "runs"', 'limt = 3\nlimit = "ten"\ncredit = "some"'),
        ("name = ", "nam = "),
        ("summaries = false", "summary = false\nlimit = 3"),
        ("facts = [1, 5, 8]", "facts = 5\nfact = [1, 2]\nqueries = [1, 2]\nraw = [true, true]"),
    )
    assert told == [
        "limt: no such field; did you mean limit?",
        "out: it is missing",
        "corpus.nam: no such field; did you mean name?",
        "corpus.name: it is missing",
        "limit: expected `int`, got `str`",
        "credit: invalid enum value 'some'",
        "settings.summary: no such setting; did you mean summaries?",
        "settings.limit: it is no setting of the system; write `limit` outside of [settings]",
        "sweep.facts: it is a list of the values to try, [1, 5, 8]",
        "sweep.fact[0]: no such setting; did you mean facts?",
        "sweep.fact[1]: no such setting; did you mean facts?",
        "sweep.queries[0]: queries is the same in every cell; write it outside of [sweep]",
        "sweep.queries[1]: queries is the same in every cell; write it outside of [sweep]",
        "sweep.raw: true is there twice",
    ]


def top(text):
    return ("out =", f"{text}\nout =")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('"synthetic"', '"locomoo"'), "corpus.name: no such corpus"),
        (("builtin:derived", "builtin:derivd"), "did you mean builtin:derived?"),
        (("[1, 5, 8]", "[]"), "sweep.facts: it is a list of the values to try"),
        (("facts = [1, 5, 8]", ""), "sweep: expected `object` of length >= 1"),
        (("[1, 5, 8]", "[1, [2]]"), "sweep.facts[1]: a setting is a text, a finite number"),
        (("[1, 5, 8]", "[1]"), "sweep: there is one cell, and nothing to choose from"),
        (("[1, 5, 8]", "[1, 1]"), "sweep.facts: 1 is there twice"),
        (("facts =", "summaries ="), "sweep.summaries: summaries is set by [settings] too"),
        (
            ("facts = [1, 5, 8]", 'timeline = ["now", "literal"]'),
            "sweep.timeline[1]: it is anchored or now",
        ),
        (("facts = [1, 5, 8]", 'forms = ["turn"]'), "sweep.forms[0]: unknown form `turn`"),
        (top('forms = "fact"'), "forms: unknown form `fact`"),
        (top("limit = 20"), "cutoffs[1]: no list reaches 40; `limit` is 20"),
        (top("cutoffs = [40, 20, 60]"), "cutoffs[1]: they ascend, and 20 is not above 40"),
        (top('metric = "ndcg@10"'), "metric: nothing is scored at ndcg@10; it is one of ndcg, mrr"),
        (top('metric = "ndgc@60"'), "metric: unknown metric 'ndgc'; it is one of ndcg, mrr"),
        (top('metric = "top1@5"'), "metric: top1 has no cut-off"),
        (top('metric = "mrr@x"'), "metric: "),
        (top('targets = ["raw"]'), "targets: expected `array` of length >= 2"),
        (top('targets = ["raw", "raw"]'), "targets[1]: raw is there twice"),
        (top('targets = ["raw", "kind:"]'), "targets[1]: '' is not a kind of stored item"),
        (top('granularity = "session"'), "level: a run by session has no turns"),
        (top('names = ["a", "b"]'), "names: there are 2 for 3 cells"),
        (top('names = ["a", "b", "A"]'), "names[2]: A is there twice"),
        (top('names = ["a", "b", "c/d"]'), "names[2]: the name of its folder has a character"),
        (top('names = ["a", "b", "sweep.json"]'), "names[2]: sweep.json is the name of a file"),
    ],
)
def test_a_fault(faults, change, fault):
    assert fault in "\n".join(faults(change))


def test_too_many_cells_are_refused(faults):
    (told,) = faults(
        (
            "[1, 5, 8]",
            f"{[*range(9)]}\ntext.speaker = [true, false]\nraw = [true, false]\nrrf_k = [1, 2, 3]",
        )
    )
    assert told == f"sweep: it has 108 cells, and at most {MOST_CELLS} are measured"


def test_a_product_that_no_machine_could_list_is_refused_at_once(faults):
    many = "".join(f"decay_tags.t{i} = {list(range(50))}\n" for i in range(60))
    (told,) = faults(("facts = [1, 5, 8]", many))
    assert f"at most {MOST_CELLS} are measured" in told


def test_a_value_is_told_with_the_first_cell_that_has_it(faults):
    (told,) = faults(("[1, 5, 8]", "[1, 99]\nraw = [true, false]"))
    assert told.startswith("cell facts=99+raw=true: facts is a whole number from 0 to ")


def test_values_that_make_no_folder(faults):
    told = faults(("[1, 5, 8]", '[1, 5]\nembedder = ["a/b", "c"]\nranking = ["dense"]'))
    assert told[0].startswith("cell facts=1+embedder=a/b+ranking=dense: the name of its folder has")
    assert told[0].endswith("set `names`")


def test_what_is_no_spec(tmp_path):
    (tmp_path / "spec.toml").write_bytes(b"out = ")
    with pytest.raises(UsageError, match="no TOML") as caught:
        read_sweep(tmp_path / "spec.toml")
    assert caught.value.hint == "see docs/sweep.md"
