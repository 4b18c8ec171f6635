import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from memruler.cli.ab import command
from memruler.report.schemas import schema

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "ab.toml"

SPEC = """
out = "runs"
limit = 10
cutoffs = [1, 5]
[corpus]
name = "synthetic"
instances = 1
queries = 6
[a]
system = "builtin:lexical"
[b]
system = "builtin:lexical"
"""


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "here" / "spec.toml"
    path.parent.mkdir()
    path.write_text(SPEC, encoding="utf-8")
    return path


def test_the_table_the_page_and_the_json(spec):
    found = call(spec)
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout.startswith("EXACTLY ZERO  recall_all@5 ")
    assert max(map(len, found.stdout.splitlines())) <= 80
    runs = spec.parent / "runs"  # `out` is relative to the spec
    assert (runs / "ab.md").read_text(encoding="utf-8").startswith("# A/B run over synthetic")
    again = call(spec, "--json")
    assert again.stdout == (runs / "ab.json").read_text(encoding="utf-8")
    plain = json.loads(again.stdout)
    assert plain["verdict"] == "zero"
    jsonschema.validate(
        plain, json.loads(schema("ab.schema.json")), cls=jsonschema.Draft202012Validator
    )


def test_a_refused_difference_is_told_with_the_rest_and_exit_code_4(spec):
    spec.write_text(f"{SPEC}settings = {{ capacity = 10 }}\n", encoding="utf-8")
    found = call(spec)
    assert found.exit_code == 4
    assert found.stdout.startswith("REFUSED  ")
    assert "latency, paired median, ms" in found.stdout
    assert json.loads((spec.parent / "runs" / "ab.json").read_bytes())["refused"]["reasons"]
    assert call(spec, "--json").exit_code == 4


def test_a_dry_run_names_the_run_folders_and_makes_nothing(spec, tmp_path):
    found = call(spec, "--out", tmp_path / "other", "--dry-run")
    assert (found.exit_code, found.stdout) == (0, "a\nb\n")
    assert json.loads(call(spec, "--dry-run", "--json").stdout) == {"cells": ["a", "b"]}
    assert not (tmp_path / "other").exists()
    assert not (spec.parent / "runs").exists()
    assert call(EXAMPLE, "--dry-run").exit_code == 0


def test_out_is_relative_to_where_one_is(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call(spec, "--out", "other").exit_code == 0
    names = {path.name for path in (tmp_path / "other").iterdir()}
    assert names == {"a", "b", "ab.md", "ab.json", "turns.json"}
    assert not (spec.parent / "runs").exists()


def test_every_fault_is_told(spec):
    spec.write_text(SPEC.replace("limit", "limt").replace("[1, 5]", "[]"), encoding="utf-8")
    found = call(spec)
    assert found.exit_code == 2
    assert "2 faults; see docs/ab.md" in found.stderr
    assert "  limt: no such field; did you mean limit?\n" in found.stderr
