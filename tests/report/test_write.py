import json

import pytest

from memruler.errors import FormatError
from memruler.report.write import write_report
from memruler.store.folder import RunFolder


def test_both_reports_are_written_and_say_the_same(make_run):
    path = make_run("base")
    with RunFolder.claim(path.parent, path.name) as folder:
        document = write_report(folder)
    plain = json.loads((path / "report.json").read_bytes())
    assert plain["summary"]["population"]["measured"] == document.summary.population.measured == 4
    assert plain["timing"]["mean_ms"] == 2.0
    assert (path / "report.md").read_text(encoding="utf-8").startswith("# Run `base`")


def test_the_same_run_gives_the_same_pages(make_run):
    path = make_run("base")
    with RunFolder.claim(path.parent, path.name) as folder:
        write_report(folder)
        first = [(path / name).read_bytes() for name in ("report.json", "report.md")]
        write_report(folder)
    assert first == [(path / name).read_bytes() for name in ("report.json", "report.md")]


def test_a_run_that_was_not_scored_gets_no_report(make_run):
    path = make_run("base")
    (path / "summary.json").unlink()
    with (
        RunFolder.claim(path.parent, path.name) as folder,
        pytest.raises(FormatError, match="not scored"),
    ):
        write_report(folder)
    assert not (path / "report.md").exists()
