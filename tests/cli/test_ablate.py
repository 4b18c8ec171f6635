import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from memruler.cli.ablate import command

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

SPEC = """
out = "runs"
system = "builtin:lexical"
limit = 5
metrics = [{ level = "turn", metric = "recall_all@5" }]
[corpus]
name = "synthetic"
instances = 1
queries = 4
[factors.stop]
off = { stop_words = true }
on = { stop_words = false }
[factors.speaker]
off = { text.speaker = false }
on = { text.speaker = true }
"""


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "here" / "spec.toml"
    path.parent.mkdir()
    path.write_text(SPEC, encoding="utf-8")
    return path


def test_the_table_the_page_and_the_json(spec, tmp_path):
    found = call(spec)
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout.startswith("ABLATION of 2 factors in 4 cells")
    assert max(map(len, found.stdout.splitlines())) <= 80
    runs = spec.parent / "runs"  # `out` is relative to the spec
    assert (runs / "ablation.md").read_text(encoding="utf-8").startswith("# Ablation of")
    again = call(spec, "--json")
    assert again.stdout == (runs / "ablation.json").read_text(encoding="utf-8")
    assert json.loads(again.stdout)["ruler"] == "exact"
    assert call(spec, "--out", tmp_path / "other", "--dry-run").exit_code == 0
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", ["ablation.toml", "ablation-locomo.toml"])
def test_the_cells_of_an_example(name):
    found = call(EXAMPLES / name, "--dry-run")
    assert found.exit_code == 0
    cells = found.stdout.split()
    assert cells[0] == "all-off"
    assert len(cells) == {"ablation.toml": 8, "ablation-locomo.toml": 16}[name]


@pytest.mark.slow
def test_the_example_on_the_bundled_corpus(tmp_path):
    text = (EXAMPLES / "ablation.toml").read_text(encoding="utf-8")
    (tmp_path / "spec.toml").write_text(text.replace("minilm", "toy"), encoding="utf-8")
    found = call(tmp_path / "spec.toml", "--json")
    assert found.exit_code == 0, found.stderr
    plain = json.loads(found.stdout)
    assert len(plain["cells"]) == 8
    for one in plain["attributions"]:
        shares = sum(factor["share"] for factor in one["factors"])
        assert shares == pytest.approx(one["total"]["delta"], abs=1e-14)


def test_every_fault_is_a_line(spec):
    spec.write_text(SPEC.replace("limit = 5", "limt = 5\nlimit = 0"), encoding="utf-8")
    found = call(spec)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.splitlines() == [
        f"memruler: {spec}: 2 faults; see docs/ablation.md",
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
        (("builtin:lexical", "nobody.py:None"), 2),
        (('level = "turn", metric = "recall_all@5"', 'level = "session", metric = "mrr@5"'), 4),
    ],
)
def test_a_wrong_call_through_the_whole_program(spec, change, code):
    spec.write_text(SPEC.replace(*change), encoding="utf-8")
    program = (
        "import sys; from memruler.cli import main; main.VERBS.setdefault('ablate', ''); "
        "main.main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "ablate", str(spec)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("memruler: ")
    assert "Traceback" not in done.stderr


def test_the_help_imports_nothing_heavy():
    program = (
        "import sys; from memruler.cli.ablate import command\n"
        "try: command.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pyarrow', 'rich', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
