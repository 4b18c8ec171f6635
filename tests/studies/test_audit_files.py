import msgspec
import pytest

from memruler.errors import CorpusError, Refusal, UsageError
from memruler.judges.base import JudgeIdentity
from memruler.studies.audit_blind import blind_path, blind_tables
from memruler.studies.audit_csv import CASE_COLUMNS, SHOWN_COLUMNS, CaseTable, read_cases
from memruler.studies.audit_labels import BadLabelsError
from memruler.studies.audit_notes import write_notes
from memruler.studies.audit_read import read_audit
from memruler.studies.audit_record import AuditNotes

JUDGE = JudgeIdentity(
    kind="openai-chat",
    model="m",
    served=None,
    host="h",
    rubric="support",
    rubric_sha256="0",
    prompt_sha256="1",
    temperature=0.0,
    client="openai 3",
)


@pytest.fixture
def cases(tmp_path):
    """Write a file of cases: each row what differs of its columns."""

    def build(name, *rows, raters=()):
        head = [*CASE_COLUMNS, *(f"label:{rater}" for rater in raters)]
        made = []
        for at, about in enumerate(rows):
            cells = dict.fromkeys(CASE_COLUMNS, "x")
            cells |= {"case": f"{name}-{at}", "pair": f"{name}-p{at}", "query": f"q{at}"} | about
            made.append([cells.get(column, "") for column in head])
        path = tmp_path / f"{name}.csv"
        table = CaseTable(head=head, rows=made, numbers=list(range(2, len(made) + 2)))
        path.write_bytes(table.encode())
        return path

    return build


@pytest.fixture
def sheet():
    """Write the file of a blind rater, with what it says of each case."""

    def build(path, rater, said, seed=7):
        table = blind_tables(read_cases(path), [rater], seed)[rater]
        for row in table.rows:
            row[-1] = said.get(row[0], "")
        own = blind_path(path, rater)
        own.write_bytes(table.encode())
        return own

    return build


def test_a_blind_rater_sees_the_texts_alone(cases):
    path = cases("a", *[{"item": f"i{at}", "kind": "fact", "rank": "3"} for at in range(20)])
    tables = blind_tables(read_cases(path), ["ann", "bo"], 7)
    assert {tuple(one.head) for one in tables.values()} == {
        (*SHOWN_COLUMNS, "label:ann"),
        (*SHOWN_COLUMNS, "label:bo"),
    }
    orders = [one.column("case") for one in tables.values()]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(f"a-{at}" for at in range(20))
    assert orders[0] != orders[1] != sorted(orders[1])
    again = blind_tables(read_cases(path), ["ann"], 7)["ann"]
    assert again.encode() == tables["ann"].encode()
    assert blind_tables(read_cases(path), ["ann"], 8)["ann"].column("case") != orders[0]


def test_a_pair_under_two_targets_is_shown_once_and_counts_for_both(cases, sheet):
    rows = [{"pair": f"p{at}", "target": t} for t in ("source", "canonical") for at in range(3)]
    path = cases("a", *rows)
    own = sheet(path, "ann", {"a-0": "yes", "a-1": "no", "a-2": "partial"})
    assert len(read_cases(own, SHOWN_COLUMNS).rows) == 3
    found = read_audit(path, own)
    by_target = [part.majority for part in found.slices[1:]]
    assert by_target == [{"supports": 1, "partial": 1, "does_not_support": 1}] * 2
    assert found.slices[0].supports.of == 3
    assert found.raters[0].labelled == 6


def test_blind_labels_count_as_any(cases, sheet):
    path = cases("a", {"label:bo": "no"}, {"label:bo": "yes"}, {}, raters=("bo",))
    ann = sheet(path, "ann", {"a-0": "no", "a-1": "partial"})
    gpt = sheet(path, "gpt", {"a-1": "yes"})
    write_notes(gpt, AuditNotes(judges={"gpt": JUDGE}))
    for order in ((path, ann, gpt), (gpt, ann, path)):
        found = read_audit(*order)
        told = {rater.name: (rater.labelled, rater.blind) for rater in found.raters}
        assert told == {"bo": (2, False), "ann": (2, True), "gpt": (1, True)}
        assert found.slices[0].majority == {"supports": 1, "partial": 0, "does_not_support": 1}
        assert {rater.name: rater.judge for rater in found.raters}["gpt"] == JUDGE
    assert found.files == ("a.gpt.csv", "a.ann.csv", "a.csv")
    assert [rater.name for rater in read_audit(path, ann, raters=["ann"]).raters] == ["ann"]


def test_who_wrote_in_both_files_is_not_blind(cases, sheet):
    path = cases("a", {"label:ann": "yes"}, {}, raters=("ann",))
    (ann,) = read_audit(path, sheet(path, "ann", {"a-0": "yes", "a-1": "no"})).raters
    assert (ann.labelled, ann.blind) == (2, False)
    with pytest.raises(CorpusError, match="says partial here and supports in another") as caught:
        read_audit(path, sheet(path, "ann", {"a-0": "partial"}))
    assert "a.ann.csv, row" in str(caught.value)


def test_a_file_of_texts_alone_does_not_say_what_its_cases_are(cases, sheet):
    own = sheet(cases("a", {}), "ann", {"a-0": "yes"})
    with pytest.raises(UsageError, match="not which target or query"):
        read_audit(own)


