import threading

import pytest

from memruler.errors import InstrumentError
from memruler.judges.base import Judge, Judged
from memruler.judges.many import label_many, run_many


class Scripted:
    """Says what `say` says of the item."""

    def __init__(self, say):
        self.say = say
        self.asked = []
        self.busy = self.most = 0
        self.lock = threading.Lock()

    def identity(self):
        raise NotImplementedError

    def label(self, case):
        with self.lock:
            self.asked.append(case["item"])
            self.busy += 1
            self.most = max(self.most, self.busy)
        try:
            return Judged(label=self.say(case["item"]))
        finally:
            with self.lock:
                self.busy -= 1


def cases(*items):
    return [{"item": item} for item in items]


def test_every_case_is_answered_once():
    judge = Scripted(str.upper)
    assert isinstance(judge, Judge)
    found = {}
    for places, judged in label_many(judge, cases(*"abcdefgh")):
        found.update(dict.fromkeys(places, judged.label))
    assert found == dict(enumerate("ABCDEFGH"))


def test_nobody_waits_for_an_answer_that_does_not_come():
    """The interpreter joins every thread at its end that is no daemon."""
    hung, going = threading.Event(), threading.Event()

    def say(item):
        if item == "hangs":
            going.set()
            hung.wait(30)
        return item

    answers = label_many(Scripted(say), cases("hangs", "a", "b"), at_a_time=2)
    next(answers)
    assert going.wait(30)
    answers.close()
    left = [t for t in threading.enumerate() if t.name.startswith("memruler-judge")]
    assert left
    assert all(thread.daemon for thread in left)
    hung.set()


def test_the_same_texts_are_asked_once():
    judge = Scripted(str)
    found = dict(label_many(judge, cases("a", "b", "a", "a")))
    assert sorted(found) == [(0, 2, 3), (1,)]
    assert sorted(judge.asked) == ["a", "b"]


@pytest.mark.parametrize("at_a_time", [1, 3])
def test_no_more_than_allowed_are_under_way(at_a_time):
    together = threading.Barrier(at_a_time)
    judge = Scripted(lambda item: together.wait(10) is not None and item)
    list(label_many(judge, cases(*map(str, range(3 * at_a_time))), at_a_time=at_a_time))
    assert judge.most == at_a_time


def test_after_an_error_nothing_more_is_asked():
    def say(item):
        if item == "2":
            raise InstrumentError("gone")
        return item

    judge = Scripted(say)
    with pytest.raises(InstrumentError, match="gone"):
        list(label_many(judge, cases(*map(str, range(100))), at_a_time=1))
    assert len(judge.asked) < 100


def test_no_case_asks_nothing():
    assert list(label_many(Scripted(str), [])) == []


def test_results_come_as_they_are_ready_with_their_places():
    """The first item waits until the second one has come out."""
    second = threading.Event()

    def work(item):
        if item == "slow":
            second.wait(30)
        return item.upper()

    told = []
    results = run_many(
        work, ["slow", "fast"], at_a_time=2, tick=lambda done, of: told.append((done, of))
    )
    assert next(results) == (1, "FAST")
    assert told == [(1, 2)]
    second.set()
    assert list(results) == [(0, "SLOW")]
    assert told == [(1, 2), (2, 2)]


def test_the_error_is_raised_as_it_is_and_what_came_before_is_given():
    def work(item):
        return 1 // item

    results = run_many(work, [1, 0, 1], at_a_time=1)
    assert next(results) == (0, 1)
    with pytest.raises(ZeroDivisionError):
        list(results)


def test_nothing_is_begun_after_the_iterator_is_left():
    begun, first, go = [], threading.Event(), threading.Event()

    def work(item):
        begun.append(item)
        if item:
            first.set()
            go.wait(30)

    results = run_many(work, range(100), at_a_time=1)
    next(results)
    assert first.wait(30)
    results.close()
    threads = [t for t in threading.enumerate() if t.name.startswith("memruler-judge")]
    go.set()
    for thread in threads:
        thread.join(30)
    assert begun == [0, 1]
