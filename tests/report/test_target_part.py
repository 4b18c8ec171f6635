"""The report of a store that transforms says which form earned the credit; others do not."""

import io

import msgspec
import pytest
from rich.console import Console

from memruler.compare.exact import compare
from memruler.compare.target_part import UnderTarget, turned
from memruler.replay.run import measure
from memruler.report.document import ReportDocument
from memruler.report.markdown import markdown_comparison, markdown_run
from memruler.report.terminal import render_comparison, render_run
from memruler.report.write import write_report
from memruler.scoring.score import score
from memruler.store.folder import RunFolder
from memruler.systems.registry import open_system


@pytest.fixture
def reported(tmp_path, make_plan, make_instance):
    def build(name, **settings):
        system = open_system(name, settings).system
        plan = make_plan(system, [make_instance(0), make_instance(1)], limit=9)
        with RunFolder.claim(tmp_path, "r") as folder:
            measure(plan, folder, lambda *_: None)
            score(folder, (1, 3, 9))
            return write_report(folder)

    return build


def on_terminal(document, tmp_path):
    file = io.StringIO()
    render_run(document, tmp_path / "r", Console(file=file, width=80))
    return file.getvalue()


def test_a_transformed_store(reported, tmp_path):
    document = reported("builtin:derived", facts="1")
    scores = {one.target: one for one in document.targets.scores.targets}
    assert list(scores) == ["raw", "source", "canonical"]
    assert scores["source"].own.queries == 6
    assert document.targets.card.k == 9
    assert document.summary.hits.transformed > 0
    assert document.summary.hits.unattributed == {"session": 0, "turn": 0}
    page = markdown_run(document)
    assert "## Target card of `r`" in page
    assert "| `canonical` |" in page
    told = on_terminal(document, tmp_path)
    assert "which form earns the credit" in told
    assert max(map(len, told.splitlines())) <= 80
    stored = (tmp_path / "r" / "report.json").read_bytes()
    assert msgspec.json.decode(stored, type=ReportDocument).targets == document.targets


def test_a_store_of_facts_only_is_reported_and_not_refused(reported, tmp_path):
    document = reported("builtin:derived", raw="false")
    assert not document.summary.slices[0].cutoffs
    told = " ".join(on_terminal(document, tmp_path).split())
    assert "no cut-off could be measured" in told
    assert "transformed forms, which the target raw does not credit" in told
    by_target = {one.target: one for one in document.targets.scores.targets}
    assert by_target["raw"].scored == 0
    assert by_target["raw"].excluded["no_eligible_item"] == 6
    assert by_target["source"].own.depths[-1].recall_all == 1.0


def test_a_store_of_turns_has_no_such_part(reported, tmp_path):
    document = reported("builtin:lexical")
    assert document.targets is None
    assert "Target card" not in markdown_run(document)
    assert "which form" not in on_terminal(document, tmp_path)


@pytest.fixture
def compared(tmp_path, make_plan, make_instance):
    def build(*settings, name="builtin:derived"):
        for stem, own in zip("ab", settings, strict=True):
            plan = make_plan(
                open_system(name, own).system, [make_instance(0), make_instance(1)], limit=9
            )
            with RunFolder.claim(tmp_path, stem) as folder:
                measure(plan, folder, lambda *_: None)
                score(folder, (1, 3, 9))
                write_report(folder)
        return compare(tmp_path / "a", tmp_path / "b", changed=("system",), shared=True)

    return build


def test_a_comparison_of_transformed_stores_names_every_target(compared):
    found = compared({"facts": "1"}, {"facts": "5", "summaries": "false"})
    assert [one.target for one in found.by_target] == ["raw", "source", "canonical"]
    assert all(one.queries == 6 and one.k == found.headline.k for one in found.by_target)
    assert [card.name for card in found.cards] == ["a", "b"]
    page = markdown_comparison(found)
    assert "## Target card of `b`" in page
    file = io.StringIO()
    render_comparison(found, Console(file=file, width=80))
    assert "which form earns the credit" in file.getvalue()
    assert "target raw" in file.getvalue()
    assert max(map(len, file.getvalue().splitlines())) <= 80


def test_a_sign_that_depends_on_the_target_is_a_note():
    def told(target, base, candidate):
        values = {"ndcg": base, "recall_any": 0.5}, {"ndcg": candidate, "recall_any": 0.5}
        return UnderTarget(target=target, k=5, queries=9, base=values[0], candidate=values[1])

    (note,) = turned([told("raw", 0.5, 0.4), told("source", 0.5, 0.5), told("canonical", 0.2, 0.3)])
    assert "ndcg@5 raw -0.1000, source +0.0000, canonical +0.1000" in note
    assert not list(turned([told("raw", 0.5, 0.4), told("source", 0.5, 0.5)]))
