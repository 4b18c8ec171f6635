"""Hook events: their order, cap and prefix, and that each is sent until it is taken."""

from datetime import datetime

import pytest

from memruler.errors import SystemUnderTestError
from memruler.model.system import SessionInput, TurnInput
from memruler.systems.remote.hook import excerpt, hook_call, role_of, send_all, session_events
from memruler.systems.remote.spec import HookPolicy
from memruler.systems.remote.template import Values

DAY = datetime(2024, 5, 6, 7, 8)


def session(*texts):
    turns = tuple(
        TurnInput(key=f"t{n}", text=text, speaker=("Ann", "Bob")[n % 2], time=DAY)
        for n, text in enumerate(texts)
    )
    return SessionInput(key="s", turns=turns, time=DAY)


def events(*texts, **policy):
    cut = []
    made = list(session_events(session(*texts), "Ann", HookPolicy(**policy), cut.append))
    return made, [turn.key for turn in cut]


@pytest.mark.parametrize("text", ["ä" * 1024, "€" * 700, "🙂" * 600, "a" * 3000])
def test_an_excerpt_is_cut_on_the_border_of_a_character(text):
    short = excerpt(text, 2048)
    assert text.startswith(short)
    assert 2044 < len(short.encode()) <= 2048


def test_a_text_at_the_cap_is_whole():
    assert excerpt("a" * 2048, 2048) == "a" * 2048
    assert excerpt("€", 2) == ""


def test_only_what_the_assistant_says_is_cut_and_each_such_unit_is_told():
    made, cut = events("u" * 3000, "a" * 3000, "u", "short")
    assert cut == ["t1"]
    assert [len(event.text or "") for event in made] == [0, 13 + 3000, 13 + 2048, 14, 18, 0]


def test_the_order_of_events():
    made, _ = events("hello", "hi")
    assert [event.event for event in made] == [
        "session-start", "user-prompt-submit", "stop", "session-end",
    ]  # fmt: skip
    assert made[1].text == "[2024-05-06] hello"
    assert "text" not in made[0].body()


def test_the_date_can_be_left_out_and_never_stands_twice():
    assert events("hello", date_prefix=False)[0][1].text == "hello"
    assert events("[2024-05-06] hello")[0][1].text == "[2024-05-06] hello"


@pytest.mark.parametrize(
    ("speaker", "role"),
    [("User", "user"), ("AI", "assistant"), ("Ann", "user"), ("Bob", "assistant")],
)
def test_roles(speaker, role):
    assert role_of(speaker, "Ann") == role


def test_braces_of_a_text_are_sent_as_they_are():
    made, _ = events("{text} }{ {env:HOME}", date_prefix=False)
    body = Values({}).fill(hook_call(HookPolicy(), "a{b}", made).body)
    assert body["workspace"] == "a{b}"
    assert body["items"][1]["text"] == "{text} }{ {env:HOME}"


def send(made, answer, **policy):
    waits, batches = [], []

    def post(batch):
        batches.append([event.id for event in batch])
        return {"results": [answer(event.id, len(batches)) for event in batch]}

    return send_all(made, HookPolicy(**policy), post, waits.append), batches, waits


def test_what_is_put_off_is_sent_again_alone_until_it_is_taken():
    made, _ = events("a", "b")

    def answer(name, round_):
        late = {"t0": 3, "t1": 2}.get(name, 1) > round_
        return {"id": name, "status": ("skipped" if late else "accepted"), "item": f"i-{name}"}

    taken, batches, waits = send(made, answer)
    assert batches == [["s:start", "t0", "t1", "s:end"], ["t0", "t1"], ["t0"]]
    assert (taken["t0"].item, waits) == ("i-t0", [0.2, 0.4])


@pytest.mark.parametrize("status", ["throttled", "skipped", "nonsense"])
def test_what_is_never_taken_is_a_failure(status):
    made, _ = events("a")
    rounds = set()

    def answer(name, round_):
        rounds.add(round_)
        return {"id": name, "status": status if name == "t0" else "accepted"}

    said = rf"1 hook .* never accepted \({status}\)"
    with pytest.raises(SystemUnderTestError, match=said) as caught:
        send(made, answer, resend=2)
    assert caught.value.kind == "throttled"
    assert rounds == {1, 2, 3}


def test_what_is_not_spoken_of_is_missing():
    made, _ = events("a")
    with pytest.raises(SystemUnderTestError, match="missing"):
        send(made, lambda *_: {"id": "other", "status": "accepted"}, resend=0)


def test_batches_and_refusals():
    made, _ = events("a", "b")
    reply = {"status": "refused", "reason": "blank"}
    taken, batches, _ = send(made, lambda name, _: {"id": name, **reply}, batch=3)
    assert [len(batch) for batch in batches] == [3, 1]
    assert taken["t0"].refused == "blank"


@pytest.mark.parametrize("reply", [None, [], {}, {"results": {}}, {"results": [1]}])
def test_a_reply_without_results_is_malformed(reply):
    made, _ = events("a")
    with pytest.raises(SystemUnderTestError, match="no list `results`"):
        send_all(made, HookPolicy(), lambda _: reply)
