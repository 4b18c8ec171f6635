"""A page with its data: all of it within its limit, and nothing in it that leaves its block."""

import json
import re

import pytest

from memruler.compare.exact import compare
from memruler.errors import UsageError
from memruler.report.explore.calls import CALLS, respond
from memruler.report.explore.embed import LIMIT, embedded, served
from memruler.report.explore.explorer import Explorer

BLOCK = re.compile(r'<script type="application/json" id="explorer-data">(.*?)</script>', re.DOTALL)


def data_of(markup):
    (block,) = BLOCK.findall(markup)
    assert "<" not in block
    return block, json.loads(block)


@pytest.fixture
def explorer(base, candidate):
    return Explorer.open(
        [base, candidate], compare(base, candidate, changed=["knob"], cutoffs="common")
    )


def test_every_query_is_there_with_each_text_once(explorer):
    _, data = data_of(embedded(explorer))
    assert [row[0] for row in data["rows"]] == [0, 1, 2, 3, 4]
    assert len(set(data["texts"])) == len(data["texts"])
    assert data["texts"].count("Ann: a blue car") == 1
    assert data["cut"] == 4_000
    # What was cut tells how long it was: a question, and a turn with its speaker.
    lengths = {data["texts"][int(at)][0]: of for at, of in data["lengths"].items()}
    assert lengths == {"q": 5_000, "A": 5_005}


def test_where_little_fits_texts_are_cut_and_then_what_did_not_change_is_left_out(explorer):
    whole, _ = data_of(embedded(explorer))
    for limit in (28_000, 25_000):
        block, data = data_of(embedded(explorer, limit))
        assert len(block) <= limit < len(whole) + 20_000 + 4_000
        assert max(map(len, data["texts"])) == data["cut"] < 4_000
        assert len(data["rows"]) == 5
    _, data = data_of(embedded(explorer, 21_500))
    assert 0 < len(data["rows"]) < 5
    assert {row[0] for row in data["rows"]} <= {0, 1, 2}
    assert data["overview"]["rows"] == 5


def test_no_text_ends_the_block(make_scored_run):
    evil = "</script><script>alert(1)</script><!-- \u2028 \x00 \ud7ff"
    queries = [(evil, evil, (0,), evil)]
    items = [(evil, "turn", (0,), evil, None)]
    path = make_scored_run({evil: [evil]}, 1, queries=queries, items=items, turns=(evil,))
    markup = embedded(Explorer.open([path]))
    assert markup.count("<script") == markup.count("</script") == 1
    _, data = data_of(markup)
    assert data["texts"].count(evil) == 1
    assert data["rows"][0][3] == evil


def test_the_served_part_holds_no_data_and_escapes_its_address():
    markup = served("/data", 'run=a&run="><script>')
    assert "<script" not in markup
    assert 'data-query="run=a&amp;run=&#34;&gt;&lt;script&gt;"' in markup


def test_calls_are_answered_with_what_the_explorer_says(explorer):
    assert json.loads(respond(explorer, "overview", {}))["rows"] == 5
    found = json.loads(respond(explorer, "find", {"changed": "any", "offset": "1", "limit": "1"}))
    assert (found["total"], [row["row"] for row in found["rows"]]) == (3, [1])
    missed = json.loads(respond(explorer, "find", {"missed": "false", "excluded": "true"}))
    assert [row["row"] for row in missed["rows"]] == [3]
    assert json.loads(respond(explorer, "detail", {"row": "2"}))["question"]["length"] == 18
    assert len(CALLS) == 3
    assert LIMIT == 4_000_000


@pytest.mark.parametrize(
    ("call", "params"),
    [
        ("nothing", {}),
        ("overview", {"row": "1"}),
        ("detail", {}),
        ("detail", {"row": "x"}),
        ("detail", {"row": "1e99"}),
        ("find", {"missed": "perhaps"}),
        ("find", {"changed": "sideways"}),
        ("find", {"limit": "100000"}),
        ("find", {"colour": "blue"}),
    ],
)
def test_calls_that_make_no_sense_are_refused(explorer, call, params):
    with pytest.raises(UsageError):
        respond(explorer, call, params)
