"""What a reader is shown: the texts of the hits in order of rank, and what is left out."""

from datetime import datetime

import msgspec
import pytest

from memruler.errors import FormatError, SystemUnderTestError, UsageError
from memruler.model.system import Hit, Ranking, SystemIdentity
from memruler.scoring import answer_context, answer_lineage
from memruler.scoring.answer_context import asked, require_depth
from memruler.store.folder import RunFolder
from memruler.store.tables import batches, read_table, write_table


class Texts:
    """Returns the same hits to every query."""

    def __init__(self, texts):
        self.texts = texts

    def identity(self):
        return SystemIdentity(name="texts", version="1", digest="d" * 64)

    def open(self, _):
        return self

    def ingest(self, session):
        self.first = session.turns[0].key

    def settle(self):
        pass

    def search(self, text, k, at):
        del at
        if text == "word1" and self.texts == "fail":
            raise SystemUnderTestError("down")
        hits = [
            Hit(item=f"i{n}", text=said, sources=(self.first,))
            for n, said in enumerate([] if self.texts == "fail" else self.texts)
        ]
        return Ranking(tuple(hits[:k]))

    def close(self):
        pass


def test_hits_become_texts_in_order_of_rank(sealed_run):
    run = sealed_run()
    found = list(asked(run, 2))
    assert [(one.instance, one.query) for one in found] == [
        (i, q) for i in (0, 1) for q in range(3)
    ]
    first = found[4]
    assert first.question.question == "word1"
    assert first.question.context == ("ann: filler1 word1", "ann: filler1 word0")
    assert first.question.asked == datetime(2023, 5, 4)
    lineage = read_table(run, "lineage").to_pylist()
    assert [lineage[row]["text"] for row in first.items] == list(first.question.context)
    assert {lineage[row]["instance"] for row in first.items} == {1}
    assert (first.error, first.textless, first.left_out) == (None, 0, 0)


@pytest.mark.parametrize(
    ("limit", "shown", "left_out"),
    [(None, 3, 0), (9, 3, 0), (8, 2, 1), (6, 2, 1), (5, 1, 2), (2, 0, 3)],
)
def test_the_context_ends_before_the_first_hit_that_does_not_fit(
    sealed_run, limit, shown, left_out
):
    """No text is cut, and nothing worse takes the place of one that is too long."""
    run = sealed_run(system=Texts(["aaa", "bbb", "ccc"]))
    one = next(asked(run, 5, limit))
    assert one.question.context == ("aaa", "bbb", "ccc")[:shown]
    assert (one.left_out, len(one.items)) == (left_out, shown)


def test_a_hit_without_a_text_is_counted(sealed_run):
    run = sealed_run(system=Texts(["aaa", None, "ccc"]))
    one = next(asked(run, 5))
    assert one.question.context == ("aaa", "ccc")
    assert (one.textless, one.left_out) == (1, 0)
    assert one.items == (0, 2)


def test_without_any_text_nobody_can_be_asked(sealed_run):
    one = next(asked(sealed_run(system=Texts([None, None])), 5))
    assert one.question is None
    assert (one.error, one.textless) == ("the system does not tell the text of any hit", 2)


def test_without_any_hit_the_reader_is_asked_with_nothing(sealed_run):
    one = next(asked(sealed_run(system=Texts("fail")), 5))
    assert one.question.context == ()
    assert one.error is None


def test_a_failed_search_is_no_empty_context(sealed_run):
    found = list(asked(sealed_run(system=Texts("fail")), 5))
    assert [one.error for one in found[:3]] == [None, "the search failed: down", None]
    assert found[1].question is None


def test_no_deeper_than_the_run(sealed_run):
    manifest = sealed_run(limit=3).manifest()
    require_depth(manifest, 3)
    with pytest.raises(UsageError, match=r"asked for 4 hits, only for 3.*use -k 3"):
        require_depth(manifest, 4)


def test_one_instance_is_in_memory_at_a_time(sealed_run, make_instance, monkeypatch):
    """However many there are: the next one is read when its first query is taken."""
    run = sealed_run([make_instance(n) for n in range(4)])
    read = []
    plain = answer_lineage.LineageByInstance.of

    def of(self, instance):
        read.append(instance)
        return plain(self, instance)

    monkeypatch.setattr(answer_lineage.LineageByInstance, "of", of)
    found = asked(run, 3)
    for at in range(7):
        next(found)
        assert read == list(range(at // 3 + 1))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_batches_may_end_anywhere(sealed_run, make_instance, monkeypatch, size):
    run = sealed_run([make_instance(0), make_instance(1, sessions=1), make_instance(2)])
    whole = list(asked(run, 4))

    def short(folder, name, columns=None):
        for batch in batches(folder, name, columns):
            for start in range(0, batch.num_rows, size):
                yield batch.slice(start, size)

    monkeypatch.setattr(answer_context, "batches", short)
    monkeypatch.setattr(answer_lineage, "batches", short)
    assert list(asked(run, 4)) == whole


def test_tables_that_do_not_fit_together_are_refused(sealed_run):
    run = sealed_run()
    trace = read_table(run, "trace")
    with RunFolder.claim(run.path.parent, run.path.name) as folder:
        write_table(folder, "trace", trace.slice(1))
    with pytest.raises(FormatError, match="exactly one ranking per query"):
        list(asked(run, 3))
    rows = trace.to_pylist()
    rows[0]["items"] = rows[3]["items"]
    with RunFolder.claim(run.path.parent, run.path.name) as folder:
        write_table(folder, "trace", trace.from_pylist(rows, trace.schema))
    with pytest.raises(FormatError, match="that its instance does not have"):
        list(asked(run, 3))


def test_an_instance_without_items_has_none(sealed_run, make_instance):
    silent = msgspec.structs.replace(make_instance(1), sessions=())
    run = sealed_run([make_instance(0), silent, make_instance(2)])
    found = list(asked(run, 3))
    assert [len(one.items) for one in found] == [3, 3, 3, 0, 0, 0, 3, 3, 3]
    assert found[6].question.context[0] == "ann: filler2 word0"
