"""LongMemEval: both rules, the traps, and one clear error for each fault."""

import json
from datetime import datetime

import pytest

from memruler.corpora.checking import check_file
from memruler.corpora.longmemeval import POPULATIONS, LongMemEvalCorpus
from memruler.corpora.populations import count_all, exclusion
from memruler.errors import CorpusError


@pytest.fixture
def sample(shared_samples):
    return shared_samples / "longmemeval"


@pytest.fixture
def expected(sample):
    return json.loads((sample / "EXPECTED.json").read_text())


@pytest.fixture
def small(sample):
    return {i.key: i for i in LongMemEvalCorpus(sample / "longmemeval_s_cleaned.json")}


def question(**changes):
    base = {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "q?",
        "answer": "a",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "haystack_session_ids": ["answer_1_1", "filler"],
        "haystack_sessions": [
            [{"role": "user", "content": "gold", "has_answer": True}],
            [{"role": "user", "content": "other"}],
        ],
        "answer_session_ids": ["answer_1_1"],
    }
    return {**base, **changes}


def write(tmp_path, *questions):
    path = tmp_path / "longmemeval.json"
    path.write_text(json.dumps(list(questions)))
    return path


def one(tmp_path, **changes):
    (instance,) = LongMemEvalCorpus(write(tmp_path, question(**changes)))
    return instance


def test_one_instance_a_question(small, expected):
    assert len(small) == expected["questions"]
    assert [i.position for i in small.values()] == list(range(7))
    assert all(i.queries[0].id == key for key, i in small.items())


def test_abstentions(small, expected):
    assert [k for k, i in small.items() if not i.queries[0].answerable] == expected[
        "abstention_ids"
    ]
    for evidence in small["f1000001_abs"].queries[0].evidence:
        assert evidence.status == "none_by_design"
        assert not evidence.sessions
    assert small["f1000001_abs"].queries[0].evidence[0].references == ("answer_c0000001_abs_1",)


def test_the_population_of_labelled_user_turns_is_the_one_that_the_official_runner_averages(
    small, expected
):
    scored = [
        k for k, i in small.items() if i.queries[0].reading("user-turn-labels").status == "ok"
    ]
    assert scored == expected["official_retrieval_scored_ids"]
    (skipped,) = expected["official_skipped_no_user_gold_turn"]
    assert small[skipped].queries[0].reading("user-turn-labels").status == "unresolved"


@pytest.mark.parametrize(
    ("rule", "key"),
    [
        ("session-labels", "session_gold_from_answer_session_ids"),
        ("user-turn-labels", "session_gold_official_runner"),
    ],
)
def test_session_gold(small, expected, rule, key):
    for name, wanted in expected[key].items():
        assert len(small[name].queries[0].reading(rule).sessions) == wanted


def test_turn_ids_are_the_official_ones(small, expected):
    for name, wanted in expected["turn_ids_official"].items():
        instance = small[name]
        evidence = instance.queries[0].reading("user-turn-labels")
        assert [instance.sessions[s].turns[t].id for s, t in evidence.turns] == wanted
        assert list(evidence.references) == wanted


def test_an_assistant_turn_is_gold_under_session_labels_only(small):
    labels, official = small["f1000002"].queries[0].evidence
    assert labels.turns == ((0, 1),)
    assert official.turns == ()


def test_kept_as_they_are(small, expected):
    for name, ids in expected["duplicate_session_ids"].items():
        found = [s.id for s in small[name].sessions]
        assert all(found.count(one) == 2 for one in ids)
    for name, ids in expected["empty_sessions"].items():
        assert [s.id for s in small[name].sessions if not s.turns] == ids
    for name, ids in expected["sessions_after_question"].items():
        asked = small[name].queries[0].time
        assert [s.id for s in small[name].sessions if s.time > asked] == ids
    for name in expected["int_answers"]:
        assert (small[name].queries[0].answer_raw, small[name].queries[0].answer) == (3, "3")


