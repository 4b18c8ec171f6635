"""A gold that is a list or an object is looked for by its parts, not by its JSON."""

import msgspec
import pytest

from memruler.scoring.failure_list import failures_of
from memruler.scoring.failures import file_failures


@pytest.mark.parametrize(
    ("raw", "stage"),
    [
        (["tea", "coffee"], "reader"),
        (["juice", "milk"], "not_verbatim"),
        ({"answer": "milk", "aliases": ["coffee"]}, "reader"),
        ({"answer": "milk", "aliases": ["juice"]}, "not_verbatim"),
    ],
)
def test_parts_of_the_gold_are_what_is_looked_for(failure_runs, raw, stage):
    text = msgspec.json.encode(raw).decode()
    one = failure_runs.conversation(0, ["I like coffee", "so"], [("Q?", text, (0,), "c")])
    query = msgspec.structs.replace(one.queries[0], answer_raw=raw)
    one = msgspec.structs.replace(one, queries=(query,))
    store = [("t0", "turn", (0,), "I like coffee", None), ("t1", "turn", (1,), "so", None)]
    path = failure_runs.run([one], failure_runs.system(store, {"Q?": ["t0"]}))
    failure_runs.answer(path, {"Q?": "water"}, kind="extractive")
    failure_runs.grade(path, {"Q?": 0.0}, metric="accuracy")
    (item,) = failures_of(file_failures(path, answered=True)).items
    assert item.stage == stage
