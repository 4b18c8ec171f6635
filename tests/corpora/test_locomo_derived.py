"""LoCoMo's own observations and session summaries: counts from the real file, traps by hand."""

import json
from collections import Counter

import pytest

from memruler.corpora.locomo import LocomoCorpus
from memruler.corpora.oddities import Observed
from memruler.errors import CorpusError

TURNS = [{"speaker": "A", "dia_id": f"D1:{n}", "text": f"turn {n}"} for n in range(1, 6)]
NEXT = [{"speaker": "A", "dia_id": "D2:1", "text": "later"}]


def conversation(observation=None, summary=None):
    """Two sessions of which the first has `observation` by A, and `summary`."""
    said = {
        "session_1": TURNS,
        "session_2": NEXT,
        "session_3": [],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
    }
    own = {}
    if observation is not None:
        own["observation"] = {"session_1_observation": {"A": observation}}
    if summary is not None:
        own["session_summary"] = {"session_1_summary": summary}
    return said, {"qa": [], **own}


def load(tmp_path, said, beside):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": said, **beside}]))
    return LocomoCorpus(path)


def derived(tmp_path, *parts):
    (found,) = load(tmp_path, *parts)
    return found.sessions[0].derived


def test_counts_of_the_real_file(locomo_path):
    corpus = LocomoCorpus(locomo_path)
    assert corpus.info.derived == ("fact", "summary")
    assert corpus.info.notes == ()
    sessions = [session for instance in corpus for session in instance.sessions]
    found = [one for session in sessions for one in session.derived]
    assert Counter(one.kind for one in found) == {"fact": 2541, "summary": 272}
    assert all(one.turns for one in found if one.kind == "fact")
    assert all(one.turns == () for one in found if one.kind == "summary")
    assert all(session.derived[-1].kind == "summary" for session in sessions)
    assert len({one.id for one in found}) == len(found)


def test_every_reference_of_the_real_file_resolves(locomo_path):
    """Read from the file by other code: a string, a string of several, or a list."""
    shapes = Counter()
    instances = zip(json.loads(locomo_path.read_text()), LocomoCorpus(locomo_path), strict=True)
    for raw, instance in instances:
        for session in instance.sessions:
            facts = [one for one in session.derived if one.kind == "fact"]
            written = [
                (speaker, text, evidence)
                for speaker, texts in raw["observation"][f"{session.id}_observation"].items()
                for text, evidence in texts
            ]
            for fact, (speaker, text, evidence) in zip(facts, written, strict=True):
                if isinstance(evidence, list):
                    shape, names = "list", evidence
                else:
                    names = evidence.split(", ")
                    shape = "one" if len(names) == 1 else "joined"
                shapes[shape] += 1
                assert (fact.speaker, fact.text) == (speaker, text)
                assert [session.turns[turn].id for turn in fact.turns] == names
    assert shapes == {"one": 2526, "joined": 5, "list": 10}


@pytest.mark.parametrize(
    ("evidence", "turns"),
    [
        ("D1:1", (0,)),
        (" D1:2 ", (1,)),
        ("D1:3, D1:1", (0, 2)),
        ("D1:1,D1:2;D1:3 D1:4", (0, 1, 2, 3)),
        (["D1:4", "D1:2"], (1, 3)),
        (["D1:4", "D1:2, D1:1"], (0, 1, 3)),
        (["D1:5", "D1:5"], (4,)),
    ],
)
def test_evidence_that_resolves(tmp_path, evidence, turns):
    (fact,) = derived(tmp_path, *conversation([["said", evidence]]))
    assert (fact.kind, fact.turns, fact.speaker) == ("fact", turns, "A")


@pytest.mark.parametrize(
    "evidence",
    [
        *("", " ", [], [""]),
        *("D1:6", "D1:01", "d1:1", "D:1:1", "D1", "about D1:1", "D1:1,"),
        "D2:1",  # of another session
        *("D1:1, D1:6", ["D1:1", "D9:1"], ["D1:1", ""]),  # not even the part that resolves
    ],
)
def test_evidence_that_does_not_is_unknown_and_never_guessed(tmp_path, evidence):
    (fact,) = derived(tmp_path, *conversation([["said", evidence]]))
    assert fact.turns is None


def test_unknown_sources_are_counted(tmp_path):
    corpus = Observed(load(tmp_path, *conversation([["one", "D1:1"], ["two", ""], ["x", []]], "s")))
    assert len(list(corpus)) == 1
    assert corpus.notes()[-1] == (
        "2 derived memories whose evidence is no turn of their session: where they come from is "
        "unknown (the first: instance conv-1, session 0)"
    )


def test_observations_first_then_the_summary_with_texts_unchanged(tmp_path):
    found = derived(tmp_path, *conversation([[" a ", "D1:1"], ["", "D1:2"]], " all of it\n"))
    assert [(one.kind, one.text, one.turns, one.speaker) for one in found] == [
        ("fact", " a ", (0,), "A"),
        ("fact", "", (1,), "A"),
        ("summary", " all of it\n", (), ""),
    ]


def test_the_flat_layout_has_them_too(tmp_path):
    said, beside = conversation([["one", ["D1:1", "D1:2"]]], "all")
    (listed,) = load(tmp_path, said, beside)
    flat = tmp_path / "flat"
    flat.mkdir()
    (flat / "1.json").write_text(json.dumps({**said, **beside}))
    assert list(LocomoCorpus(flat)) == [listed]
    assert len(listed.sessions[0].derived) == 2


def test_what_belongs_to_no_session_with_turns_is_noted(tmp_path):
    own = {"session_3_observation": {"A": [["gone", "D3:1"]]}, "session_9_observation": {}}
    said, beside = conversation(summary="s", observation=None)
    corpus = load(tmp_path, said, {**beside, "observation": own})
    (note,) = corpus.info.notes
    assert note == (
        "2 lists of observations or summaries belong to no session with turns: they are not read "
        "(one of them: conv-1: session_3_observation)"
    )
    assert corpus.info.derived == ("summary",)
    assert all(not s.derived for i in corpus for s in i.sessions[1:])


@pytest.mark.parametrize("beside", [{}, {"observation": None, "session_summary": None}])
def test_a_file_without_them(tmp_path, beside):
    corpus = load(tmp_path, conversation()[0], {"qa": [], **beside})
    assert corpus.info.derived == ()
    assert corpus.info.notes == ()


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"observation": []}, "`observation` is a list"),
        ({"session_summary": "all"}, "`session_summary` is a str"),
        ({"observation": {"session_1_observation": []}}, "got `array`"),
        ({"observation": {"session_1_observation": {"A": [["x"]]}}}, "of length 2"),
        ({"observation": {"session_1_observation": {"A": [["x", None]]}}}, "got `null`"),
        ({"observation": {"session_1_observation": {"A": [["x", [1]]]}}}, "got `int`"),
        ({"session_summary": {"session_1_summary": 5}}, "got `int`"),
        ({"session_summary": {"session_1_summary": "a\0b"}}, "contains a NUL character"),
    ],
)
def test_each_fault_gives_one_clear_error(tmp_path, own, message):
    with pytest.raises(CorpusError) as caught:
        load(tmp_path, conversation()[0], {"qa": [], **own})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