def test_times(small):
    assert small["f1000001"].queries[0].time == datetime(2023, 5, 30, 23, 40)
    assert small["f1000001"].sessions[0].time == datetime(2023, 5, 20, 2, 21)


@pytest.mark.parametrize(
    ("ids", "family"),
    [
        (["answer_3f9693b7_1", "answer_3f9693b7_2"], "answer_3f9693b7"),
        (["answer_c01_abs_1"], "answer_c01"),
        (["answer_c01"], "answer_c01"),
        (["answer_b_1", "answer_a_1"], "answer_a+answer_b"),
        ([], None),
    ],
)
def test_families_are_stems(tmp_path, ids, family):
    assert one(tmp_path, answer_session_ids=ids).queries[0].family == family


def test_oracle_measures_no_retrieval(sample):
    corpus = LongMemEvalCorpus(
        sample / "longmemeval_oracle.json",
        name="longmemeval-oracle",
        retrieval_variant="longmemeval-s",
    )
    assert corpus.info.retrieval_variant == "longmemeval-s"
    for population in count_all(corpus).populations:
        assert population.measurable == 0
        assert population.excluded["haystack_is_evidence"] >= 5


def test_a_repeated_gold_id_names_both_places(tmp_path):
    instance = one(tmp_path, haystack_session_ids=["answer_1_1", "answer_1_1"])
    assert instance.queries[0].evidence[0].sessions == (0, 1)


def test_a_gold_session_that_is_missing_or_empty_is_unresolved(tmp_path):
    evidence = one(tmp_path, answer_session_ids=["answer_1_1", "gone"]).queries[0].evidence[0]
    assert (evidence.status, evidence.unresolved) == ("partial", ("gone",))
    instance = one(tmp_path, haystack_sessions=[[], [{"role": "user", "content": "x"}]])
    assert instance.queries[0].evidence[0].status == "unresolved"


def test_a_change_while_iterating(tmp_path):
    path = write(tmp_path, question(), question(question_id="q2"))
    walk = iter(LongMemEvalCorpus(path))
    next(walk)
    path.write_text("[]")
    with pytest.raises(CorpusError, match="changed while it was in use"):
        list(walk)


def test_iterating_twice(tmp_path):
    corpus = LongMemEvalCorpus(write(tmp_path, question()))
    assert list(corpus) == list(corpus)


TURN = {"role": "user", "content": "x"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question_type": "riddle"}, "unknown category 'riddle'"),
        ({"question_date": "30 May 2023"}, "cannot understand the date '30 May 2023'"),
        ({"question_date": "2023/02/30 (Thu) 10:00"}, "cannot understand the date"),
        (
            {"haystack_dates": ["2023/05/20 (Sat) 02:21", "soon"]},
            "question q1: haystack_dates[1]",
        ),
        ({"haystack_dates": []}, "differ in number: 2, 2, 0"),
        ({"haystack_session_ids": ["a"]}, "differ in number: 2, 1, 2"),
        ({"haystack_sessions": [[{"role": "user"}], []]}, "missing required field `content`"),
        ({"haystack_sessions": [[TURN, 5], []]}, "at `$.haystack_sessions[0][1]`"),
        ({"question": None}, "Expected `str`, got `null` - at `$.question`"),
        ({"question": ""}, "length >= 1 - at `$.question`"),
        ({"question_id": ""}, "length >= 1 - at `$.question_id`"),
        ({"haystack_sessions": [[TURN], [{**TURN, "role": "tool"}]]}, "unknown role 'tool'"),
        ({"haystack_sessions": [[TURN], [{**TURN, "role": "tool"}]]}, "q1: haystack_sessions[1]"),
        ({"haystack_sessions": [[{**TURN, "content": "a\0b"}], []]}, "contains a NUL character"),
        (
            {"haystack_sessions": [[{**TURN, "content": "\0"}], []]},
            "haystack_sessions[0][0].content",
        ),
        ({"answer": ["a", "\0"]}, "contains a NUL character"),
    ],
)
def test_each_fault_gives_one_clear_error(tmp_path, changes, message):
    with pytest.raises(CorpusError) as caught:
        one(tmp_path, **changes)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_key(tmp_path):
    raw = question()
    del raw["answer_session_ids"]
    with pytest.raises(CorpusError, match=r"element 0.*begins at byte 1"):
        list(LongMemEvalCorpus(write(tmp_path, raw)))


