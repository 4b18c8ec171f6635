import threading

import filelock
import msgspec
import pytest

from memruler.errors import CorpusError, InstrumentError, UsageError
from memruler.judges.base import Judged, JudgeIdentity
from memruler.judges.rubric import load_rubric
from memruler.studies import audit_judge
from memruler.studies.audit_csv import CASE_COLUMNS, CaseTable, read_cases
from memruler.studies.audit_judge import judge_cases, served_before
from memruler.studies.audit_notes import notes_path, read_notes
from memruler.studies.audit_read import read_audit

RUBRIC = load_rubric("support")
IDENTITY = JudgeIdentity(
    kind="scripted",
    model="m",
    served="m-1",
    host="here",
    rubric="support",
    rubric_sha256="0",
    prompt_sha256="1",
    temperature=0.0,
    client="none",
)


class Scripted:
    def __init__(self, say=lambda _: "supports", **changes):
        self.say = say
        self.asked = []
        self.changes = changes
        self.lock = threading.Lock()

    def identity(self):
        return msgspec.structs.replace(IDENTITY, **self.changes)

    def label(self, case):
        with self.lock:
            self.asked.append(case)
        said = self.say(case["item"])
        return said if isinstance(said, Judged) else Judged(label=said, reply=said)


@pytest.fixture
def cases(tmp_path):
    def build(*items, **options):
        rows = [
            [{"case": f"c{n}", "item": item}.get(name, f"{name} {n}") for name in CASE_COLUMNS]
            for n, item in enumerate(items)
        ]
        path = tmp_path / "cases.csv"
        table = CaseTable(head=list(CASE_COLUMNS), rows=rows, numbers=[], **options)
        path.write_bytes(table.encode())
        return path

    return build


def judge(path, scripted, name="gpt", **options):
    return judge_cases(path, scripted, RUBRIC, name, **options)


def labels(path, name="gpt"):
    return read_cases(path).column(f"label:{name}")


def test_it_fills_its_column_and_is_noted(cases):
    path = cases("a", "b", "=c")
    judged = Scripted({"a": "supports", "b": "partial", "=c": "does_not_support"}.get)
    done = judge(path, judged)
    assert (done.there, done.labelled, done.unlabelled) == (0, 3, {})
    assert labels(path) == ["supports", "partial", "does_not_support"]
    assert read_notes(path).judges == {"gpt": IDENTITY}
    assert {tuple(case) for case in judged.asked} == {RUBRIC.fields}
    assert read_audit(path).raters[0].labels == dict.fromkeys(RUBRIC.labels, 1)


def test_filled_cells_stay_and_only_the_others_are_asked(cases):
    path = cases("a", "b")
    judge(path, Scripted(lambda item: "partial" if item == "a" else Judged(label=None, reason="x")))
    assert labels(path) == ["partial", ""]
    again = Scripted()
    done = judge(path, again)
    assert [case["item"] for case in again.asked] == ["b"]
    assert (done.there, done.labelled) == (1, 1)
    assert labels(path) == ["partial", "supports"]
    assert read_cases(path).column("reason:gpt") == ["", ""]


def test_a_case_without_a_label_says_why(cases):
    path = cases("a", "b", "c")
    silent = Judged(label=None, reason="the reply does not begin with a label", reply="=1\x1b[2J")
    done = judge(path, Scripted(lambda item: silent if item != "c" else "supports"))
    assert done.unlabelled == {"the reply does not begin with a label": 2}
    said = "the reply does not begin with a label: =1\\x1b[2J"
    assert read_cases(path).column("reason:gpt") == [said, said, ""]


def test_an_item_without_text_is_not_asked(cases):
    path = cases("", " ", "c")
    judged = Scripted()
    done = judge(path, judged)
    assert len(judged.asked) == 1
    assert done.unlabelled == {"the text of the item is not known": 2}


def test_what_was_labelled_before_an_error_is_kept(cases):
    path = cases(*"abcdef")

    def say(item):
        if item == "d":
            raise InstrumentError("the server is gone")
        return "supports"

    with pytest.raises(InstrumentError, match="gone"):
        judge(path, Scripted(say), at_a_time=1)
    assert labels(path) == ["supports"] * 3 + [""] * 3
    done = judge(path, Scripted())
    assert (done.there, done.labelled) == (3, 3)


def test_a_person_stops_it(cases):
    path = cases(*"abc")

    def tick(done, _):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge(path, Scripted(), at_a_time=1, tick=tick)
    assert sorted(labels(path)) == ["", "supports", "supports"]


def test_it_saves_on_the_way(cases, monkeypatch):
    monkeypatch.setattr(audit_judge, "_SAVE_EVERY_SECONDS", 0.0)
    path = cases(*"abc")
    seen = []

    def say(_):
        seen.append(path.read_bytes().count(b",partial,"))
        return "partial"

    judge(path, Scripted(say), at_a_time=1)
    assert labels(path) == ["partial"] * 3
    assert seen[0] == 0


