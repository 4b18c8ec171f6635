"""Folders of answers: who answered, what counts, and what is never overwritten."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from memruler.errors import FormatError, InstrumentError, SystemUnderTestError, UsageError
from memruler.judges.readers.base import ReaderReply
from memruler.judges.readers.extractive import ExtractiveReader
from memruler.model.corpus import TurnRef
from memruler.model.system import Hit, MemoryItem, Ranking, SystemIdentity
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.scoring.answer_load import answers_of, choose_answers, load_items
from memruler.scoring.answer_sources import OwnAnswers, answer_run
from memruler.scoring.answering import write_answers
from memruler.store.answers import ANSWERS, answers_path, read_answers_manifest
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table


def table(run, name):
    return read_table(RunFolder(answers_path(run.path, name)), ANSWERS).to_pylist()


def content(run, name):
    return (answers_path(run.path, name) / "answers.parquet").read_bytes()


def test_every_query_has_its_answer_in_order(sealed_run, scripted_reader):
    run, reader, told = sealed_run(), scripted_reader(), []
    made = answer_run(run, reader, name="a", k=2, at_a_time=3, tick=lambda *done: told.append(done))
    rows = table(run, "a")
    assert [row["text"] for row in rows] == ["WORD0", "WORD1", "WORD2"] * 2
    assert [(row["instance"], row["query"]) for row in rows] == [
        (i, q) for i in (0, 1) for q in range(3)
    ]
    assert [len(row["items"]) for row in rows] == [2] * 6
    assert rows[0]["context_chars"] == 2 * len("ann: filler0 word0")
    assert made.counts == {"queries": 6, "answered": 6, "empty": 0, "failed": 0}
    assert (made.k, made.repeats, made.run) == (2, 1, "r")
    assert made.reader.settings == {"seed": 1, "k": 2, "context_chars": None}
    assert made.reader.served == "m-2026"
    assert (made.usage.requests, made.usage_total.cost) == (6, 0.5)
    assert told[-1] == (6, 6)
    assert read_answers_manifest(run, "a") == made
    assert answers_of(run) == ("a",)


def test_empty_failed_and_cut_answers_are_three_things(sealed_run, scripted_reader):
    reader = scripted_reader()
    said = {
        "word0": "",
        "word1": ReaderReply(text=None, error="refused: long"),
        "word2": ReaderReply(text="x", finish="length"),
    }
    reader.say = lambda question, _: said[question.question]
    run = sealed_run()
    made = answer_run(run, reader, name="a", k=2)
    assert made.counts == {"queries": 6, "answered": 2, "empty": 2, "failed": 2}
    assert "2 replies ended at the limit of tokens" in made.warnings
    items = list(load_items(run, "a"))
    assert [item.response for item in items[:3]] == ["", None, "x"]
    assert [item.error for item in items[:3]] == [None, "refused: long", None]


def test_repeats_are_rows_of_their_own(sealed_run, scripted_reader):
    reader = scripted_reader()
    reader.say = lambda question, repeat: f"{question.question} {repeat}"
    run = sealed_run()
    made = answer_run(run, reader, name="a", k=2, repeats=3, at_a_time=4)
    assert made.counts["queries"] == 6
    assert made.counts["answered"] == 18
    assert [row["text"] for row in table(run, "a")][:4] == [
        "word0 0",
        "word0 1",
        "word0 2",
        "word1 0",
    ]
    assert [(item.query, item.repeat) for item in load_items(run, "a")][2:5] == [
        (0, 2),
        (1, 0),
        (1, 1),
    ]
    with pytest.raises(UsageError, match="says the same each time"):
        answer_run(run, ExtractiveReader(), name="b", k=2, repeats=2)


def test_many_more_than_are_under_way_at_once(sealed_run, make_instance, scripted_reader):
    instances = [make_instance(n, sessions=3, queries=3) for n in range(200)]
    run, reader = sealed_run(instances, one_by_one=True), scripted_reader()
    made = answer_run(run, reader, name="a", k=1, repeats=2, at_a_time=8)
    assert made.counts["answered"] == 1200
    keys = [(row["instance"], row["query"], row["repeat"]) for row in table(run, "a")]
    assert keys == sorted(keys)
    assert len(set(keys)) == 1200


def test_the_same_replies_give_the_same_bytes_and_nothing_is_touched(sealed_run, scripted_reader):
    run = sealed_run()
    answer_run(run, scripted_reader(), name="a", k=2)
    before = {p.name: p.read_bytes() for p in answers_path(run.path, "a").iterdir()}
    answer_run(run, scripted_reader(), name="a", k=2, at_a_time=1)
    assert {p.name: p.read_bytes() for p in answers_path(run.path, "a").iterdir()} == before
    answer_run(run, scripted_reader(), name="b", k=2)
    assert content(run, "a") == content(run, "b")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"k": 3}, "k 2 there, 3 now"),
        ({"context_chars": 9}, "context_chars none there, 9 now"),
        ({"model": "n"}, "another model"),
    ],
)
def test_answers_of_another_reader_are_not_overwritten(sealed_run, scripted_reader, other, said):
    run = sealed_run()
    answer_run(run, scripted_reader(), name="a", k=2)
    before = content(run, "a")
    reader = scripted_reader(model=other.pop("model", "m"))
    with pytest.raises(UsageError, match=f"{said}.*choose another --name"):
        answer_run(run, reader, name="a", **{"k": 2, **other})
    assert not reader.seen
    assert content(run, "a") == before
    answer_run(run, reader, name="b", **{"k": 2, **other})


def test_a_server_that_serves_another_model_by_now_changes_nothing(sealed_run, scripted_reader):
    run = sealed_run()
    answer_run(run, scripted_reader(), name="a", k=2)
    before, reader = content(run, "a"), scripted_reader()
    reader.serves = "m-2027"
    with pytest.raises(UsageError, match="another served"):
        answer_run(run, reader, name="a", k=2)
    assert content(run, "a") == before


def test_a_reader_that_breaks_leaves_nothing_half_written(sealed_run, scripted_reader):
    run, reader = sealed_run(), scripted_reader()

    def say(question, _):
        if question.question == "word2":
            raise InstrumentError("down")
        return "x"

    reader.say = say
    with pytest.raises(InstrumentError, match="down"):
        answer_run(run, reader, name="a", k=2)
    assert not (run.path / ANSWERS).exists()
    answer_run(run, scripted_reader(), name="a", k=2)
    before = content(run, "a")
    with pytest.raises(InstrumentError, match="down"):
        answer_run(run, reader, name="a", k=2)
    assert content(run, "a") == before
    assert list(load_items(run, "a"))


def test_a_server_that_refuses_all_is_what_is_wrong(sealed_run, scripted_reader):
    run, reader = sealed_run(), scripted_reader()
    reader.say = lambda *_: ReaderReply(text=None, error="refused: no such model")
    with pytest.raises(InstrumentError, match="none of the first 6 questions: refused: no such"):
        answer_run(run, reader, name="a", k=2)
    assert answers_of(run) == ()


def test_a_memory_whose_searches_all_failed_is_no_fault_of_the_reader(
    sealed_run, scripted_reader, word_system, make_instance
):
    def fail(_):
        raise SystemUnderTestError("down")

    word_system.on_search = fail
    run = sealed_run([make_instance(n, queries=1) for n in (0, 1)])
    made = answer_run(run, scripted_reader(), name="a", k=2)
    assert made.counts == {"queries": 2, "answered": 0, "empty": 0, "failed": 2}
    assert next(load_items(run, "a")).error == "the search failed: down"


def test_a_run_measured_anew_under_its_answers_is_noticed(
    sealed_run, scripted_reader, make_instance
):
    run = sealed_run()
    answer_run(run, scripted_reader(), name="a", k=2)
    other = sealed_run([make_instance(5)], stem="other")
    for name in ("queries.parquet", "lineage.parquet", "trace.parquet", "manifest.json"):
        (run.path / name).write_bytes((other.path / name).read_bytes())
    with pytest.raises(FormatError, match="measured anew"):
        list(load_items(RunFolder.open(run.path), "a"))


def test_tables_of_another_run_are_not_answered(sealed_run, scripted_reader, make_instance):
    run = sealed_run()
    other = sealed_run([make_instance(5)], stem="other")
    (run.path / "trace.parquet").write_bytes((other.path / "trace.parquet").read_bytes())
    with pytest.raises(FormatError, match="not the table that this run sealed"):
        answer_run(run, scripted_reader(), name="a", k=2)


def test_a_changed_table_of_answers_is_noticed(sealed_run, scripted_reader):
    run = sealed_run()
    answer_run(run, scripted_reader(), name="a", k=2)
    answer_run(run, scripted_reader(), name="b", k=3)
    (answers_path(run.path, "a") / "answers.parquet").write_bytes(content(run, "b"))
    with pytest.raises(FormatError, match="finished with"):
        list(load_items(run, "a"))


def test_texts_without_dates_are_said(sealed_run, scripted_reader):
    made = answer_run(sealed_run(), scripted_reader(), name="a", k=2)
    assert any("text.date=true" in warning for warning in made.warnings)


class Mine:
    """Answers by `say`, and exports what it was told."""

    def __init__(self, say):
        self.say, self.items = say, []

    def identity(self):
        return SystemIdentity(name="mine", version="2", digest="d" * 64, settings={"a": 1})

    def open(self, _):
        self.items = []
        return self

    def ingest(self, session):
        self.items += session.turns

    def settle(self):
        pass

    def search(self, text, k, at):
        del text, at
        return Ranking(tuple(Hit(item=t.key, sources=(t.key,)) for t in self.items[:k]))

    def lineage(self):
        return [
            MemoryItem(id=t.key, kind="turn", sources=(t.key,), text=t.text) for t in self.items
        ]

    def answer(self, text, at):
        del at
        return self.say(text)

    def close(self):
        pass


def test_a_memory_answers_itself(sealed_run):
    def say(text):
        if text == "word1":
            raise SystemUnderTestError("no credit")
        return None if text == "word2" else "May"

    run = sealed_run(system=Mine(say), answers=True)
    made = write_answers(run, OwnAnswers(run.manifest()), "system")
    assert made.counts == {"queries": 6, "answered": 2, "empty": 0, "failed": 4}
    assert (made.reader.kind, made.k) == ("system", None)
    assert made.reader.prompt_sha256 == "d" * 64
    items = list(load_items(run, "system"))
    assert [item.response for item in items[:3]] == ["May", None, None]
    assert [item.error for item in items[:3]] == [None, "no credit", "the system said nothing"]
    assert not made.warnings


def test_a_memory_that_was_not_asked_has_no_answers(sealed_run):
    with pytest.raises(UsageError, match=r"did not ask.*--answers"):
        OwnAnswers(sealed_run(system=Mine(str)).manifest())


def test_a_grader_is_shown_the_query_with_its_gold(sealed_run, make_instance, scripted_reader):
    one = make_instance(0, sessions=3)
    gold = one.queries[1].evidence[0]
    several = msgspec.structs.replace(
        gold, turns=(TurnRef(2, 0), TurnRef(0, 0), TurnRef(2, 9)), sessions=(0, 2)
    )
    told = msgspec.structs.replace(
        one.queries[1],
        answer="7",
        answer_raw={"n": 7},
        answerable=False,
        family="f",
        id="q-1",
        evidence=(several,),
    )
    one = msgspec.structs.replace(one, queries=(one.queries[0], told, one.queries[2]))
    run = sealed_run([one], system=Mine(str))
    answer_run(run, scripted_reader(), name="a", k=2)
    items = list(load_items(run, "a"))
    assert (items[1].id, items[1].instance_key, items[1].category) == ("q-1", "inst-0", "odd")
    assert (items[1].gold, items[1].gold_raw, items[1].answerable) == ("7", {"n": 7}, False)
    assert (items[1].family, items[1].question, items[1].response) == ("f", "word1", "WORD1")
    assert items[1].evidence == several.turns
    # In order of time, and what the store does not hold last.
    assert items[1].evidence_texts == ("Ann: word0 filler0", "Ann: word2 filler0", None)
    assert items[0].evidence_texts == ("Ann: word0 filler0",)


def test_without_an_exported_lineage_the_order_of_evidence_is_not_known(
    sealed_run, scripted_reader
):
    run = sealed_run()
    answer_run(run, scripted_reader(), name="a", k=2)
    assert {item.evidence_texts for item in load_items(run, "a")} == {()}


def test_which_answers_are_meant(sealed_run, scripted_reader):
    run = sealed_run()
    with pytest.raises(UsageError, match=r"no answers yet.*memruler answer RUN"):
        choose_answers(run, None)
    answer_run(run, scripted_reader(), name="a", k=2)
    assert choose_answers(run, None) == choose_answers(run, "a") == "a"
    with pytest.raises(UsageError, match=r"no answers x.*it has a"):
        choose_answers(run, "x")
    answer_run(run, scripted_reader(), name="b", k=2)
    with pytest.raises(UsageError, match="name one of a, b"):
        choose_answers(run, None)


CHILD = """
import sys
from pathlib import Path
from memruler.judges.readers.extractive import ExtractiveReader
from memruler.scoring.answer_sources import answer_run
from memruler.store.folder import RunFolder
answer_run(RunFolder.open(Path(sys.argv[1])), ExtractiveReader(), name=sys.argv[2], k=10)
"""


def test_all_of_locomo_is_read_alike_in_every_process(tmp_path, locomo_path):
    spec = PlanSpec(
        corpus="locomo", path=str(locomo_path), assignments=("text.date=true",), settings={}
    )
    with RunFolder.claim(tmp_path, "r") as folder:
        measure(plan_run(spec), folder, lambda *_: None)
    digests = set()
    for seed in ("0", "99"):
        subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path / "r"), f"e{seed}"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        path = Path(tmp_path / "r" / "answers" / f"e{seed}" / "answers.parquet")
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(digests) == 1
    items = list(load_items(RunFolder.open(tmp_path / "r"), "e0"))
    assert len(items) == 1986
    assert sum(item.response is not None for item in items) == 1986
    assert len({item.response for item in items}) > 1000
