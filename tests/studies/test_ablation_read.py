import json
import tomllib
from pathlib import Path

import jsonschema
import msgspec
import pytest

from memruler.errors import UsageError
from memruler.studies.ablation_cells import cells, design_of
from memruler.studies.ablation_read import read_spec
from memruler.studies.ablation_spec import AblationSpec
from memruler.studies.spec_base import SpecFaults
from memruler.studies.spec_cells import words

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("ablation*.toml"))

SPEC = """
out = "runs"
system = "builtin:episodic"
metrics = [{ level = "turn", metric = "recall_all@5" }]
[corpus]
name = "synthetic"
[settings]
importance = false
[factors.decay]
off = { decay = false }
on = { decay = true, decay_rate = 0.1, decay_tags.fact = 0.01 }
[factors.mmr]
off = { mmr = false }
on = { mmr = true }
"""

UNKNOWN = (
    "metrics[0].metric: unknown metric 'recal_all'; did you mean recall_all or recall_any or "
    "recall_pooled?"
)


@pytest.fixture
def read(tmp_path):
    def reading(text, *changes):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
        return read_spec(tmp_path / "spec.toml")

    return reading


@pytest.fixture
def faults(read):
    def telling(*changes, text=SPEC):
        with pytest.raises(SpecFaults) as caught:
            read(text, *changes)
        assert caught.value.exit_code == 2
        return list(caught.value.faults)

    return telling


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_right_and_fits_the_schema(path):
    assert read_spec(path).out.startswith("runs/")
    schema = msgspec.json.schema(AblationSpec)
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(json.dumps(raw)), schema, cls=jsonschema.Draft202012Validator)


def test_the_examples_are_there():
    assert [path.name for path in EXAMPLES] == ["ablation-locomo.toml", "ablation.toml"]


def test_the_cells_of_a_spec(read, tmp_path):
    spec = read(SPEC, ('name = "synthetic"', 'name = "jsonl"\npath = "../a.jsonl"\nqueries = 3'))
    found = list(cells(spec, design_of(tuple(spec.factors), ()), tmp_path))
    assert [cell.folder for cell in found] == ["all-off", "decay", "mmr", "decay+mmr"]
    assert found[0].plan.assignments == ("importance=false", "decay=false", "mmr=false")
    assert found[1].plan.assignments == (
        "importance=false",
        "decay=true",
        "decay_rate=0.1",
        "decay_tags.fact=0.01",
        "mmr=false",
    )
    assert {cell.plan.path for cell in found} == {str(tmp_path / "../a.jsonl")}
    assert found[0].plan.settings["queries"] == 3
    assert "queries" in found[0].plan.typed
    assert "instances" not in found[0].plan.typed


def test_a_factor_can_set_the_run(read, tmp_path):
    spec = read(
        SPEC,
        ("{ mmr = false }", '{ timeline = "now", text.speaker = true }'),
        ("{ mmr = true }", '{ timeline = "anchored", text.speaker = false }'),
    )
    found = list(cells(spec, design_of(tuple(spec.factors), ()), tmp_path))
    assert [cell.plan.settings["timeline"] for cell in found] == 2 * ["now"] + 2 * ["anchored"]
    assert "text.speaker=false" in found[-1].plan.assignments


def test_a_file_of_ones_own_is_found_beside_the_spec(read, tmp_path):
    spec = read(SPEC, ("builtin:episodic", "words.py:Words"))
    found = next(cells(spec, design_of(tuple(spec.factors), ()), tmp_path))
    assert found.plan.system == str(tmp_path / "words.py:Words")


def test_words_are_what_a_person_would_type():
    table = {"a": True, "b": 0.5, "c": "none", "d": {"e": 3}, "f": [1], "g": float("nan"), "h": {}}
    assert words(table) == {
        "a": "true",
        "b": "0.5",
        "c": "none",
        "d.e": "3",
        "f": None,
        "g": None,
        "h": None,
    }


