"""`memruler failures` and `memruler abstention`: what they print fits, and is what was found."""

import json

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from memruler.cli.abstention import command as abstention
from memruler.cli.failures import command as failures
from memruler.compare.failure_shift import FailureShift
from memruler.errors import Refusal, UsageError
from memruler.model.abstention import Abstention
from memruler.model.failures import Failures
from memruler.report.schemas import schema

WIDTH = 80
HOSTILE = "evil\x1b[31m\u202e\n| `x` " + "long " * 200
TURNS = ("a blue car", "the dog barks", HOSTILE)
ITEMS = [(f"t{n}", "turn", (n,), f"Ann: {text}", None) for n, text in enumerate(TURNS)]
QUERIES = [
    ("A?", "blue", (0,), "c"),
    ("B?", "barks", (1,), "c"),
    (f"C? {HOSTILE}", HOSTILE, (2,), f"d {HOSTILE}"),
    ("D?", None, None, "e"),
]


@pytest.fixture
def run(failure_runs):
    """A run with answers: the first is right, the second was not found, the third is misread."""
    one = failure_runs.conversation(0, TURNS, QUERIES)
    ranking = {"A?": ["t0"], "B?": ["t0"], QUERIES[2][0]: ["t2"], "D?": ["t1"]}
    scores = {"D?": [1.0], "A?": [2.0]}
    path = failure_runs.run([one], failure_runs.system(ITEMS, ranking, scores=scores))
    asked = [query[0] for query in QUERIES]
    failure_runs.answer(path, dict.fromkeys(asked, HOSTILE))
    failure_runs.grade(path, {asked[0]: 1.0, asked[1]: 0.0, asked[2]: 0.0, asked[3]: 0.0})
    return path


def said(verb, *words):
    done = CliRunner().invoke(verb, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def fits(text):
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "\x1b" not in text
    assert "\u202e" not in text
    return text


def test_retrieval_alone(run):
    text = fits(said(failures, run))
    assert text.startswith("1 missed of 3 scored, of 4 queries\n")
    assert "q0-1  ranking  B?" in text
    assert "1 unanswerable_by_design" in text
    assert "name them with --answers" in " ".join(text.split())


def test_answers_with_texts_and_filters(run):
    text = fits(said(failures, run, "--answers", "a", "--text"))
    assert text.startswith("3 missed of 4 scored, of 4 queries\n")
    assert "q0-1: ranking" in text
    assert "there is no answer, and the grader saw no refusal" in " ".join(text.split())
    assert "\\x1b" in text
    short = fits(said(failures, run, "--answers", "a", "--stage", "reader", "--limit", 1))
    assert "1 of 2 items (stage reader)" in short
    assert "q0-1" not in short


@pytest.mark.parametrize("words", [["--answers", "a"], ["--grade", "g", "--category", "c"], []])
def test_json_reads_back_and_fits_its_schema(run, words):
    text = said(failures, run, *words, "--json")
    jsonschema.validate(json.loads(text), json.loads(schema("failures.schema.json")))
    found = msgspec.json.decode(text, type=Failures | FailureShift)
    assert isinstance(found, Failures)
    assert text.isascii()
    shift = said(failures, run, run, *words, "--json")
    jsonschema.validate(json.loads(shift), json.loads(schema("failures.schema.json")))
    found = msgspec.json.decode(shift, type=Failures | FailureShift)
    assert isinstance(found, FailureShift)
    assert found.moved == ()


def test_what_must_not_be_trusted_says_so_first(run, failure_runs):
    failure_runs.degrade(run, f"a stand-in {HOSTILE}")
    for verb in (failures, abstention):
        assert fits(said(verb, run)).startswith("DEGRADED: do not trust these numbers\n")
    assert "DEGRADED: do not trust these numbers (candidate)" in said(failures, run, run)
    assert json.loads(said(abstention, run, "--json"))["degraded"][0].startswith("a stand-in")


def test_two_answers_of_one_run(run, failure_runs):
    asked = [query[0] for query in QUERIES]
    failure_runs.answer(run, dict.fromkeys(asked, "another"), name="b")
    failure_runs.grade(run, dict.fromkeys(asked, 0.0) | {asked[2]: 1.0}, answers="b")
    words = (failures, run, run, "--answers", "a", "--other-answers", "b")
    text = fits(said(*words))
    assert text.startswith("1 gained and 1 lost, of 4 queries\n")
    assert "q0-0  right   reader  reader  A?" in text
    assert "q0-0: right to reader (reader)" in fits(said(*words, "--text"))


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--other-answers", "b"], "OTHER, which is not given"),
        (["--below", "0.2"], "is of graded answers"),
        (["--category", "z"], "no category 'z'"),
        (["--path", "x.json"], "the file of a --corpus"),
        (["-k", "21"], "asked for 21 hits"),
        (["--answers", "z"], "no answers z"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(run, words, what):
    with pytest.raises(UsageError, match=what):
        said(failures, run, *words)


def test_abstention_fits_and_reads_back(run):
    text = fits(said(abstention, run))
    assert text.startswith("Abstention: 1 queries without an answer, 3 with one\n")
    assert "recall_all" not in text
    assert "AUROC    1.0000 (0.5 tells nothing" in text
    assert "F1" in text
    plain = said(abstention, run, "--json", "--rule", "official", "--signal", "mean", "-k", 1)
    jsonschema.validate(json.loads(plain), json.loads(schema("abstention.schema.json")))
    found = msgspec.json.decode(plain, type=Abstention)
    assert (found.retrieval.k, found.reader.rule) == (1, "official")


def test_scores_that_are_all_the_same_are_refused(failure_runs):
    one = failure_runs.conversation(0, TURNS, QUERIES[:2] + QUERIES[3:])
    scores = {name: [1.0] for name in ("A?", "B?", "D?")}
    system = failure_runs.system(ITEMS, {name: ["t0"] for name in scores}, scores=scores)
    with pytest.raises(Refusal, match="the signal is the same") as caught:
        said(abstention, failure_runs.run([one], system))
    assert caught.value.exit_code == 4
