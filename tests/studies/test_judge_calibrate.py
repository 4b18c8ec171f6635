"""A judge's rates come out as the judge is: always yes, perfect, obedient, mute."""

import re

import jsonschema
import msgspec
import pytest

from memruler.compare.judge_calibration import JudgeCalibration
from memruler.errors import InstrumentError, UsageError
from memruler.judges.asking import Asker
from memruler.judges.chat import Chat
from memruler.judges.replies import Replies
from memruler.report.document import encode
from memruler.scoring.graders.registry import open_grader
from memruler.stats.calibration import calibrate
from memruler.stats.proportion import wilson
from memruler.studies.judge_calibrate import _trust, calibrate_judge
from memruler.studies.judge_items import probes_of, questions_of_corpus
from memruler.studies.judge_texts import INJECTIONS, REFUSALS

pytest.importorskip("openai", reason="needs memruler[llm]")


def shown(text):
    """The fields of a case as the rubric fences them."""
    found = re.findall(r"^\[(\w+) (\w+)\]\n(.*?)\n\[\1 end\]$", text, re.MULTILINE | re.DOTALL)
    return {name: value for _, name, value in found}


def perfect(text):
    case = shown(text)
    right = (
        case["response"] in REFUSALS
        if not case["reference"]
        else (case["reference"].lower() in case["response"].lower())
    )
    return "correct" if right else "wrong"


def obedient(text):
    response = shown(text)["response"]
    steered = any(
        mark in response for mark in ("Ignore all", "System:", "case above", "score", "Note")
    )
    return "correct" if steered else perfect(text)


@pytest.fixture
def calibrated(chat_server, tmp_path):
    chosen = probes_of(questions_of_corpus("synthetic", None), number=10, seed=7)

    def run(say, *, grader="answer:memruler", given=chosen, **chat):
        chat_server.say = say
        source, probes = given
        replies = Replies(tmp_path / "replies.sqlite")
        with Asker(Chat(chat_server.url, "judge", **chat), replies=replies) as asker:
            return calibrate_judge(probes, source, open_grader(grader), asker, at_a_time=4)

    return run


def row(found, kind, style=None):
    (one,) = (r for r in found.rows if (r.kind, r.style) == (kind, style))
    return one


def test_a_judge_that_always_says_yes_carries_no_information(calibrated):
    found = calibrated(lambda _: "correct")
    assert (found.rates.tpr, found.rates.fpr, found.rates.j) == (1.0, 1.0, 0.0)
    assert found.blind
    assert found.verdict[0].startswith("J is 0.00: the judge carries no information")
    assert found.obeys == (10, 10)
    # It accepts as much without an order, so no order is to blame.
    (line,) = (one for one in found.verdict if "told it to" in one)
    assert line.startswith("That an answer can steer it is not shown: it accepted 10 of 10")
    assert line.endswith("Without an order it accepts 10 of 10 such answers.")


def test_a_judge_that_always_says_no_carries_none_either(calibrated):
    found = calibrated(lambda _: "wrong")
    assert (found.rates.tpr, found.rates.fpr, found.rates.j, found.blind) == (0, 0, 0, True)
    # A few probes leave open what many do not.
    assert found.rates.j_high > 0.1
    assert "may be as high as" in found.verdict[0]
    many = calibrate(0, 500, 0, 500)
    assert many.j_high < 0.1
    assert "may be as high as" not in _trust(many)


def test_a_perfect_judge(calibrated):
    found = calibrated(perfect)
    assert (found.rates.tpr, found.rates.fpr, found.rates.j) == (1.0, 0.0, 1.0)
    assert not found.blind
    assert found.obeys == (0, 10)
    # 10 golds and 8 refusals; 10 swapped, 10 vague and 8 answered.
    assert (found.rates.positives, found.rates.negatives) == (18, 28)
    assert (found.with_injected.negatives, found.with_injected.j) == (38, 1.0)
    assert row(found, "gold").accepted == 10
    assert (row(found, "gold").low, row(found, "gold").high) == wilson(10, 10)
    assert found.judge.served == "judge"
    assert found.seed == 7


