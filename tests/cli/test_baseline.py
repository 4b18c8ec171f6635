"""`memruler baseline` from the command line: exit codes, documents, and hostile text in them."""

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from memruler.cli.baseline import command
from memruler.report import github
from memruler.report.junit import junit
from memruler.report.markdown_baseline import LONGEST, markdown_baseline
from memruler.report.schemas import schema
from memruler.studies.baseline_check import check
from memruler.studies.baseline_record import BaselineCheck

_spec = spec_from_file_location(
    "run_folders", Path(__file__).parents[1] / "compare" / "conftest.py"
)
_folders = module_from_spec(_spec)
_spec.loader.exec_module(_folders)

make_run = _folders.make_run
A = _folders.QUERIES_A
WORSE = (A[0]._replace(session="....."), *A[1:])
CODE = {"system.digest": "9" * 64}
HOSTILE = "<script>alert(1)</script> | `x` \x1b[31m \u202e ![i](https://x.example) ]]>"


def call(*arguments, **environment):
    environment = {"CI": None, **environment}
    return CliRunner().invoke(command, [str(a) for a in arguments], env=environment)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def accepted(make_run, home):
    """A project whose baseline was accepted by hand."""
    proposed = call("propose", make_run("first"))
    assert proposed.exit_code == 0, proposed.output
    assert proposed.stdout.startswith("NO BASELINE YET")
    assert "memruler baseline accept baseline-proposal" in proposed.stdout
    done = call("accept")
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith("commit it.\n")
    assert call("accept").stdout.endswith("nothing was changed.\n")
    return home / "baseline"


def test_a_score_that_moved_ends_with_nought(accepted, make_run):
    del accepted
    found = call("check", make_run("new", WORSE, changes=CODE))
    assert found.exit_code == 0
    line = " ".join(found.stdout.split())
    assert line.startswith(
        "WORSE recall_all@5 at the session level 0.7500 -> 0.5000 (-0.2500, exact) over 4 queries; "
        "better 0, worse 1"
    )
    assert "differs: system.digest" in line
    assert "single 1.0000 -> 0.5000 -0.5000 2 of 2" in line
    assert found.stderr == ""
    assert max(map(len, found.stdout.splitlines())) <= 80


def test_every_outcome_has_its_code(accepted, make_run, home):
    run = make_run("new", changes=CODE)
    assert call("check", run).exit_code == 0
    assert call("check", run, "--baseline", home / "none").exit_code == 2
    assert call("check", home / "no-run").exit_code != 3
    refused = call("check", make_run("other", changes={"embedder.model_sha256": "0" * 64}))
    assert refused.exit_code == 4
    assert refused.stdout.startswith("NOT COMPARABLE")
    (accepted / "summary.json").write_bytes(b"{}")
    broken = call("check", run)
    assert broken.exit_code == 3
    assert broken.stdout.startswith("THE INSTRUMENT IS BROKEN")


def test_ci_does_not_accept(accepted, make_run):
    assert call("propose", make_run("new", WORSE, changes=CODE)).exit_code == 0
    before = (accepted / "SHA256SUMS").read_bytes()
    error = call("accept", CI="true").exception
    assert error.exit_code == 2
    assert "this is CI" in str(error)
    assert (accepted / "SHA256SUMS").read_bytes() == before
    assert call("accept", "--force", CI="true").exit_code == 0
    assert (accepted / "SHA256SUMS").read_bytes() != before


def test_documents_and_github_files(accepted, make_run, home):
    summary, outputs = home / "summary.md", home / "outputs"
    summary.write_text("# Before\n")
    found = call(
        *("check", make_run("new", WORSE, changes=CODE), "--json", "--github"),
        *("--markdown", home / "check.md", "--junit", home / "check.xml"),
        GITHUB_STEP_SUMMARY=str(summary),
        GITHUB_OUTPUT=str(outputs),
    )
    assert found.exit_code == 0
    plain = json.loads(found.stdout)
    jsonschema.validate(
        plain, json.loads(schema("baseline.schema.json")), cls=jsonschema.Draft202012Validator
    )
    page = (home / "check.md").read_text()
    assert page.startswith("## Memory baseline: worse\n")
    assert summary.read_text() == f"# Before\n{page.rstrip()}\n"
    values = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    assert values == {
        "outcome": "moved",
        "verdict": "worse",
        "code": "0",
        "delta": "-0.25",
        "accepted": plain["accepted"],
    }
    assert len(values["accepted"]) == 64
    assert accepted.is_dir()


