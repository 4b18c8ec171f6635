"""Gates of judged labels, corrected for the judge's errors, and when that is refused."""

import json

import msgspec
import pytest

from memruler.compare.gate import gate
from memruler.compare.judge_calibration import JudgeCalibration, read_calibration
from memruler.errors import FormatError, Refusal
from memruler.model.answers import InstrumentIdentity, Usage
from memruler.scoring.grade_scores import instrument
from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.calibration import calibrate, corrected_delta
from memruler.stats.gate import gate_interval

JUDGE = InstrumentIdentity(
    kind="openai-chat",
    model="judge",
    served="judge-1",
    host="127.0.0.1:8000",
    prompt="answer:memruler",
    prompt_sha256="a" * 64,
    settings={"temperature": 0.0},
)
RULER = {"grader": "answer:memruler", "sha256": "a" * 64, "metric": "accuracy"}
META = {"axis": "accuracy", "ruler": RULER, "judge": {**instrument(JUDGE), "draws": 1}}


def document(rates=(45, 50, 10, 50), **changes):
    found = None if rates is None else calibrate(*rates)
    given = {
        "grader": RULER["grader"],
        "grader_sha256": RULER["sha256"],
        "metric": RULER["metric"],
        "judge": JUDGE,
        "corpus": {},
        "source": "run",
        "seed": 7,
        "items": 100,
        "rows": (),
        "rates": found,
        "no_rates": "0 wrong answers were judged" if found is None else None,
        "with_injected": None,
        "blind": False,
        "obeys": None,
        "left_out": {},
        "verdict": (),
        "usage_total": Usage(),
    }
    return JudgeCalibration(**{**given, **changes})


@pytest.fixture
def decide(tmp_path):
    """Gates 30 wins, 60 ties and 10 losses, or the rows given."""

    def run(calibration, *, base=META, candidate=META, rows=None, **options):
        rows = rows or [(0, 1)] * 30 + [(1, 1)] * 60 + [(1, 0)] * 10
        paths = []
        for at, (name, meta) in enumerate((("base", base), ("cand", candidate))):
            path = tmp_path / f"{name}.csv"
            lines = [f"q{n},{pair[at]}" for n, pair in enumerate(rows)]
            path.write_text("\n".join(["id,accuracy", *lines]), encoding="utf-8")
            path.with_name(f"{name}.csv.meta.json").write_text(json.dumps(meta), encoding="utf-8")
            paths.append(path)
        file = tmp_path / "calibration.json"
        file.write_bytes(msgspec.json.encode(calibration))
        return gate(*paths, calibration=file, **options)

    return run


def test_the_corrected_difference_decides(decide):
    found = decide(document())
    observed = paired_bootstrap([1] * 30 + [0] * 60 + [-1] * 10)
    assert found.corrected == corrected_delta(observed, calibrate(45, 50, 10, 50))
    assert (found.delta, found.interval.mean) == (0.2, 0.2)
    assert found.corrected.value == pytest.approx(0.2 / 0.7)
    assert found.outcome == "pass"
    # What the judge shrank to 0.2 exceeds 0.25 as a value, and is not resolved from it.
    assert decide(document(), threshold=0.25).outcome == "unresolved"
    assert decide(document(), threshold=0.6).outcome == "fail"


def test_uncertain_rates_widen_it(decide):
    sure, unsure = document((900, 1000, 200, 1000)), document((18, 20, 4, 20))
    one, other = decide(sure).corrected, decide(unsure).corrected
    assert one.value == pytest.approx(other.value)
    assert other.low < one.low
    assert other.high > one.high


def test_the_band_grows_as_the_difference_does(decide):
    rows = [(0, 1)] * 6 + [(1, 1)] * 90 + [(1, 0)] * 4
    found = decide(document((90, 100, 40, 100)), rows=rows, band=0.03)
    # 0.02 observed is within 0.03; corrected it is 0.04, within 0.03 / 0.5.
    assert found.corrected.value == pytest.approx(0.04)
    assert (found.outcome, found.why) == ("unresolved", "noise_floor")
    found = decide(document((90, 100, 40, 100)), rows=rows, band=0.01)
    assert found.why == "under_powered"


