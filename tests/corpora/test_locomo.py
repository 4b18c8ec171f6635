"""LoCoMo: counts from the real file, and every trap from invented ones."""

import json
import zipfile
from collections import Counter
from datetime import datetime

import msgspec
import pytest

from memruler.corpora import locomo_files
from memruler.corpora.locomo import LocomoCorpus
from memruler.corpora.populations import count_all
from memruler.errors import CorpusError


@pytest.fixture
def sample(shared_samples):
    return shared_samples / "locomo"


@pytest.fixture
def expected(sample):
    return json.loads((sample / "EXPECTED.json").read_text())


@pytest.fixture
def instance(sample):
    (found,) = LocomoCorpus(sample / "locomo10.json")
    return found


def conversation(**changes):
    """A minimal sound conversation with `changes` to its parts."""
    turns = [
        {"speaker": "A", "dia_id": "D1:1", "text": "one"},
        {"speaker": "B", "dia_id": "D1:2", "text": "two", "query": "hidden words"},
    ]
    question = {"question": "q?", "answer": "a", "evidence": ["D1:1"], "category": 4}
    base = {
        "sample_id": "conv-1",
        "conversation": {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"},
        "qa": [question],
    }
    return {**base, **changes}


def load(tmp_path, *conversations):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(list(conversations)))
    return LocomoCorpus(path)


def test_counts_of_the_real_file(locomo_path):
    counts = count_all(LocomoCorpus(locomo_path))
    assert (counts.instances, counts.sessions, counts.turns) == (10, 272, 5882)
    assert counts.queries == 1986
    strict, tolerant, everything = counts.populations
    assert strict.name == "strict-answerable"
    assert strict.excluded == {"unanswerable_by_design": 446, "gold_unresolved": 9}
    assert (strict.members, strict.measurable) == (1531, 1531)
    assert tolerant.name == "tolerant-answerable"
    assert (tolerant.members, tolerant.measurable) == (1536, 1536)
    assert everything.name == "all"
    assert (everything.members, everything.measurable) == (1986, 1531)


def test_categories_of_the_real_file(locomo_path):
    found = Counter(q.category for i in LocomoCorpus(locomo_path) for q in i.queries)
    assert found == {
        "multi-hop": 282,
        "temporal": 321,
        "open-domain": 96,
        "single-hop": 841,
        "adversarial": 446,
    }


def test_odd_evidence_of_the_real_file(locomo_path):
    queries = {q.id: q for i in LocomoCorpus(locomo_path) for q in i.queries}

    def ids(name):
        strict, tolerant = queries[name].evidence
        return strict.status, len(strict.turns), tolerant.status, len(tolerant.turns)

    assert ids("conv-26/q37") == ("unresolved", 0, "ok", 2)  # "D8:6; D9:17"
    assert ids("conv-50/q69") == ("unresolved", 0, "ok", 1)  # "D30:05"
    assert ids("conv-42/q58")[2] == "partial"  # names one turn that does not exist
    assert len(queries["conv-50/q5"].evidence[0].references) > ids("conv-50/q5")[1]  # repeated
    assert queries["conv-26/q1"].answer_raw == 2022
    assert queries["conv-26/q1"].answer == "2022"


def test_sample_counts(instance, expected):
    assert [s.id for s in instance.sessions] == [
        f"session_{n}" for n in expected["sessions_in_order"]
    ]
    assert sum(bool(s.turns) for s in instance.sessions) == expected["nonempty_sessions"]
    assert sum(len(s.turns) for s in instance.sessions) == expected["turns"]
    names = {"multi-hop": 1, "temporal": 2, "open-domain": 3, "single-hop": 4, "adversarial": 5}
    found = Counter(str(names[q.category]) for q in instance.queries)
    assert found == expected["category_counts"]


@pytest.mark.parametrize(
    ("rule", "key"),
    [("strict", "gold_turns_strict_exact_id"), ("tolerant", "gold_turns_tolerant")],
)
def test_sample_gold(instance, expected, rule, key):
    for place, wanted in expected[key].items():
        evidence = instance.queries[int(place)].reading(rule)
        found = [instance.sessions[s].turns[t].id for s, t in evidence.turns]
        assert found == wanted
        assert list(evidence.sessions) == sorted({s for s, _ in evidence.turns})


