import pytest

from memruler.errors import InstrumentError, Interrupted, SystemUnderTestError
from memruler.replay.steps import AFTER, Pause
from memruler.studies.ab_turns import RULE, a_is_first, in_turns


class Runs:
    """Runs that write down what they do, and fail where they are told to."""

    def __init__(self):
        self.told = []
        self.put_away = []
        self.fails = {}

    def run(self, name, instances, queries=3):
        try:
            for instance in instances:
                for step in range(queries + 2):
                    yield Pause(instance, step, last=step == queries + 1)
                    self.do(name, instance, step)
            yield Pause(AFTER, 0)
            self.do(name, AFTER, 0)
        finally:
            self.put_away.append(name)

    def do(self, name, instance, step):
        self.told.append((name, instance, step))
        if (name, instance, step) in self.fails:
            raise self.fails[name, instance, step]

    def turns(self, a, b):
        together = []
        errors = in_turns(self.run("a", a), self.run("b", b), together.append)
        return errors, together


@pytest.fixture
def runs():
    return Runs()


def test_both_write_and_then_each_question_is_put_to_one_and_the_other(runs):
    errors, together = runs.turns([0, 1], [0, 1])
    assert (errors, together) == ((None, None), [0, 1])
    of_instance = [(name, step) for name, instance, step in runs.told if instance == 0]
    assert of_instance == [
        ("b", 0),
        ("a", 0),
        ("a", 1),
        ("b", 1),
        ("b", 2),
        ("a", 2),
        ("a", 3),
        ("b", 3),
        ("b", 4),
        ("a", 4),
    ]
    of_next = [(name, step) for name, instance, step in runs.told if instance == 1]
    assert of_next[:4] == [("a", 0), ("b", 0), ("b", 1), ("a", 1)]


def test_who_is_first_is_what_the_rule_says():
    assert "add up to an even number" in RULE
    assert [a_is_first(0, q) for q in range(3)] == [True, False, True]
    assert [a_is_first(1, q) for q in range(3)] == [False, True, False]


def test_no_side_is_more_than_one_question_ahead(runs):
    runs.turns([0, 1, 2], [0, 1, 2])
    for at in range(0, len(runs.told), 2):
        assert runs.told[at][1:] == runs.told[at + 1][1:]
        assert runs.told[at][0] != runs.told[at + 1][0]


@pytest.mark.parametrize("missing", [[1], [0, 1], [2]])
def test_a_run_that_is_behind_catches_up_alone(runs, missing):
    rest = [i for i in range(3) if i not in missing]
    errors, together = runs.turns(rest, [0, 1, 2])
    assert (errors, together) == ((None, None), rest)
    assert {name for name, instance, _ in runs.told if instance in missing} == {"b"}


def test_the_failure_of_one_memory_does_not_end_the_other(runs):
    broken = SystemUnderTestError("full")
    runs.fails["a", 1, 2] = broken
    errors, together = runs.turns([0, 1, 2], [0, 1, 2])
    assert errors == (broken, None)
    assert together == [0]
    assert [step for name, instance, step in runs.told if (name, instance) == ("b", 2)] == [
        *range(5)
    ]
    assert ("a", 1, 3) not in runs.told


def test_an_instance_whose_end_failed_on_one_side_is_not_told(runs):
    runs.fails["b", 0, 4] = SystemUnderTestError("it cannot be read back")
    assert runs.turns([0], [0])[1] == []


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("error", [InstrumentError("the disk is full"), Interrupted("stop")])
def test_what_is_no_fault_of_a_memory_ends_both(runs, name, error):
    runs.fails[name, 1, 1] = error
    with pytest.raises(type(error)) as caught:
        runs.turns([0, 1], [0, 1])
    assert caught.value is error
    assert sorted(runs.put_away) == ["a", "b"]


def test_an_interrupt_between_two_steps_reaches_both(runs):
    thrown = []

    def run(name):
        try:
            yield from runs.run(name, [0])
        except KeyboardInterrupt:
            thrown.append(name)
            raise Interrupted("stopped") from None

    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_turns(run("a"), run("b"), interrupted)
    assert thrown == ["a", "b"]
    assert sorted(runs.put_away) == ["a", "b"]