def test_a_point_decides_no_more_than_before(decide):
    rows = [(1, 1)] * 50
    threshold = -0.05
    plain = gate_interval(paired_bootstrap([0] * 50), threshold)
    assert plain == ("unresolved", "under_powered")
    found = decide(document(), rows=rows, threshold=threshold)
    assert (found.outcome, found.why) == plain


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ((50, 50, 50, 50), "J is 0.000: this judge accepts wrong answers at least as often"),
        ((10, 50, 20, 50), "J is -0.200: this judge accepts"),
        ((6, 10, 4, 10), "J is 0.200: with so few probes it may be 0"),
        (None, "the calibration has no rates: 0 wrong answers were judged"),
    ],
)
def test_labels_without_information_are_refused(decide, rates, told):
    with pytest.raises(Refusal, match=told) as refused:
        decide(document(rates))
    assert refused.value.exit_code == 4


def judged(**changes):
    return {**META, "judge": {**META["judge"], **changes}}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"judge": msgspec.structs.replace(JUDGE, served="judge-2")}, "other served"),
        ({"judge": msgspec.structs.replace(JUDGE, model="x")}, "other model"),
        ({"judge": msgspec.structs.replace(JUDGE, prompt_sha256="b" * 64)}, "other prompt_sha256"),
        ({"judge": msgspec.structs.replace(JUDGE, settings={})}, "other settings"),
        ({"grader": "longmemeval:official"}, "another grader"),
        ({"grader_sha256": "c" * 64}, "another grader"),
    ],
)
def test_a_calibration_of_another_judge_is_refused(decide, changes, told):
    with pytest.raises(Refusal) as refused:
        decide(document(**changes))
    assert told in " ".join(refused.value.reasons)


def test_another_port_is_no_other_judge(decide):
    moved = msgspec.structs.replace(JUDGE, host="127.0.0.1:9999")
    assert decide(document(judge=moved)).outcome == "pass"


def test_the_judge_of_each_side_counts(decide):
    with pytest.raises(Refusal) as refused:
        decide(document(), candidate=judged(model="other"), changed=("judge",))
    told = "the calibration is of another judge than that of cand.csv: other model"
    assert refused.value.reasons == (told,)


@pytest.mark.parametrize(
    ("meta", "told"),
    [
        ({"axis": "accuracy"}, "does not say which judge gave its labels"),
        ({**META, "judge": "judge-1"}, "does not say which judge gave its labels"),
        (judged(draws=3), "a majority of several verdicts"),
    ],
)
def test_sides_whose_labels_are_not_single_verdicts_of_a_known_judge(decide, meta, told):
    with pytest.raises(Refusal) as refused:
        decide(document(), base=meta, candidate=meta)
    assert told in refused.value.reasons[0]


def test_shares_that_differ_by_whole_points_are_no_labels(decide):
    meta = {**META, "ruler": {**RULER, "metric": "rubric"}}
    found = document(metric="rubric")
    with pytest.raises(Refusal, match="is no label"):
        decide(found, base=meta, candidate=meta)


def test_what_is_no_label_has_no_rates(decide):
    with pytest.raises(Refusal, match="accuracy is no label"):
        decide(document(), rows=[(0.25, 0.5), (0.5, 1.0), (0.0, 0.1)])


def test_no_judge_had_a_say_in_a_fact(decide):
    exact = {**META, "deterministic": True}
    with pytest.raises(Refusal, match="no judge had a say"):
        decide(document(), base=exact, candidate=exact)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"schema_version": 2}', b'{"schema_version": 1}', b"\xff"]
)
def test_a_file_of_something_else(tmp_path, data):
    path = tmp_path / "c.json"
    path.write_bytes(data)
    with pytest.raises(FormatError):
        read_calibration(path)