def test_sample_references(instance, expected):
    for place, wanted in expected["unresolvable_refs_tolerant"].items():
        query = instance.queries[int(place)]
        assert list(query.reading("tolerant").unresolved) == wanted
        assert query.reading("tolerant").status == "partial"
    assert instance.queries[3].reading("strict").references == ("D1:2", "D", "D:10:1", "D1:99")


def test_sample_unanswerable(instance, expected):
    found = [q.position for q in instance.queries if not q.answerable]
    assert found == expected["unanswerable_questions"]
    for place in found:
        for evidence in instance.queries[place].evidence:
            assert evidence.status == "none_by_design"
            assert evidence.references
            assert not evidence.turns
            assert not evidence.sessions


def test_sample_answers(instance, expected):
    for place, text in expected["answer_as_text"].items():
        assert instance.queries[int(place)].answer == text
        assert instance.queries[int(place)].answer_raw == int(text)
    assert instance.queries[12].answer is None
    assert instance.queries[14].answer == "No"


def test_repeated_questions_stay_apart_and_share_a_family(instance, expected):
    for one, two in expected["duplicate_question_texts"]:
        first, second = instance.queries[one], instance.queries[two]
        assert first.text == second.text
        assert first.id != second.id
        assert first.family == second.family == "conv-901/3:0"
    assert instance.queries[7].family is None  # no evidence


def test_text_is_unchanged_and_the_image_query_stays_out(instance):
    assert instance.sessions[0].turns[1].text == " Nice, I adopted a goat named Pim. "
    assert instance.sessions[0].turns[2].caption == "a photo of a blue vase on a table"
    assert b"cobalt moon vase" not in msgspec.json.encode(instance)


def test_times(instance):
    assert instance.sessions[0].time == datetime(2023, 5, 8, 13, 56)
    assert instance.sessions[3].time == datetime(2023, 11, 11, 0, 6)


def test_the_layouts_hold_the_same(sample, tmp_path, instance):
    archive = tmp_path / "locomo10.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("data/README", "x")
        packed.writestr("__MACOSX/data/locomo10_v2/._901.json", "x")
        packed.write(sample / "zip_layout" / "901.json", "data/m/locomo10_v2/901.json")
    # The flat sample has neither observations nor summaries.
    told = [msgspec.structs.replace(session, derived=()) for session in instance.sessions]
    wanted = msgspec.structs.replace(instance, sessions=tuple(told))
    assert list(LocomoCorpus(archive)) == [wanted]
    folder = LocomoCorpus(sample / "zip_layout")
    assert list(folder) == [wanted]
    assert folder.info.sha256 != LocomoCorpus(archive).info.sha256


def test_flat_files_in_numeric_order(tmp_path):
    for number in (100, 9, 26):
        flat = conversation()
        (tmp_path / f"{number}.json").write_text(json.dumps(flat["conversation"] | {"qa": []}))
    (tmp_path / "notes.txt").write_text("ignored")
    assert [i.key for i in LocomoCorpus(tmp_path)] == ["conv-9", "conv-26", "conv-100"]


@pytest.mark.parametrize(
    ("reference", "gold"),
    [
        ("D1:2", ["D1:2"]),
        ("D01:002", ["D1:2"]),
        ("D:1:2", ["D1:2"]),
        ("D1:2,D1:1", ["D1:2", "D1:1"]),
        ("see D1:1 and D1:1", ["D1:1"]),
        ("d1:1", []),
        ("D0:1", []),
        ("D1:" + "9" * 5000, []),
        ("", []),
    ],
)
def test_tolerant_reading(tmp_path, reference, gold):
    (found,) = load(tmp_path, conversation(qa=[{**QUESTION, "evidence": [reference]}]))
    evidence = found.queries[0].reading("tolerant")
    assert [found.sessions[s].turns[t].id for s, t in evidence.turns] == gold
    assert bool(evidence.unresolved) is not bool(gold)


def test_info(tmp_path):
    info = load(tmp_path, conversation()).info
    assert (info.name, info.licence, info.tier) == ("locomo", "CC-BY-NC-4.0", "local-file")
    assert [p.name for p in info.populations] == [
        "strict-answerable",
        "tolerant-answerable",
        "all",
    ]


def test_a_session_without_a_date_has_no_time(tmp_path):
    turns = conversation()["conversation"]["session_1"]
    (found,) = load(tmp_path, conversation(conversation={"session_1": turns}))
    assert found.sessions[0].time is None


