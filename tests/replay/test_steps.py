import pytest

from memruler.errors import Interrupted
from memruler.replay.run import measuring
from memruler.replay.steps import AFTER, Pause, to_end
from memruler.store.folder import RunFolder


def test_a_run_pauses_before_it_writes_and_before_every_search(
    make_plan, word_system, make_instance, tmp_path
):
    plan = make_plan(word_system, [make_instance(0), make_instance(1)], one_by_one=True)
    done = []
    word_system.on_ingest = lambda _: done.append("ingest")
    word_system.on_search = lambda _: done.append("search")
    with RunFolder.claim(tmp_path, "run") as folder:
        steps = measuring(plan, folder, lambda *_: None)
        paused = []
        for pause in steps:
            paused.append((pause, "".join(word[0] for word in done)))
            done.clear()
    assert paused == [
        (Pause(0, 0), ""),
        (Pause(0, 1), "iiii"),
        (Pause(0, 2), "s"),
        (Pause(0, 3), "s"),
        (Pause(0, 4, last=True), "s"),
        (Pause(1, 0), ""),
        (Pause(1, 1), "iiii"),
        (Pause(1, 2), "s"),
        (Pause(1, 3), "s"),
        (Pause(1, 4, last=True), "s"),
        (Pause(AFTER, 0), ""),
    ]
    assert paused == sorted(paused)
    assert folder.manifest().state == "sealed"


def test_an_interrupt_between_two_steps_reaches_the_run():
    told = []

    def run():
        try:
            yield Pause(0, 0)
        except KeyboardInterrupt:
            told.append("put away")
            raise Interrupted("stopped") from None

    class Interrupting:
        """Its steps are those of a run; the interrupt comes when the run does nothing."""

        def __init__(self, steps):
            self.steps = steps

        def __next__(self):
            next(self.steps)
            raise KeyboardInterrupt

        def throw(self, error):
            return self.steps.throw(error)

    with pytest.raises(Interrupted, match="stopped"):
        to_end(Interrupting(run()))
    assert told == ["put away"]


def test_the_result_is_handed_back():
    def run():
        yield Pause(0, 0)
        return "done"

    assert to_end(run()) == "done"