def test_every_fault_is_told_at_once(faults):
    told = faults(
        ('out = "runs"', 'limt = 3\nlimit = "ten"'),
        ("recall_all@5", "recal_all@5"),
        ("importance = false", "importanc = false\ntext.speker = true\nwhen = 2020-01-01"),
        ("name = ", "nam = "),
        ("{ decay = false }", "{}"),
        ("{ mmr = true }", "{ mmr = true, queries = 3 }"),
    )
    assert told == [
        "limt: no such field; did you mean limit?",
        "out: it is missing",
        "corpus.nam: no such field; did you mean name?",
        "corpus.name: it is missing",
        "limit: expected `int`, got `str`",
        "factors.decay.off: expected `object` of length >= 1",
        "settings.importanc: no such setting; did you mean importance?",
        "settings.text.speker: no such setting; did you mean text.speaker?",
        "settings.when: a setting is a text, a finite number, true or false",
        "factors.mmr.on.queries: queries is the same in every cell; write it outside of [factors]",
        UNKNOWN,
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('"synthetic"', '"locomoo"'), "corpus.name: no such corpus"),
        (("builtin:episodic", "builtin:episodc"), "did you mean builtin:episodic?"),
        (("importance = false", "limit = 3"), "settings.limit: it is no setting of the system"),
        (("importance = false", 'text.date = "yes"'), "settings.text.date: it is true or false"),
        (("importance = false", "mmr = false"), "factors.mmr: mmr is set by [settings] too"),
        (("{ mmr = true }", "{ mmr = true, decay = 1 }"), "decay is set by factors.decay too"),
        (("{ mmr = true }", "{ mmr = false }"), "mmr is the same off and on"),
        (("[factors.mmr]", '[factors."m m"]'), "factors.m m: a name has"),
        (("[factors.mmr]", "[factors.all-off]"), "and is not all-off"),
        (("{ mmr = true }", '{ timeline = "literal" }'), "timeline: it is anchored or now"),
        (("recall_all@5", "recall_all@50"), "no list reaches 50; `limit` is 20"),
        (("recall_all@5", "recall_pooled@5"), "a single query has no recall_pooled"),
        (("[corpus]", 'granularity = "session"\n[corpus]'), "a run by session has no turns"),
        (("[corpus]", 'timeline = "literal"\n[corpus]'), "timeline: invalid enum value 'literal'"),
        (("[corpus]", 'design = "fraction"\n[corpus]'), "a fraction needs at least one"),
        (("[corpus]", 'generators = ["mmr = decay"]\n[corpus]'), "a whole design has none"),
        (
            ("[corpus]", 'design = "fraction"\ngenerators = ["mmr = decay"]\n[corpus]'),
            "generators: the generators cannot tell decay from mmr",
        ),
        (
            ("metrics = [", 'metrics = [{ level = "turn", metric = "recall_all@5" },'),
            "metrics[1]: it is there twice",
        ),
    ],
)
def test_a_fault(faults, change, fault):
    assert fault in "\n".join(faults(change))


def test_a_spec_without_factors(faults):
    assert faults(text=SPEC[: SPEC.index("[factors")]) == ["factors: it is missing"]


def test_what_is_stored_can_be_a_factor(read, faults, tmp_path):
    change = (
        ("{ mmr = false }", '{ forms = "turns" }'),
        ("{ mmr = true }", '{ forms = "turns,observations" }'),
    )
    spec = read(SPEC, *change)
    found = list(cells(spec, design_of(tuple(spec.factors), ()), tmp_path))
    assert [c.plan.settings["forms"] for c in found] == 2 * ["turns"] + 2 * ["turns,observations"]
    (told,) = faults(*change[:1], ("{ mmr = true }", '{ forms = "turn" }'))
    assert told.startswith("factors.mmr.on.forms: unknown form `turn`")


def test_the_derived_memory_can_be_ablated(read, faults):
    change = (("builtin:episodic", "builtin:derived"), ("importance = false", "facts = 3"))
    assert read(SPEC, *change, ("mmr", "raw")).settings == {"facts": 3}
    (told,) = faults(*change, ("mmr", "raw"), ("raw = true", "raw = 2"))
    assert told.startswith("cell raw: raw is true or false")


def test_a_value_is_told_with_the_first_cell_that_has_it(faults):
    (told,) = faults(("decay_rate = 0.1", "decay_rate = -1"))
    assert told == "cell decay: decay_rate is a number from 0 to 1000 [decay_rate=-1]"


def test_names_that_make_too_long_a_folder(faults):
    many = "".join(
        f"[factors.a-long-name-{i:02}]\noff = {{ a{i} = 1 }}\non = {{ a{i} = 2 }}\n"
        for i in range(9)
    )
    told = faults(text=SPEC.replace("builtin:episodic", "own:system") + many)
    assert told == ["factors: their names are too long together for a folder; shorten them"]


@pytest.mark.parametrize(
    "data", [b"out = ", b"\xff", b"a = " + b"1" * 5000, b"a = " + b"[" * 100_000]
)
def test_what_is_no_spec(tmp_path, data):
    (tmp_path / "spec.toml").write_bytes(data)
    with pytest.raises(UsageError, match=r"no TOML|UTF-8"):
        read_spec(tmp_path / "spec.toml")


def test_no_file(tmp_path):
    with pytest.raises(UsageError):
        read_spec(tmp_path / "spec.toml")
