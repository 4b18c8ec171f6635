import json
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.errors import CorpusError, FormatError, Refusal, UsageError
from memruler.judges.base import JudgeIdentity
from memruler.judges.rubric import load_rubric
from memruler.stats.agreement import cohen_kappa, fleiss_kappa
from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.proportion import wilson
from memruler.studies.audit_csv import CASE_COLUMNS, CaseTable
from memruler.studies.audit_labels import (
    LABELS,
    SYNONYMS,
    BadLabelsError,
    majority,
    normalised,
)
from memruler.studies.audit_notes import notes_path, read_notes, write_notes
from memruler.studies.audit_read import read_audit
from memruler.studies.audit_record import AuditNotes
from memruler.studies.audit_share import justified_share

S, P, N = LABELS


@pytest.fixture
def cases(tmp_path):
    """Write a file: one row a case, each its labels and what differs of its columns."""

    def build(*rows, raters=("ann", "bo", "gpt"), extra=()):
        head = [*CASE_COLUMNS, *(f"label:{name}" for name in raters), *extra]
        made = []
        for at, (labels, *about) in enumerate(rows):
            cells = dict.fromkeys(CASE_COLUMNS, "x")
            cells |= {"case": f"c{at}", "pair": f"p{at}", "query": f"q{at}"}
            cells |= about[0] if about else {}
            given = dict(zip((f"label:{name}" for name in raters), labels, strict=True))
            made.append([(cells | given).get(name, "") for name in head])
        path = tmp_path / "cases.csv"
        table = CaseTable(head=head, rows=made, numbers=list(range(2, len(made) + 2)))
        path.write_bytes(table.encode())
        return path

    return build


def test_majority_and_shares_by_hand(cases):
    path = cases(
        ((S, S, P),),  # supports
        ((P, P, P),),  # partial
        ((S, P, N),),  # tie of three
        ((S, N, ""),),  # tie of two
        ((N, "", ""),),  # one voice
        (("", "", ""),),  # nobody
        ((N, N, S),),  # does not
    )
    found = read_audit(path)
    (whole,) = found.slices
    assert whole.majority == {S: 1, P: 1, N: 2}
    assert (whole.cases, whole.pairs, whole.queries) == (7, 7, 7)
    assert (whole.ties, whole.unlabelled) == (2, 1)
    assert (whole.supports.justified, whole.supports.of, whole.supports.value) == (1, 4, 0.25)
    assert (whole.supports_or_partial.justified, whole.supports_or_partial.value) == (2, 0.5)
    assert [(r.name, r.labelled, r.blank) for r in found.raters] == [
        ("ann", 6, 1),
        ("bo", 5, 2),
        ("gpt", 4, 3),
    ]
    assert found.raters[0].labels == {S: 3, P: 1, N: 2}
    # ann and bo: supports/supports, partial/partial, S/P, S/N, N/N agree on 3 of 5.
    pair = found.rater_pairs[0]
    assert (pair.first, pair.second, pair.pairs) == ("ann", "bo", 5)
    assert pair.agreement.value == pytest.approx(3 / 5)
    # Chance: ann S3 P1 N1, bo S1 P2 N2 of 5: (3*1 + 1*2 + 1*2) / 25 = 7/25.
    assert pair.kappa.value == pytest.approx(
        float((Fraction(3, 5) - Fraction(7, 25)) / Fraction(18, 25))
    )
    # Fleiss over the four cases with three labels: P = (1/3 + 1 + 0 + 1/3) / 4 = 5/12; the labels
    # S: 2+0+1+1 = 4, P: 1+3+1+0 = 5, N: 0+0+1+2 = 3 of 12, so P_e = (16 + 25 + 9) / 144.
    expected = Fraction(50, 144)
    assert found.fleiss.value == pytest.approx(float((Fraction(5, 12) - expected) / (1 - expected)))
    assert (found.fleiss.n, found.no_agreement) == (4, None)