def test_github_files_elsewhere_are_a_wrong_call(accepted, make_run):
    del accepted
    error = call("check", make_run("new"), "--github", GITHUB_STEP_SUMMARY=None).exception
    assert error.exit_code == 2


def test_an_output_cannot_name_another(home, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", str(home / "outputs"))
    for name, value in (("a", "x\nb=y"), ("a\rb", "x"), ("a=b", "x")):
        with pytest.raises(ValueError, match="would not end"):
            github.append_outputs({name: value})
    assert not (home / "outputs").exists()


def _suite(found):
    return ET.fromstring(junit(found))[0]  # noqa: S314 - our own


@pytest.mark.parametrize(
    ("changes", "fields", "wanted"),
    [
        (CODE, {}, (0, 0, 0)),
        ({"ruler.version": "2"}, {}, (0, 1, 1)),
        ({}, {"degraded": (HOSTILE,)}, (1, 0, 2)),
    ],
)
def test_junit(accepted, make_run, changes, fields, wanted):
    found = check(make_run("new", WORSE, changes=changes, fields=fields), accepted)
    suite = _suite(found)
    counts = tuple(int(suite.attrib[name]) for name in ("errors", "failures", "skipped"))
    assert counts == wanted
    assert suite.attrib["tests"] == str(len(suite)) == "3"
    assert [case.attrib["name"] for case in suite] == ["instrument", "comparable", "score"]
    # Whatever the score did, its case holds no fault.
    assert [child.tag for child in suite[2]] in (["system-out"], ["skipped"])


def test_hostile_text_changes_no_document(accepted, make_run):
    queries = tuple(q._replace(category=HOSTILE, instance=f"i{HOSTILE}") for q in WORSE)
    first = make_run(
        "hostile-first", tuple(q._replace(category=HOSTILE, instance=f"i{HOSTILE}") for q in A)
    )
    out, baseline = first.parent / "out", first.parent / "hostile"
    assert call("propose", first, "--baseline", baseline, "--out", out).exit_code == 0
    assert call("accept", out, "--baseline", baseline).exit_code == 0
    run = make_run("new", queries, changes={"system.settings.decay_rate": HOSTILE})
    found = check(run, baseline)
    assert found.verdict == "worse"
    page = markdown_baseline(found)
    for raw in ("\x1b", "\u202e"):
        assert raw not in page
    # Outside code spans, nothing of it is markup.
    bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", page)
    assert "<script>" not in bare
    assert not re.search(r"(?<!\\)\]\(", bare)
    rows = [line for line in page.splitlines() if line.startswith("| \\<") or "| &lt;" in line]
    assert rows
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} <= {6, 8}
    shown = call("check", run, "--baseline", baseline).stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    broken = msgspec.structs.replace(found, outcome="broken", broken=HOSTILE + "\x00\ufffe")
    assert _suite(broken)[0][0].attrib["message"].startswith("<script>")
    assert accepted.is_dir()


def test_a_page_is_never_too_long_for_github(accepted, make_run):
    found = check(make_run("new", WORSE, changes=CODE), accepted)
    many = msgspec.structs.replace(
        found, notes=tuple("*" * 1900 + str(n) for n in range(300)), code=0
    )
    page = markdown_baseline(many)
    assert len(page) <= LONGEST
    assert page.rstrip().endswith("too long.")


def test_the_record_reads_back(accepted, make_run):
    found = call("check", make_run("new", WORSE, changes=CODE), "--json")
    assert msgspec.json.decode(found.stdout, type=BaselineCheck).verdict == "worse"
    assert found.stdout.isascii()
    assert accepted.is_dir()
