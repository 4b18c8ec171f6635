"""Two small runs that compare: a store of turns and facts, whose rankings are written down."""

import json

import pytest

from memruler.model.system import SystemIdentity
from memruler.scoring.score import score
from memruler.store.folder import RunFolder

TURNS = ("a blue car", "the dog barks", "tea at noon", "rain today", "z" * 5_000)
ITEMS = [
    *((f"t{turn}", "turn", (turn,), f"Ann: {text}", None) for turn, text in enumerate(TURNS)),
    ("f0", "fact", (0,), "blue", None),
    ("s01", "summary", (0, 1), "a car and a dog", None),
]
QUERIES = [
    ("Which colour?", "blue", (0,), "one"),
    ("Which animal?", "dog", (1,), "one"),
    ("Both, CAR and dog?", "both", (0, 1), "two"),
    ("Nothing at all?", None, None, "none"),
    ("q" * 5_000, "tea", (2,), "two"),
]
BASE = {
    "Which colour?": ["t1", "f0", "t0"],
    "Which animal?": ["s01", "t2", "t1"],
    "Both, CAR and dog?": ["t3", "t0", "t4"],
    "Nothing at all?": ["t3", "t0", "t2"],
    "q" * 5_000: ["t2", "t1", "t0"],
}
CANDIDATE = {
    **BASE,
    "Which colour?": ["t0", "t1", "t3"],
    "Which animal?": ["t2", "t3", "t0"],
    "Both, CAR and dog?": ["t0", "t1", "t4"],
}


@pytest.fixture
def make_scored_run(failure_runs):
    """Measures and scores a run of the store above, or of another one."""

    class System(failure_runs.system):
        knob = 0

        def identity(self):
            return SystemIdentity(
                name="scripted", version="1", digest="d" * 64, settings={"knob": self.knob}
            )

    def make(rankings, knob, *, queries=QUERIES, items=ITEMS, turns=TURNS, exports=True, many=1):
        system = System(items, rankings, exports=exports)
        system.knob = knob
        instances = [failure_runs.conversation(at, turns, queries) for at in range(many)]
        path = failure_runs.run(instances, system)
        # The scripted system cannot be opened in a second process; it is as exact as it looks.
        manifest = json.loads((path / "manifest.json").read_text())
        manifest["determinism"]["other_process"] = True
        (path / "manifest.json").write_text(json.dumps(manifest))
        with RunFolder.claim(path.parent, path.name) as folder:
            score(folder, (1, 2, 3))
        return path

    return make


@pytest.fixture
def base(make_scored_run):
    return make_scored_run(BASE, 1)


@pytest.fixture
def candidate(make_scored_run):
    return make_scored_run(CANDIDATE, 2)