def test_intervals_draw_whole_queries(cases):
    rows = [((S if at % 3 else N,), {"query": f"q{at // 4}"}) for at in range(40)]
    whole = read_audit(cases(*rows, raters=("ann",))).slices[0]
    values = [float(at % 3 != 0) for at in range(40)]
    queries = [at // 4 for at in range(40)]
    wanted = paired_bootstrap(values, queries)
    assert (whole.supports.low, whole.supports.high) == (wanted.low, wanted.high)
    assert (whole.supports.queries, whole.queries) == (10, 10)
    assert whole.supports.warnings == ("10 queries: below 30 a percentile interval is too narrow",)


def test_cases_and_pairs_are_told_apart(cases):
    rows = [
        ((S,), {"target": target, "pair": f"p{at}", "query": f"q{at // 2}"})
        for target in ("canonical", "source")
        for at in range(6)
    ]
    found = read_audit(cases(*rows, raters=("ann",)))
    assert [part.by for part in found.slices] == [{}, {"target": "canonical"}, {"target": "source"}]
    whole = found.slices[0]
    assert (whole.cases, whole.pairs, whole.queries) == (12, 6, 3)
    assert any("12 cases are 6 distinct pairs" in note for note in found.notes)
    # A query under two targets is one trial, not four.
    assert whole.supports.method == "wilson"
    assert (whole.supports.low, whole.supports.high) == wilson(3, 3)


def test_slices_by_what_varies(cases):
    rows = [
        ((S,), {"corpus": corpus, "category": category, "query": f"q{at}"})
        for corpus, category in (("a", "x"), ("a", "y"), ("b", "x"))
        for at in range(3)
    ]
    found = read_audit(cases(*rows, raters=("ann",)))
    assert [part.by for part in found.slices] == [
        {},
        {"corpus": "a"},
        {"corpus": "b"},
        {"category": "x"},
        {"category": "y"},
        {"corpus": "a", "category": "x"},
        {"corpus": "a", "category": "y"},
        {"corpus": "b", "category": "x"},
    ]
    # The same query id in two data sets is two queries.
    assert [part.queries for part in found.slices] == [6, 3, 3, 6, 3, 3, 3, 3]
    assert [part.cases for part in found.slices] == [9, 6, 3, 6, 3, 3, 3, 3]


def test_one_rater_and_one_query(cases):
    found = read_audit(cases(((S,), {"query": "q"}), ((N,), {"query": "q"}), raters=("ann",)))
    assert (found.agreement, found.fleiss, found.rater_pairs) == (None, None, ())
    assert found.no_agreement == "one rater labelled anything"
    share = found.slices[0].supports
    assert (share.value, share.low, share.no_interval) == (
        0.5,
        None,
        "one query: an interval needs two",
    )


def test_who_labelled_nothing_is_listed_and_agrees_with_nobody(cases):
    found = read_audit(cases(*[((S, "", P),), ((N, "", N),)]))
    assert [(rater.name, rater.labelled) for rater in found.raters] == [
        ("ann", 2),
        ("bo", 0),
        ("gpt", 2),
    ]
    assert [(pair.first, pair.second) for pair in found.rater_pairs] == [("ann", "gpt")]
    assert found.fleiss.n == 2


def test_too_little_for_agreement_says_why(cases):
    found = read_audit(cases(((S, ""),), (("", S),), (("", ""),), raters=("ann", "bo")))
    (pair,) = found.rater_pairs
    assert (pair.pairs, pair.agreement, pair.kappa) == (0, None, None)
    assert "0 items" in pair.reason
    assert "0 items" in found.no_agreement


def test_raters_who_always_say_the_same(cases):
    found = read_audit(cases(*[((S, S),)] * 5, raters=("ann", "bo")))
    (pair,) = found.rater_pairs
    assert pair.agreement.value == 1.0
    assert pair.kappa is not None
    assert pair.kappa.value is None
    assert "chance alone would agree" in pair.reason


def test_chosen_raters_alone_count(cases):
    path = cases(((S, N, N),), ((S, N, N),), ((S, N, N),))
    assert read_audit(path).slices[0].supports.value == 0.0
    found = read_audit(path, raters=["ann"])
    assert found.slices[0].supports.value == 1.0
    assert [rater.name for rater in found.raters] == ["ann"]
    with pytest.raises(UsageError, match="no column label:cy"):
        read_audit(path, raters=["cy"])


def test_no_label_at_all_is_refused(cases):
    with pytest.raises(Refusal, match="no case has a label"):
        read_audit(cases((("", "", ""),)))
    with pytest.raises(Refusal, match="no case has a label"):
        read_audit(cases(((),), raters=()))


def test_every_bad_label_is_told(cases):
    path = cases(
        ((S, "maybe", ""),),
        (("maybe", "maybe", ""),),
        ((S, "=1+1", "\x1b[2J"),),
        *[(("", "?", ""),)] * 10,
    )
    with pytest.raises(BadLabelsError, match="15 cells hold no label") as caught:
        read_audit(path)
    assert isinstance(caught.value, CorpusError)
    assert caught.value.exit_code == 2
    assert list(caught.value.lines()) == [
        "label:ann 'maybe': 1 time, in row 3",
        "label:bo 'maybe': 2 times, in rows 2, 3",
        "label:bo '=1+1': 1 time, in row 4",
        "label:bo '?': 10 times, in rows 5, 6, 7, 8, 9, 10, 11, 12 and 2 more",
        "label:gpt '\\x1b[2J': 1 time, in row 4",
    ]
    # Whose labels are not asked for does not matter.
    assert read_audit(cases(((S, "maybe"),), ((S, ""),), raters=("ann", "bo")), raters=["ann"])


def test_other_columns_are_named(cases):
    found = read_audit(cases(((S,),), raters=("ann",), extra=("remarks", "reason:gpt")))
    assert found.ignored == ("remarks",)


@pytest.mark.parametrize("label", LABELS)
def test_every_synonym(label):
    for word in (label, label.upper(), f"  {label.replace('_', ' ')} ", *SYNONYMS[label]):
        assert normalised(word) == label
    assert normalised(label.replace("_", "-")) == label


@pytest.mark.parametrize("cell", ["maybe", "1", "0", "true", "supports?", "none", "n/a", "x", "."])
def test_what_is_no_label(cell):
    with pytest.raises(KeyError):
        normalised(cell)


@pytest.mark.parametrize("cell", ["", "  ", "\n"])
def test_an_empty_cell_is_none(cell):
    assert normalised(cell) is None


@given(st.lists(st.sampled_from([*LABELS, None]), max_size=9))
def test_a_majority_is_more_than_half(given_labels):
    found = majority(given_labels)
    said = [label for label in given_labels if label]
    over = [label for label in LABELS if said.count(label) * 2 > len(said)]
    assert found == (over[0] if over else None)
    assert majority(given_labels[::-1]) == found


@settings(max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=40))
def test_a_share_is_inside_its_interval(cases):
    share = justified_share([one for one, _ in cases], [query for _, query in cases], "no note")
    assert share.of == len(cases)
    assert (share.low is None) == (share.no_interval is not None)
    if share.low is not None:
        assert 0 <= share.low <= share.value <= share.high <= 1