def test_a_file_that_belongs_to_another(cases, sheet):
    first, other = cases("a", {}, {}), cases("b", {}, {})
    own = sheet(first, "ann", {"a-0": "yes"})
    with pytest.raises(CorpusError, match="2 of 2 cases are in no file of cases"):
        read_audit(other, own)


def test_labels_of_blind_raters_are_checked_with_their_own_rows(cases, sheet):
    path = cases("a", {}, {})
    own = sheet(path, "ann", {"a-1": "maybe"})
    row = read_cases(own, SHOWN_COLUMNS).column("case").index("a-1") + 2
    with pytest.raises(BadLabelsError) as caught:
        read_audit(path, own)
    assert list(caught.value.lines()) == [f"label:ann 'maybe': 1 time, in row {row}"]
    assert "a.ann.csv" in str(caught.value)


def test_data_sets_are_read_as_one(cases):
    first = cases("a", {"corpus": "one", "label:ann": "yes"}, raters=("ann",))
    second = cases("b", {"corpus": "two", "label:bo": "no"}, {"corpus": "two"}, raters=("bo",))
    found = read_audit(first, second)
    assert [part.by for part in found.slices] == [{}, {"corpus": "one"}, {"corpus": "two"}]
    assert [part.pairs for part in found.slices] == [3, 1, 2]
    assert [rater.blank for rater in found.raters] == [2, 2]
    # One query id in two data sets is two queries.
    assert found.slices[0].queries == 3
    assert found.notes[-1].startswith("how the cases of a.csv, b.csv were drawn is not known")


def test_two_runs_of_one_data_set_are_slices(cases):
    first = cases("a", {"run": "r1", "label:ann": "yes"}, raters=("ann",))
    second = cases("b", {"run": "r2", "label:ann": "no"}, raters=("ann",))
    found = read_audit(first, second)
    assert [part.by for part in found.slices] == [{}, {"run": "r1"}, {"run": "r2"}]
    assert "run" not in found.same
    assert found.same["corpus"] == "x"


def test_a_case_in_two_files(cases, tmp_path):
    path = cases("a", {"label:ann": "yes"}, raters=("ann",))
    copy = tmp_path / "copy.csv"
    copy.write_bytes(path.read_bytes())
    with pytest.raises(CorpusError, match=r"1 cases are in .*a\.csv too"):
        read_audit(path, copy)
    with pytest.raises(UsageError, match="named twice"):
        read_audit(path, path)


def test_two_instruments_under_one_name(cases):
    paths = [cases(name, {"label:gpt": "yes"}, raters=("gpt",)) for name in "ab"]
    write_notes(paths[0], AuditNotes(judges={"gpt": JUDGE}))
    write_notes(paths[1], AuditNotes(judges={"gpt": msgspec.structs.replace(JUDGE, served="m-2")}))
    assert read_audit(*paths).raters[0].judge == JUDGE
    other = msgspec.structs.replace(JUDGE, model="other")
    write_notes(paths[1], AuditNotes(judges={"gpt": other}))
    with pytest.raises(CorpusError, match="model m and now other"):
        read_audit(*paths)


def test_who_says_two_things_of_one_pair_has_no_label_of_it(cases):
    rows = [
        {"pair": "p", "query": "q", "target": "source", "label:ann": "yes"},
        {"pair": "p", "query": "q", "target": "canonical", "label:ann": "no"},
        {"label:ann": "yes"},
    ]
    found = read_audit(cases("a", *rows, raters=("ann",)))
    assert (found.raters[0].labelled, found.raters[0].apart) == (3, 1)
    whole = found.slices[0]
    assert (whole.cases, whole.pairs, whole.unlabelled, whole.supports.of) == (3, 2, 1, 1)


def test_agreement_counts_a_pair_once(cases):
    rows = [{"pair": f"p{at}", "query": f"q{at}", "target": t} for t in "ab" for at in range(4)]
    said = ["yes", "yes", "no", "partial"] * 2
    other = ["yes", "no", "no", "partial"] * 2
    for row, one, two in zip(rows, said, other, strict=True):
        row |= {"label:ann": one, "label:bo": two}
    (pair,) = read_audit(cases("a", *rows, raters=("ann", "bo"))).rater_pairs
    assert (pair.pairs, pair.agreement.n, pair.agreement.value) == (4, 4, 0.75)


def test_files_without_the_newer_columns_are_read(cases, tmp_path):
    path = cases("a", {"label:ann": "yes"}, {"label:ann": "no"}, raters=("ann",))
    table = read_cases(path)
    kept = [at for at, name in enumerate(table.head) if name not in ("gains", "run")]
    rows = [[row[at] for at in kept] for row in table.rows]
    older = CaseTable(head=[table.head[at] for at in kept], rows=rows, numbers=table.numbers)
    (tmp_path / "old.csv").write_bytes(older.encode())
    found = read_audit(tmp_path / "old.csv")
    assert found.slices[0].supports.value == 0.5
    assert "gains" not in found.same


def test_a_key_without_labels_hints_at_the_raters_files(cases):
    with pytest.raises(Refusal, match="blind raters"):
        read_audit(cases("a", {}))
