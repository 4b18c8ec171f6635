import pytest

from memruler.errors import UsageError
from memruler.exchange.faults import FaultyFile
from memruler.exchange.read import read_traced
from memruler.scoring.traced import score_traced

RUN = b"q1 Q0 b 2 0.5 t\nq1 Q0 a 1 0.9 t\nq2 Q0 c 1 3 t\n"
QRELS = b"q1 0 a 1\nq1 0 z 2\nq2 0 c 0\nq2\t0  d -1 \n"


def test_a_run_and_its_qrels(put):
    traced = read_traced(put("r.trec", RUN), put("q.trec", QRELS))
    assert traced.query.to_pylist() == ["q1", "q2"]
    names = traced.items.to_pylist()
    assert [names[at] for at in traced.hits[0]] == ["a", "b"]
    assert not traced.anchored
    assert list(traced.supports) == ["qrels", "qrels-graded"]
    assert traced.supports["qrels"].grades is None
    assert traced.supports["qrels"].of.tolist() == [2, 0]
    assert sorted(traced.supports["qrels-graded"].grades) == [0.5, 1.0]
    assert traced.notices == ()


def test_without_several_grades_there_is_one_target(put):
    traced = read_traced(put("r", RUN), put("q", b"q1 0 a 1\nq2 0 d 1\n"))
    assert list(traced.supports) == ["qrels"]
    with pytest.raises(UsageError, match="it has qrels"):
        read_traced(put("r", RUN), put("q", b"q1 0 a 1\n"), ["raw"])


def test_the_rank_decides_and_a_score_that_disagrees_is_told(put):
    run = b"q1 Q0 a 1 0.1 t\nq1 Q0 b 2 0.9 t\nq2 Q0 c 1 1 t\nq2 Q0 d 2 1 t\nq3 Q0 a 1 1 t\n"
    qrels = b"q1 0 a 1\nq2 0 c 1\nq3 0 c 1\n"
    traced = read_traced(put("r", run), put("q", qrels))
    (notice,) = traced.notices
    assert (notice.kind, notice.count, notice.names) == ("scores-disagree", 2, ("q1", "q2"))
    scored = score_traced(traced, (1,), "id").by_target["qrels"]
    assert scored.values["mrr", 1].tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (b"q1 Q0 a 1 0.5\n", "line 1"),
        (b"q1 Q0 a 1 0.5 t extra\n", "6 columns"),
        (b"q1 Q0 a x 0.5 t\n", "rank is not a whole number"),
        (b"q1 Q0 a 99999999999999999999 1 t\n", "rank is not a whole number"),
        (b"q1 Q0 a 1 high t\n", "score is not a number"),
        (b"q1 Q0 a 1 nan t\n", "no finite number: 1 (q1)"),
        (b"q1 Q0 \xff 1 1 t\n", "UTF-8"),
        (b"q1 Q0 a 0 2 t\nq1 Q0 b 1 1 t\n", "do not begin at 1"),
        (b"q1 Q0 a 1 2 t\nq1 Q0 b 1 1 t\n", "a rank stands twice"),
        (b"q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n", "item twice"),
        (b'q1 Q0 "a 1 2 t\nq1 Q0 b" 2\n', "6 columns"),
    ],
)
def test_a_bad_run_is_told(put, run, told):
    with pytest.raises(FaultyFile) as error:
        read_traced(put("r", run), put("q", QRELS))
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("qrels", "told"),
    [
        (b"q1 0 a\n", "4 columns"),
        (b"q1 0 a 1.5\n", "grade is not a whole number"),
        (b"q1 0 a 1\nq1 0 b 1\nq1 0 a 0\n", r"judged twice: 1 \(q1\)"),
    ],
)
def test_bad_qrels_are_told(put, qrels, told):
    with pytest.raises(FaultyFile, match=told):
        read_traced(put("r", RUN), put("q", qrels))


def test_quotes_and_other_signs_are_parts_of_names(put):
    run = 'q"1 Q0 "a\\,é 1 1 t\n'.encode()
    traced = read_traced(put("r", run), put("q", 'q"1 0 "a\\,é 1\n'.encode()))
    assert traced.query.to_pylist() == ['q"1']
    assert score_traced(traced, (1,), "id").by_target["qrels"].values["mrr", 1].tolist() == [1.0]