def test_no_decided_case_has_no_share():
    share = justified_share([], [], [])
    assert (share.value, share.no_interval) == (None, "no case is decided")


@settings(max_examples=20)
@given(st.lists(st.tuples(*[st.sampled_from(LABELS)] * 3), min_size=3, max_size=20))
def test_agreement_is_that_of_the_statistics_room(tmp_path_factory, labels):
    head = [*CASE_COLUMNS, "label:a", "label:b", "label:c"]
    rows = [
        [
            *(
                {"case": f"c{n}", "pair": f"p{n}", "query": f"q{n}"}.get(name, "x")
                for name in CASE_COLUMNS
            ),
            *given_labels,
        ]
        for n, given_labels in enumerate(labels)
    ]
    path = tmp_path_factory.mktemp("csv") / "cases.csv"
    path.write_bytes(CaseTable(head=head, rows=rows, numbers=[]).encode())
    found = read_audit(path)
    # Sums over clusters and over items round apart.
    alone = fleiss_kappa(labels, categories=LABELS, resamples=1000).value
    assert found.fleiss.value == pytest.approx(alone, abs=1e-12)
    first, second, _ = zip(*labels, strict=True)
    alone = cohen_kappa(first, second, categories=LABELS, resamples=1000).value
    assert found.rater_pairs[0].kappa.value == pytest.approx(alone, abs=1e-12)


def test_notes_are_kept_beside_the_file(cases):
    path = cases(((S,),), ((N,),), raters=("gpt",))
    assert "no note beside the file" in read_audit(path).notes[-1]
    identity = JudgeIdentity(
        kind="openai-chat",
        model="m",
        served="m-1",
        host="h",
        rubric="support",
        rubric_sha256="0",
        prompt_sha256="1",
        temperature=0.0,
        client="openai 3",
    )
    write_notes(path, AuditNotes(judges={"gpt": identity}))
    assert read_notes(path).judges == {"gpt": identity}
    assert read_audit(path).raters[0].judge == identity


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "cannot be read"), ("[]", "cannot be read"), ('{"schema_version": 2}', "version 2")],
)
def test_a_note_that_is_damaged(cases, text, message):
    path = cases(((S,),), raters=("ann",))
    notes_path(path).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_audit(path)


def test_it_is_json(cases):
    found = read_audit(cases(((S, P, N),), ((N, N, N),)))
    assert json.loads(msgspec.json.encode(found))["slices"][0]["ties"] == 1


def test_the_document_says_which_words_are_understood():
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    for label, words in SYNONYMS.items():
        listed = ", ".join(dict.fromkeys([label.replace("_", " "), *words]))
        assert f"| `{label}` | {listed} |" in page


def test_the_labels_are_those_of_the_rubric():
    assert load_rubric("support").labels == LABELS