def test_a_question_that_is_there_twice(tmp_path):
    walk = iter(LongMemEvalCorpus(write(tmp_path, question(), question())))
    next(walk)
    with pytest.raises(CorpusError, match="the question id is there twice"):
        next(walk)


def test_a_name_that_stands_twice(tmp_path):
    path = write(tmp_path, question())
    path.write_bytes(
        path.read_bytes().replace(b'"role": "user"', b'"role": "user", "role": "user"')
    )
    with pytest.raises(CorpusError, match="the name 'role' stands twice") as caught:
        list(LongMemEvalCorpus(path))
    assert "haystack_sessions[0][0]" in str(caught.value.where)


def test_faults_in_the_middle_are_all_told_by_the_command_that_the_error_names(tmp_path):
    path = write(
        tmp_path,
        question(),
        question(question_id="q4", question_type="riddle"),
        question(question_id="q2", haystack_dates=[]),
        question(question_id="q3"),
        question(),
    )
    with pytest.raises(CorpusError) as caught:
        list(LongMemEvalCorpus(path))
    assert f"`memruler corpora check {path}` tells every fault" in caught.value.hint
    assert "LongMemEval has" in caught.value.hint
    report = check_file(path)
    assert [fault.what.split(":")[0] for fault in report.faults] == [
        "unknown category 'riddle'",
        "the haystack's sessions, ids and dates differ in number",
        "the question id is there twice",
    ]
    assert [fault.field for fault in report.faults] == [
        "question q4",
        "question q2",
        "question q1",
    ]


def test_faults_end_where_the_list_cannot_be_followed(tmp_path):
    path = write(tmp_path, question(question_type="riddle"), question(question_id="q2"))
    path.write_bytes(path.read_bytes().replace(b"}, {", b"} {"))
    assert [fault.what for fault in check_file(path).faults] == [
        "unknown category 'riddle'",
        "expected ',' or ']' after element 0, found '{'",
    ]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: data[:-30], "truncated"),
        (lambda data: data + b" {}", "something follows the list"),
        (lambda data: data.replace(b"gold", b"go\x00d"), "a NUL byte"),
        (lambda data: data.replace(b"gold", b"go\xffd"), "invalid UTF-8"),
        (lambda data: data.replace(b"gold", b"\\ud800"), "half a surrogate pair"),
        (lambda _: b"[]", "the corpus is empty"),
        (lambda _: b'{"a": 1}', "top level is not a JSON list"),
        (lambda _: b"[1]", "expected '{'"),
    ],
)
def test_damaged_files(tmp_path, spoil, message):
    path = write(tmp_path, question())
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(CorpusError, match=message):
        list(LongMemEvalCorpus(path))


def test_a_turn_of_ten_megabytes(tmp_path):
    big = "y" * (10 << 20)
    instance = one(tmp_path, haystack_sessions=[[{"role": "user", "content": big}], [TURN]])
    assert instance.sessions[0].turns[0].text == big


def test_labels_stay_in_fields_that_no_system_sees(small):
    for instance in small.values():
        for session in instance.sessions:
            for turn in session.turns:
                assert "answer_" not in turn.text
                assert turn.tags == ()
                assert turn.importance is None


def test_exclusion_is_per_query(small):
    alone, answerable = small["f1000006"], POPULATIONS[0]
    assert exclusion(alone.queries[0], alone, answerable) == "haystack_is_evidence"
    among_others = small["f1000001"]
    assert exclusion(among_others.queries[0], among_others, answerable) is None
