import json
import tomllib
from pathlib import Path

import jsonschema
import msgspec
import pytest

from memruler.errors import UsageError
from memruler.studies.ab_read import read_ab
from memruler.studies.ab_spec import AbSpec
from memruler.studies.spec_base import SpecFaults

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "ab.toml"

SPEC = """
out = "runs"
[corpus]
name = "synthetic"
[a]
system = "builtin:lexical"
[b]
system = "builtin:lexical"
settings = { stop_words = false }
"""


@pytest.fixture
def read(tmp_path):
    def reading(*changes):
        text = SPEC
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
        return read_ab(tmp_path / "spec.toml")

    return reading


@pytest.fixture
def faults(read):
    def telling(*changes):
        with pytest.raises(SpecFaults) as caught:
            read(*changes)
        assert caught.value.exit_code == 2
        assert caught.value.hint == "see docs/ab.md"
        return list(caught.value.faults)

    return telling


def top(text):
    return ("out =", f"{text}\nout =")


def test_the_example_is_right_and_fits_the_schema():
    read_ab(EXAMPLE)
    raw = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    jsonschema.validate(
        json.loads(json.dumps(raw)),
        msgspec.json.schema(AbSpec),
        cls=jsonschema.Draft202012Validator,
    )


def test_what_is_not_written_has_its_default(read):
    found = read(top("limit = 4"))
    assert (found.a.settings, found.a.name, found.seed, found.shared) == ({}, None, 7, False)
    # A default that no list reaches is no fault of the person.
    assert (found.limit, found.cutoffs) == (4, (1, 3, 5, 10, 20))
    assert found.b.settings == {"stop_words": False}


def test_every_fault_is_told_at_once(faults):
    told = faults(
        ('out = "runs"', 'limt = 3\nlimit = 5\nseed = -1\ncutoffs = [5, 3, 9]\nmetric = "mrr@4"'),
        ("name = ", "nam = "),
        ('system = "builtin:lexical"', 'system = "builtin:lexicle"'),
        ("stop_words", "stop_word = 1, limit"),
    )
    assert told == [
        "limt: no such field; did you mean limit?",
        "out: it is missing",
        "corpus.nam: no such field; did you mean name?",
        "corpus.name: it is missing",
        "seed: expected `int` >= 0",
        "cutoffs[1]: they ascend, and 3 is not above 5",
        "cutoffs[2]: no list reaches 9; `limit` is 5",
        "metric: nothing is scored at mrr@4; the depths are 5, 3",
        "a.system: unknown preset builtin:lexicle; did you mean builtin:lexical?",
        "b.settings.stop_word: no such setting; did you mean stop_words?",
        "b.settings.limit: it is no setting of the system; write `limit` outside of [settings]",
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('"synthetic"', '"locomoo"'), "corpus.name: no such corpus"),
        (('[a]\nsystem = "builtin:lexical"', ""), "a: it is missing"),
        (('[a]\nsystem = "builtin:lexical"', "[a]"), "a.system: it is missing"),
        (("[a]\n", "[a]\nsetting = {}\n"), "a.setting: no such field; did you mean settings?"),
        (("[a]\n", '[a]\nname = ""\n'), "a.name: expected `str` of length >= 1"),
        (("false", "[1]"), "b.settings.stop_words: a setting is a text, a finite number"),
        (("stop_words = false", "capacity = -1"), "b.settings: capacity "),
        (top('forms = "fact"'), "forms: unknown form `fact`"),
        (top('timeline = "literal"'), "timeline: invalid enum value 'literal'"),
        (top('metric = "ndgc@5"'), "metric: unknown metric 'ndgc'"),
        (top('metric = "top1@5"'), "metric: "),
        (top("cutoffs = []"), "cutoffs: expected `array` of length >= 1"),
    ],
)
def test_a_fault(faults, change, fault):
    assert fault in "\n".join(faults(change))


def test_what_is_no_spec(tmp_path):
    (tmp_path / "spec.toml").write_bytes(b"out = ")
    with pytest.raises(UsageError, match="no TOML") as caught:
        read_ab(tmp_path / "spec.toml")
    assert caught.value.hint == "see docs/ab.md"
