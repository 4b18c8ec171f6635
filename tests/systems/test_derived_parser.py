import hashlib
import subprocess
import sys
from datetime import datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memruler.model.system import SessionInput, TurnInput
from memruler.systems.builtin.forms import as_given
from memruler.systems.derived.parser import Parser
from memruler.systems.derived.settings import Stored
from memruler.systems.derived.speech import LONGEST_UNIT

SAID = datetime(2023, 5, 8, 13, 56)


def talk(*lines, key="s0003", time=SAID):
    made = [
        TurnInput(
            key=f"{key}.t{n:04d}",
            text=f"{speaker}: {text}",
            speaker=speaker,
            time=time,
            tags=(speaker.lower(),),
            importance=n / 10,
        )
        for n, (speaker, text) in enumerate(lines)
    ]
    return SessionInput(key=key, turns=tuple(made), time=time)


TALK = talk(
    ("Ann", "Hi Bob! I adopted a dog yesterday, and we named him Rex."),
    ("Bob", "Congrats!"),
    ("Ann", ""),
    ("Ann", "He sleeps."),
)


def kinds(forms):
    return [(form.kind, form.sources, form.text) for form in forms]


def test_a_session_by_hand():
    first, second, third, fourth = (turn.key for turn in TALK.turns)
    assert kinds(Parser(Stored(facts=2))(TALK)) == [
        ("turn", (first,), "Ann: Hi Bob! I adopted a dog yesterday, and we named him Rex."),
        ("fact", (first,), "Ann: I adopted a dog yesterday (7 May 2023)"),
        ("fact", (first,), "Ann: we named him Rex."),
        ("turn", (second,), "Bob: Congrats!"),
        ("fact", (second,), "Bob: Congrats!"),
        ("turn", (third,), "Ann: "),
        ("turn", (fourth,), "Ann: He sleeps."),
        ("fact", (fourth,), "Ann: He sleeps."),
        ("timeline", (first,), "7 May 2023: Ann: I adopted a dog yesterday"),
        (
            "summary",
            (first, fourth),
            "Ann: I adopted a dog yesterday, and we named him Rex. Ann: He sleeps.",
        ),
    ]


def test_each_form_can_be_left_out():
    everything = kinds(Parser(Stored())(TALK))
    for off, kind in (
        (Stored(raw=False), "turn"),
        (Stored(facts=0), "fact"),
        (Stored(timeline=False), "timeline"),
        (Stored(summaries=False), "summary"),
    ):
        assert kinds(Parser(off)(TALK)) == [form for form in everything if form[0] != kind]


def test_a_form_carries_what_a_caller_set():
    for form in Parser(Stored())(TALK):
        if form.kind == "summary":
            assert (form.time, form.tags, form.importance) == (SAID, ("ann",), None)
        else:
            place = int(form.sources[0][-1])
            turn = TALK.turns[place]
            assert (form.time, form.tags, form.importance) == (SAID, turn.tags, place / 10)


def test_a_whole_session_in_one_unit():
    text = "\n".join(turn.text for turn in TALK.turns)
    unit = TurnInput(key="s0003", text=text, speaker="", time=SAID)
    forms = kinds(Parser(Stored())(SessionInput(key="s0003", turns=(unit,), time=SAID)))
    assert {sources for _, sources, _ in forms} == {("s0003",)}
    assert forms[0] == ("session", ("s0003",), text)
    assert forms[1][0::2] == ("fact", "Ann: I adopted a dog yesterday (7 May 2023)")
    assert [form[2] for form in forms if form[0] == "timeline"] == [
        "7 May 2023: Ann: I adopted a dog yesterday"
    ]
    assert forms[-1][2] == "Ann: I adopted a dog yesterday, and we named him Rex. Ann: He sleeps."


def test_a_huge_unit_is_bounded_and_told():
    parser = Parser(Stored(facts=8))
    text = "On 3 May we saw two lakes; " * (10_000_000 // 27)
    forms = parser(talk(("Ann", text)))
    assert forms[0].text == f"Ann: {text}"
    assert len(forms) <= 1 + 8 + 8 + 1
    assert max(len(form.text) for form in forms[1:]) < 1000
    assert parser.cut == 1
    parser(talk(("Ann", "x" * (LONGEST_UNIT - 5))))
    assert parser.cut == 1


TEXT = st.text(st.characters() | st.sampled_from("AI.,;?! \n\ud800"), max_size=120)
TALKS = st.builds(
    lambda lines, time: talk(*lines, time=time),
    st.lists(st.tuples(st.sampled_from(["Ann", "Bob", ""]), TEXT), min_size=1, max_size=8),
    st.none() | st.datetimes(),
)


@given(TALKS)
def test_any_session(session):
    keys = [turn.key for turn in session.turns]
    forms = Parser(Stored(facts=8))(session)
    assert [form for form in forms if form.kind == "turn"] == as_given(session)
    for form in forms:
        assert form.sources == tuple(key for key in keys if key in form.sources) != ()
        assert form.kind == "turn" or form.text.strip()
    assert sum(form.kind == "summary" for form in forms) <= 1
    made = kinds(form for form in forms if form.kind != "summary")
    parts = [
        kinds(Parser(Stored(facts=8, summaries=False))(SessionInput(key="s", turns=(turn,))))
        for turn in session.turns
    ]
    facts = [form for form in made if form[0] == "fact"]
    for part in parts:
        own = [form[2] for form in facts if form[1] == part[0][1]]
        assert len(set(own)) == len(own) <= 8


@given(TALKS, st.integers(0, 8))
def test_fewer_facts_are_the_first_of_more_in_a_store(session, count):
    many = [form for form in Parser(Stored(facts=8))(session) if form.kind == "fact"]
    few = [form for form in Parser(Stored(facts=count))(session) if form.kind == "fact"]
    for turn in session.turns:
        own = [form for form in many if form.sources == (turn.key,)]
        assert [form for form in few if form.sources == (turn.key,)] == own[:count]


@given(TALKS, TALKS)
def test_nothing_of_one_session_shows_in_the_next(one, other):
    parser = Parser(Stored())
    parser(one)
    assert parser(other) == Parser(Stored())(other)


def test_the_order_of_hashes_changes_nothing():
    code = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('talks', sys.argv[1])\n"
        "talks = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(talks)\n"
        "print(talks.digest())"
    )
    digests = set()
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", code, __file__],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        )
        digests.add(done.stdout.strip())
    assert digests == {digest()}


def digest():
    """SHA-256 over what becomes of this project's own documents, read as a talk."""
    pages = sorted((Path(__file__).resolve().parents[2] / "docs").glob("*.md"))[:8]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    said = [("Ann" if n % 2 else "Bob", text) for n, text in enumerate(texts)]
    forms = Parser(Stored(facts=8))(talk(*said))
    assert len(forms) > 50
    return hashlib.sha256(repr(forms).encode()).hexdigest()
