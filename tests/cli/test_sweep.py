import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from memruler.cli.sweep import command
from memruler.report.schemas import SCHEMAS, schema

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "density.toml"

SPEC = """
out = "runs"
system = "builtin:derived"
limit = 10
cutoffs = [5, 10]
[corpus]
name = "synthetic"
instances = 1
queries = 6
[sweep]
facts = [1, 5]
"""


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "here" / "spec.toml"
    path.parent.mkdir()
    path.write_text(SPEC, encoding="utf-8")
    return path


def test_the_table_the_pages_and_the_json(spec):
    found = call(spec)
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout.startswith("SWEEP of 2 cells by ndcg@10: ")
    assert max(map(len, found.stdout.splitlines())) <= 80
    runs = spec.parent / "runs"  # `out` is relative to the spec
    assert (runs / "sweep.md").read_text(encoding="utf-8").startswith("# Sweep of builtin:derived")
    assert "facts=5" in (runs / "targets.md").read_text(encoding="utf-8")
    again = call(spec, "--json")
    assert again.stdout == (runs / "sweep.json").read_text(encoding="utf-8")
    plain = json.loads(again.stdout)
    assert plain["ruler"] == "exact"
    if "sweep.schema.json" in SCHEMAS:
        jsonschema.validate(
            plain,
            json.loads(schema("sweep.schema.json")),
            cls=jsonschema.Draft202012Validator,
        )


def test_a_dry_run_lists_the_cells_and_makes_nothing(spec, tmp_path):
    found = call(spec, "--out", tmp_path / "other", "--dry-run")
    assert (found.exit_code, found.stdout) == (0, "facts=1\nfacts=5\n")
    assert not (tmp_path / "other").exists()
    assert not (spec.parent / "runs").exists()
    assert call(EXAMPLE, "--dry-run").stdout == "f1\nf5\nf8\n"


def test_out_is_relative_to_where_one_is(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call(spec, "--out", "other").exit_code == 0
    assert {path.name for path in (tmp_path / "other").iterdir()} == {
        "facts=1",
        "facts=5",
        "sweep.json",
        "sweep.md",
        "targets.md",
    }


def test_every_fault_is_a_line(spec):
    spec.write_text(SPEC.replace("limit = 10", "limt = 5\nlimit = 0"), encoding="utf-8")
    found = call(spec)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.splitlines() == [
        f"memruler: {spec}: 2 faults; see docs/sweep.md",
        "  limt: no such field; did you mean limit?",
        "  limit: expected `int` >= 1",
    ]
    assert not (spec.parent / "runs").exists()


def test_hostile_faults_do_not_steer_the_terminal(spec):
    spec.write_text(SPEC.replace("[corpus]", '"\\u001b[2J" = 1\n[corpus]'), encoding="utf-8")
    found = call(spec)
    assert found.exit_code == 2
    assert "\x1b" not in found.stderr


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("instances = 1", 'population = "none"'), 2),
        (("builtin:derived", "nobody.py:None"), 2),
        (("limit = 10", 'targets = ["raw", "nothing"]\nlimit = 10'), 2),
        (("limit = 10", 'targets = ["raw", "node"]\nlimit = 10'), 4),
    ],
)
def test_a_wrong_call_through_the_whole_program(spec, change, code):
    spec.write_text(SPEC.replace(*change), encoding="utf-8")
    program = (
        "import sys; from memruler.cli import main; main.VERBS.setdefault('sweep', ''); "
        "main.main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "sweep", str(spec)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("memruler: ")
    assert "Traceback" not in done.stderr


def test_the_help_imports_nothing_heavy():
    program = (
        "import sys; from memruler.cli.sweep import command\n"
        "try: command.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pyarrow', 'rich', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_density_of_locomo_depends_on_the_target(tmp_path, locomo_path):
    text = EXAMPLE.read_text(encoding="utf-8")
    path = f'name = "locomo"\npath = {json.dumps(str(locomo_path))}'
    (tmp_path / "spec.toml").write_text(text.replace('name = "locomo"', path), encoding="utf-8")
    found = call(tmp_path / "spec.toml", "--json")
    assert found.exit_code == 0, found.stderr
    side = json.loads(found.stdout)["sensitivity"]
    assert side["queries"] == 1531
    headline = side["headline"]
    assert (headline["metric"], headline["k"], headline["outcome"]) == ("ndcg", 60, "changed")
    means = {choice["target"]: choice["means"] for choice in headline["choices"]}
    # More facts crowd out the raw turns, whatever the parser; and they are what is canonical.
    assert means["raw"]["f1"] > means["raw"]["f5"] >= means["raw"]["f8"]
    assert means["canonical"]["f1"] < means["canonical"]["f5"]
