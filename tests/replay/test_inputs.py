from datetime import datetime

import msgspec

from memruler.model.corpus import Evidence, Instance, Query, Session, Turn, TurnRef
from memruler.replay.inputs import TextForm, instance_inputs, sessions_in_order
from memruler.replay.timeline import InstanceClock

OLD, NEW = datetime(2023, 5, 1), datetime(2023, 6, 1)
CLOCK = InstanceClock(NEW)


def build(gold="answer_x"):
    first = Turn(position=0, speaker="Ann", text="hello", id=gold, caption="a cat", tags=("b", "a"))
    second = Turn(position=1, speaker="Bo", text="bye", id=f"{gold}_2", importance=0.9)
    other = Turn(position=0, speaker="Ann", text="old", id="filler")
    return Instance(
        position=0,
        key=gold,
        sessions=(
            Session(position=0, id=gold, time=NEW, turns=(first, second)),
            Session(position=1, id="empty", time=OLD, turns=()),
            Session(position=2, id="filler", time=OLD, turns=(other,)),
        ),
        queries=(
            Query(
                position=0,
                text="?",
                category="c",
                id=gold,
                answer=gold,
                evidence=(Evidence(rule="r", status="ok", sessions=(0,), references=(gold,)),),
            ),
        ),
    )


def test_sessions_come_by_time_and_keys_map_back_to_positions():
    inputs = instance_inputs(build(), CLOCK, TextForm(), "turn")
    assert [s.key for s in inputs.sessions] == ["s0000", "s0001"]
    assert inputs.sessions[0].turns[0].text == "Ann: old"
    assert inputs.positions["s0000.t0000"] == TurnRef(2, 0)
    assert inputs.positions["s0001.t0001"] == TurnRef(0, 1)
    assert inputs.positions["s0001"] == TurnRef(0, -1)


def test_an_undated_session_stays_behind_the_one_before_it():
    turn = (Turn(position=0, speaker="A", text="x"),)
    sessions = [
        Session(position=0, time=NEW, turns=turn),
        Session(position=1, time=None, turns=turn),
        Session(position=2, time=OLD, turns=turn),
    ]
    instance = Instance(position=0, key="i", sessions=tuple(sessions), queries=())
    assert [s.position for s in sessions_in_order(instance)] == [2, 0, 1]


def test_no_label_reaches_the_inputs():
    encoded = msgspec.json.encode(instance_inputs(build(), CLOCK, TextForm(), "turn").sessions)
    renamed = msgspec.json.encode(instance_inputs(build("zzz"), CLOCK, TextForm(), "turn").sessions)
    assert encoded == renamed
    assert b"answer" not in encoded


def test_text_forms():
    turn = build().sessions[0].turns[0]
    assert TextForm(speaker=False).turn(turn) == "hello"
    assert TextForm(captions=True).turn(turn) == "Ann: hello [image: a cat]"
    assert TextForm(date=True).prefix(OLD) == "[2023-05-01] "
    assert TextForm(date=True).prefix(None) == ""
    assert TextForm().prefix(OLD) == ""


def test_a_blank_turn_stays_blank():
    blank = Turn(position=0, speaker="Ann", text=" \n", caption="a cat")
    assert TextForm().turn(blank) == " \n"
    assert TextForm(captions=True).turn(blank) == "Ann:  \n [image: a cat]"
    session = Session(position=0, time=OLD, turns=(blank,))
    instance = Instance(position=0, key="i", sessions=(session,), queries=())
    inputs = instance_inputs(instance, CLOCK, TextForm(date=True), "turn")
    assert inputs.sessions[0].turns[0].text == " \n"


def test_a_whole_session_is_one_unit():
    inputs = instance_inputs(build(), CLOCK, TextForm(date=True), "session")
    unit = inputs.sessions[1].turns[0]
    assert unit.key == "s0001"
    assert unit.text == "[2023-06-01] Ann: hello\nBo: bye"
    assert unit.tags == ("a", "b")
    assert inputs.positions == {"s0000": TurnRef(2, -1), "s0001": TurnRef(0, -1)}
