import io

import msgspec
import pytest
from rich.console import Console

from memruler.report.terminal_audit import render_audit, render_sampled
from memruler.studies.audit_csv import CASE_COLUMNS, CaseTable
from memruler.studies.audit_read import read_audit
from memruler.studies.audit_record import AuditNotes, Sampled
from memruler.studies.audit_share import justified_share

DRAWN = Sampled(
    run="r1",
    corpus="locomo",
    corpus_sha256="0",
    target="source",
    against="raw",
    level="session",
    rule="anchor",
    k=60,
    seed=7,
    wanted=3,
    contested=40,
    gaining=31,
    drawn_from="gaining",
    queries=12,
    strata={"single-hop": (21, 2), "a\x1b[2J": (10, 1)},
    without=("open-domain",),
    no_evidence=1,
    no_item=2,
    cut=3,
)


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
        "of 4 decided pairs of 6\n"
    )
    assert "4 supports, 0 partial, 0 does_not_support; 1 tied; 1 without a label" in said
    assert "weights    none: several targets are pooled" in said
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
    finer = "in --json 8 slices of three or more of data set, target, category: too many for a page"
    assert finer in " ".join(said.split())


def test_what_all_cases_share_is_named(audit):
    said = printed(render_audit, audit([(("yes",), {"category": c}) for c in "ab"], ("ann",)))
    assert "no slices  by what all cases share: data set x, run x, target x, gains x" in said


def test_gains_are_told_in_words(audit):
    rows = [(("yes",), {"gains": gains}) for gains in ("yes", "no")]
    said = printed(render_audit, audit(rows, raters=("ann",)))
    assert "\ngain " in said
    assert "\ngain nothing " in said


def test_weights_stand_beside_the_plain_share(audit):
    found = audit([(("yes",), {})] * 4 + [(("no",), {})], raters=("ann",))
    assert "Weighted" not in printed(render_audit, found)
    share = justified_share([True] * 4 + [False], list("pqrst"), [9.0] * 4 + [4.0])
    whole = msgspec.structs.replace(found.slices[0], supports=share, supports_or_partial=share)
    said = printed(render_audit, msgspec.structs.replace(found, slices=(whole,), sampled=(DRAWN,)))
    assert said.startswith(
        "relaxed credit justified: 80.0 % supports, 80.0 % supports or partial\n"
        "of 5 decided pairs of 5; weighted by category 90.0 % and 90.0 %\n"
        "source: of 40 contested items 31 gain credit (rule anchor)\n"
    )
    assert said.count("90.0 %") == 4


def test_a_draw_of_all_that_is_eligible_is_no_credit(audit):
    found = audit([(("yes",), {})], raters=("ann",))
    drawn = msgspec.structs.replace(DRAWN, drawn_from="contested")
    said = printed(render_audit, msgspec.structs.replace(found, sampled=(drawn,)))
    assert said.startswith("contested items justified: 100.0 % supports")
    assert "3 of 40 contested items (31 gain credit)" in said


def test_rows_are_told_where_they_are_not_pairs(audit):
    said = printed(render_audit, audit([(("yes",), {})] * 2, raters=("ann",)))
    assert "rows  pairs" not in said
    rows = [(("yes",), {"pair": "p", "target": target}) for target in ("a", "b")]
    said = printed(render_audit, audit(rows, raters=("ann",)))
    assert " rows  pairs  queries" in said


def test_runs_are_named_where_there_are_several(audit):
    found = audit([(("yes",), {})], raters=("ann",))
    both = (DRAWN, msgspec.structs.replace(DRAWN, run="r2"))
    said = printed(render_audit, msgspec.structs.replace(found, sampled=both))
    assert "\nr1, source: of 40 contested items 31 gain" in said
    assert "\nr2, source: of 40 contested items 31 gain" in said


def test_who_was_blind_is_told(audit):
    said = printed(render_audit, audit([(("yes",), {})], raters=("ann",)))
    assert "ann  not blind" in said


def test_hostile_names_are_harmless(audit):
    rows = [(("yes",), {"category": name}) for name in ("\x1b[31mred", "[bold]x", "y" * 200)]
    said = printed(render_audit, audit(rows, raters=("ann",)))
    assert "\x1b" not in said
    assert "[bold]x" in said


def test_what_was_drawn_names_its_gaps():
    said = printed(render_sampled, AuditNotes(sampled=(DRAWN,)))
    assert said.startswith(
        "3 cases of 31 items that gain credit (40 are contested), source against"
    )
    assert "none of   open-domain" in said
    assert "single-hop 2/21" in said
    assert "\x1b" not in said
    for gap in ("1 cases without evidence", "2 cases whose item", "3 cases with a text"):
        assert gap in said