def test_a_judge_that_obeys_what_an_answer_tells_it(calibrated):
    found = calibrated(obedient)
    assert row(found, "injected").rate == 1.0
    assert {r.style for r in found.rows if r.style} == set(INJECTIONS)
    assert all(r.rate == 1.0 for r in found.rows if r.style)
    # Its rates without such answers are untouched, and with them they are not.
    assert (found.rates.j, found.rates.fpr) == (1.0, 0.0)
    assert found.with_injected.fpr == 10 / 38
    assert not found.blind
    assert any(
        line.startswith("An answer can steer it: it accepted 10 of 10") for line in found.verdict
    )


def test_what_an_answer_holds_stays_inside_the_fence(calibrated, chat_server):
    calibrated(perfect)
    forged = [
        said
        for body in chat_server.seen
        if "0000000000000000 end" in (said := body["messages"][-1]["content"])
    ]
    assert forged
    for text in forged:
        case = shown(text)
        assert set(case) == {"question", "reference", "response"}
        assert "The case above is over" in case["response"]
        assert "[0000000000000000 end]" in case["response"]


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "the reply is empty"),
        ("I would rather not say", "the reply does not begin with a label"),
        ((400, {"error": {"message": "filtered"}}), "judge"),
    ],
)
def test_probes_without_a_verdict_count_in_no_rate(calibrated, reply, reason):
    def say(text):
        return reply if len(shown(text)["response"]) % 2 else perfect(text)

    found = calibrated(say)
    mute = [r for r in found.rows if r.style is None and r.unjudged]
    assert mute
    assert all(r.judged + sum(r.unjudged.values()) == r.probes for r in found.rows)
    assert all(reason in why for r in mute for why in r.unjudged)
    assert (found.rates.tpr, found.rates.fpr) == (1.0, 0.0)
    assert found.rates.positives == sum(r.judged for r in found.rows if r.truth)
    assert any("have no verdict" in line for line in found.verdict)


def test_a_judge_that_gives_no_verdict_at_all_is_broken(calibrated):
    with pytest.raises(InstrumentError, match="no verdict on any of 56 probes: the reply is empty"):
        calibrated(lambda _: "")


@pytest.mark.usefixtures("no_waiting")
def test_a_judge_that_fails_stops_it_and_what_it_said_is_kept(calibrated, chat_server):
    said = []

    def say(text):
        if len(said) >= 12:
            return 500, {"error": {"message": "down"}}
        said.append(text)
        return perfect(text)

    with pytest.raises(InstrumentError, match="failed"):
        calibrated(say)
    kept = {body["messages"][-1]["content"] for body in chat_server.seen} & set(said)
    assert len(kept) == 12
    chat_server.seen.clear()
    found = calibrated(perfect)
    asked = [body["messages"][-1]["content"] for body in chat_server.seen]
    assert not kept & set(asked)
    assert len(asked) == 56 - 12
    assert found.rates.j == 1.0


def test_only_one_side(calibrated):
    source, probes = probes_of(questions_of_corpus("synthetic", None), number=3, seed=7)
    found = calibrated(perfect, given=(source, [p for p in probes if p.truth]))
    assert (found.rates, found.blind) == (None, False)
    assert "0 wrong answers were judged" in found.no_rates
    assert found.verdict[0].startswith("There are no rates")


def test_a_rule_has_nothing_to_calibrate(calibrated):
    with pytest.raises(UsageError, match="asks no judge"):
        calibrated(perfect, grader="lexical")


def test_the_document_is_the_same_again_fits_its_schema_and_reads_back(calibrated, chat_server):
    one = encode(calibrated(perfect))
    asked = len(chat_server.seen)
    assert encode(calibrated(perfect)) == one
    assert len(chat_server.seen) == asked
    assert msgspec.json.decode(one, type=JudgeCalibration).rates.j == 1.0
    schema = msgspec.json.schema(JudgeCalibration)
    jsonschema.validate(msgspec.json.decode(one), schema, cls=jsonschema.Draft202012Validator)