def session(*turns, date="1:56 pm on 8 May, 2023"):
    return {"session_1": list(turns), "session_1_date_time": date}


TURN = {"speaker": "A", "dia_id": "D1:1", "text": "one"}
QUESTION = {"question": "q?", "answer": "a", "evidence": ["D1:1"], "category": 4}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"qa": [{**QUESTION, "category": 6}]}, "unknown category 6"),
        ({"qa": [{"question": "q?"}]}, "missing required field `evidence`"),
        ({"qa": [{**QUESTION, "evidence": "D1:1"}]}, "got `str` - at `$[0].evidence`"),
        ({"qa": {}}, "`qa` is a dict"),
        ({"sample_id": 5}, "`sample_id` is a int"),
        ({"sample_id": ""}, "`sample_id` is empty"),
        ({"qa": [{**QUESTION, "question": ""}]}, "length >= 1 - at `$[0].question`"),
        ({"conversation": session({**TURN, "dia_id": ""})}, "length >= 1 - at `$[0].dia_id`"),
        ({"conversation": session({**TURN, "text": "a\0b"})}, "contains a NUL character"),
        ({"qa": [{**QUESTION, "answer": "\0"}]}, "[0].qa[0].answer"),
        ({"conversation": {}}, "the conversation has no session"),
        ({"conversation": {"session_1": "x"}}, "session_1"),
        ({"conversation": session({"speaker": "A"})}, "missing required field"),
        ({"conversation": session({**TURN, "text": 5})}, "got `int` - at `$[0].text`"),
        ({"conversation": session(TURN, TURN)}, "the turn id 'D1:1' is there twice"),
        ({"conversation": session(TURN, date="8 May 2023")}, "cannot understand the date"),
        ({"conversation": session(TURN, date="1:56 pm on 31 June, 2023")}, "cannot understand"),
        ({"conversation": session(TURN, date="13:00 pm on 8 May, 2023")}, "cannot understand"),
        ({"conversation": session(TURN, date=5)}, "cannot understand the date 5"),
    ],
)
def test_each_fault_gives_one_clear_error(tmp_path, changes, message):
    with pytest.raises(CorpusError) as caught:
        load(tmp_path, conversation(**changes))
    assert message in str(caught.value)
    assert str(tmp_path / "locomo.json")[:40] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_conversation_that_is_there_twice(tmp_path):
    with pytest.raises(CorpusError, match="'conv-1' is there twice"):
        load(tmp_path, conversation(), conversation())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[]", "the corpus is empty"),
        (b"{}", "the top level is not a JSON list"),
        (b"[5]", "expected an object"),
        (b"[{}]", "`sample_id` is missing"),
        (b'[{"sample_id": "a', "truncated JSON"),
        (b"[] x", "malformed JSON"),
        (b'[{"sample_id": "a", "sample_id": "b"}]', "the name 'sample_id' stands twice"),
        (b'["\xff"]', "invalid UTF-8 at byte 2"),
        (b"[]\x00", "a NUL byte at byte 2"),
        (b"PK\x03\x04 not a zip", "the archive is damaged"),
    ],
)
def test_files_that_are_no_locomo(tmp_path, data, message):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(CorpusError) as caught:
        LocomoCorpus(path)
    assert message in str(caught.value)


def test_a_folder_or_archive_without_conversations(tmp_path):
    with pytest.raises(CorpusError, match=r"holds no <number>\.json"):
        LocomoCorpus(tmp_path)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("1.json", "{}")
    with pytest.raises(CorpusError, match="holds no locomo10_v2"):
        LocomoCorpus(tmp_path / "a.zip")


def test_an_archive_that_unpacks_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(locomo_files, "LARGEST", 1000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("locomo10_v2/1.json", " " * 100_000)
    with pytest.raises(CorpusError, match="more than 1,000 bytes"):
        LocomoCorpus(tmp_path / "a.zip")


def test_a_damaged_member(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("locomo10_v2/1.json", json.dumps({"text": "x" * 500}))
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(CorpusError, match="damaged"):
        LocomoCorpus(path)


def test_a_turn_of_ten_megabytes(tmp_path):
    big = "y" * (10 << 20)
    (found,) = load(tmp_path, conversation(conversation=session({**TURN, "text": big})))
    assert found.sessions[0].turns[0].text == big
