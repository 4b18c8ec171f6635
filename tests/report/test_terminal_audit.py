import io

import pytest
from rich.console import Console

from memruler.report.terminal_audit import render_audit, render_sampled
from memruler.studies.audit_csv import CASE_COLUMNS, CaseTable
from memruler.studies.audit_read import read_audit
from memruler.studies.audit_record import AuditNotes, Sampled


def printed(render, record):
    out = io.StringIO()
    render(record, Console(file=out, width=80, highlight=False, markup=False))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    return "\n".join(line.rstrip() for line in lines)


@pytest.fixture
def audit(tmp_path):
    def build(rows, raters=("ann", "bo", "gpt")):
        head = [*CASE_COLUMNS, *(f"label:{name}" for name in raters)]
        made = []
        for at, (labels, about) in enumerate(rows):
            own = {"case": f"c{at}", "pair": f"p{at}", "query": f"q{at}", **about}
            made.append([*(own.get(name, "x") for name in CASE_COLUMNS), *labels])
        path = tmp_path / "cases.csv"
        path.write_bytes(CaseTable(head=head, rows=made, numbers=[]).encode())
        return read_audit(path)

    return build


def test_denominators_stand_beside_every_share(audit):
    rows = [(("yes", "yes", "no"), {"target": t}) for t in ("source", "canonical")] * 2
    rows += [(("yes", "no", ""), {"target": "source"}), (("", "", ""), {"target": "source"})]
    said = printed(render_audit, audit(rows))
    assert said.startswith(
        "relaxed credit justified: 100.0 % supports, 100.0 % supports or partial\n"
        "of 4 decided cases of 6\n"
    )
    assert "4 supports, 0 partial, 0 does_not_support; 1 tied; 1 without a label" in said
    assert "Wilson's, with each query as" in said
    assert "all (Fleiss)" in said


def test_one_rater_has_no_agreement(audit):
    said = printed(render_audit, audit([(("yes",), {}), (("no",), {})], raters=("ann",)))
    assert "Agreement" not in said
    assert "50.0 %" in said


def test_a_kappa_without_a_value_says_why(audit):
    said = printed(render_audit, audit([(("yes", "yes"), {})] * 1, raters=("ann", "bo")))
    assert "ann, bo  1 items in 1 cluster" in said


def test_slices_of_three_columns_are_in_the_json_only(audit):
    rows = [
        (("yes",), {"corpus": corpus, "target": target, "category": category})
        for corpus in "ab"
        for target in "cd"
        for category in "ef"
    ]
    said = printed(render_audit, audit(rows, raters=("ann",)))
    assert "\na, c" in said
    assert "\na, c, e" not in said
    assert "are in --json" in said


def test_hostile_names_are_harmless(audit):
    rows = [(("yes",), {"category": name}) for name in ("\x1b[31mred", "[bold]x", "y" * 200)]
    said = printed(render_audit, audit(rows, raters=("ann",)))
    assert "\x1b" not in said
    assert "[bold]x" in said


def test_what_was_drawn_names_its_gaps():
    drawn = Sampled(
        run="r1",
        corpus="locomo",
        corpus_sha256="0",
        target="source",
        against="raw",
        level="session",
        k=60,
        seed=7,
        wanted=3,
        contested=40,
        queries=12,
        strata={"single-hop": (30, 2), "a\x1b[2J": (10, 1)},
        no_evidence=1,
        no_item=2,
        cut=3,
    )
    said = printed(render_sampled, AuditNotes(sampled=(drawn,)))
    assert said.startswith("3 cases of 40 contested credits, source against raw at session level")
    assert "single-hop 2/30" in said
    assert "\x1b" not in said
    for gap in ("1 cases without evidence", "2 cases whose item", "3 cases with a text"):
        assert gap in said