def test_what_others_wrote_in_the_meantime_stays(cases):
    path = cases("a", "b")

    def say(item):
        if item == "b":
            table = read_cases(path)
            table.add("label:ann")
            table.rows[0][-1] = "no"
            table.rows.reverse()
            path.write_bytes(table.encode())
        return "supports"

    judge(path, Scripted(say), at_a_time=1)
    assert (labels(path, "ann"), labels(path)) == (["", "no"], ["supports"] * 2)


def test_two_judges_at_once(cases):
    path = cases(*map(str, range(40)))
    errors = []

    def work(name):
        try:
            judge(path, Scripted(lambda _: "partial"), name)
        except Exception as error:  # noqa: BLE001 - told below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(f"j{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert all(labels(path, f"j{n}") == ["partial"] * 40 for n in range(4))
    assert set(read_notes(path).judges) == {f"j{n}" for n in range(4)}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("bom", [False, True])
def test_the_file_stays_as_a_spreadsheet_wrote_it(cases, delimiter, bom):
    path = cases("a", delimiter=delimiter, bom=bom)
    judge(path, Scripted())
    found = read_cases(path)
    assert (found.delimiter, found.bom) == (delimiter, bom)


@pytest.mark.parametrize(
    "changes",
    [{"model": "n"}, {"host": "there"}, {"prompt_sha256": "2"}, {"temperature": None}],
    ids=str,
)
def test_another_judge_does_not_fill_the_same_column(cases, changes):
    path = cases("a", "b")
    judge(path, Scripted(lambda item: "partial" if item == "a" else Judged(label=None, reason="x")))
    before = path.read_bytes()
    (key,) = changes
    with pytest.raises(UsageError, match=f"another judge: {key}"):
        judge(path, Scripted(**changes))
    assert path.read_bytes() == before
    judge(path, Scripted(**changes), "other")


def test_an_upgraded_client_goes_on(cases):
    path = cases("a", "b")
    judge(path, Scripted(lambda item: "partial" if item == "a" else Judged(label=None, reason="x")))
    assert judge(path, Scripted(client="newer", served=None)).labelled == 1


def test_the_column_of_a_person_is_left_alone(cases):
    path = cases("a", "b")
    table = read_cases(path)
    table.add("label:ann")
    path.write_bytes(table.encode())
    assert judge(path, Scripted(), "ann").labelled == 2  # nobody wrote in it yet
    notes_path(path).unlink()
    with pytest.raises(UsageError, match="no judge is noted"):
        judge(path, Scripted(), "ann")


def test_which_model_answered_before(cases):
    path = cases("a", "b")
    assert served_before(path, "gpt") is None
    judge(path, Scripted(lambda item: "partial" if item == "a" else Judged(label=None, reason="x")))
    assert served_before(path, "gpt") == "m-1"
    table = read_cases(path)
    for row in table.rows:
        row[table.at("label:gpt")] = ""
    path.write_bytes(table.encode())
    assert served_before(path, "gpt") is None


def test_a_server_that_refuses_every_case(cases):
    path = cases("a", "b")
    refused = Judged(label=None, reason="refused: no such model")
    with pytest.raises(InstrumentError, match="answered none of 2 cases: refused: no such model"):
        judge(path, Scripted(lambda _: refused))


def test_nothing_left_to_do(cases):
    path = cases("a")
    judge(path, Scripted())
    before = path.read_bytes()
    judged = Scripted()
    assert judge(path, judged).there == 1
    assert (judged.asked, path.read_bytes()) == ([], before)


def test_it_tells_how_far_it_is(cases):
    seen = []
    judge(cases(*"abc"), Scripted(), tick=lambda *told: seen.append(told), at_a_time=1)
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("name", ["", "a b", "=1"])
def test_a_name_that_is_none(cases, name):
    with pytest.raises(UsageError, match="no name of a rater"):
        judge(cases("a"), Scripted(), name)


def test_a_file_without_the_texts(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("case,question\r\nc0,Who?\r\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="lacks answer, evidence, item"):
        judge(path, Scripted())


def test_a_link_is_not_replaced(cases, tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to(cases("a"))
    with pytest.raises(UsageError, match="symbolic link"):
        judge(link, Scripted())
    assert link.is_symlink()


def test_a_file_that_somebody_holds(cases, monkeypatch):
    monkeypatch.setattr(audit_judge, "_LOCK_SECONDS", 0.05)
    path = cases("a")
    with (
        filelock.FileLock(path.with_name("cases.csv.lock")),
        pytest.raises(UsageError, match="another process is writing"),
    ):
        judge(path, Scripted())
