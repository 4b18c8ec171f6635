import json
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from memruler.errors import InstrumentError, Interrupted, Refusal, UsageError
from memruler.judges.asking import Asker
from memruler.judges.budget import Budget, Prices
from memruler.judges.chat import Chat, RefusedRequestError
from memruler.judges.replies import Replies, reply_key
from memruler.judges.rubric import Message
from memruler.scoring.graders.base import Ask

pytest.importorskip("openai", reason="needs memruler[llm]")

CHILD = Path(__file__).with_name("asking_child.py")
SECRET = "sk-very-secret-0123456789"  # noqa: S105 - invented


def user(text):
    return [Message("user", text)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "replies.sqlite"


@pytest.fixture
def ask(server, path):
    """Open an asker on the one file of replies, as each call of a verb does."""
    opened = []

    def build(*, draw="", budget=None, kept=True, **chat):
        replies = Replies(path) if kept else None
        asker = Asker(Chat(server.url, "m", **chat), replies=replies, budget=budget, draw=draw)
        opened.append(asker)
        return asker

    yield build
    for asker in opened:
        asker.close(30)


def test_a_reply_is_paid_for_once(server, ask):
    server.say = lambda text: f"{text} {len(server.seen)}"
    first, again = ask(), ask()
    assert first.ask(user("a")).text == "a 1"
    assert first.ask(user("a")).text == "a 1"
    assert again.ask(user("a")).text == "a 1"
    assert again.ask(user("a"), max_tokens=5).text == "a 2"
    assert again.ask(user("a"), repeat=1).text == "a 3"
    assert again.repeat(1)(user("a")).reused
    assert ask(draw="x").ask(user("a")).text == "a 4"
    assert ask(temperature=0.5).ask(user("a")).text == "a 5"
    assert ask(extra={"cache_prompt": False}).ask(user("a")).text == "a 6"
    assert ask(kept=False).ask(user("a")).text == "a 7"


def test_it_is_what_a_grader_asks(server, ask):
    asker = ask(max_tokens=100)
    judge: Ask = asker
    assert judge(user("a"), max_tokens=10).text == "supports"
    assert server.seen[0]["max_tokens"] == 10


def test_what_it_cost_now_and_in_all(server, ask):
    server.say = lambda _: "a b"
    prices = Prices(prompt=1.0, completion=2.0)
    first = ask()
    first.ask(user("x y z"))
    budget = Budget(prices)
    again = ask(budget=budget)
    again.ask(user("x y z"))
    again.ask(user("x y z"))
    again.ask(user("x y"))
    now, total = again.usage(), again.usage_total()
    assert (now.requests, now.reused, now.prompt_tokens, now.completion_tokens) == (1, 2, 2, 2)
    assert now.cost == pytest.approx(6e-6, rel=1e-12)
    assert (total.requests, total.reused) == (2, 0)
    assert (total.prompt_tokens, total.completion_tokens) == (5, 4)
    assert total.cost == pytest.approx(13e-6, rel=1e-12)


def test_the_same_request_from_many_threads_is_sent_once(server, ask):
    asker, go = ask(), threading.Event()
    server.say = lambda _: go.wait(30) and "yes"
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(asker.ask, user("same")) for _ in range(8)]
        go.set()
        replies = [one.result() for one in waiting]
    assert len(server.seen) == 1
    assert {reply.text for reply in replies} == {"yes"}
    assert sum(not reply.reused for reply in replies) == 1
    assert (asker.usage().requests, asker.usage().reused) == (1, 7)


@pytest.mark.usefixtures("no_waiting")
def test_an_error_is_that_of_all_who_wait_and_is_not_kept(server, ask):
    asker, go = ask(), threading.Event()
    server.say = lambda _: (go.wait(30) and 401, {})
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(asker.ask, user("same")) for _ in range(4)]
        go.set()
        assert all(isinstance(one.exception(), InstrumentError) for one in waiting)
    server.say = lambda _: "fine"
    assert asker.ask(user("same")).text == "fine"


OUTCOMES = {
    "empty": ({"text": ""}, ""),
    "null": ({"text": None}, ""),
    "cut off": ({"text": "so", "finish": "length"}, "so"),
    "empty and cut off": ({"text": None, "finish": "length"}, ""),
    "filtered": ({"text": None, "finish": "content_filter"}, "the filter of the server"),
    "filtered on its way": ({"text": "so", "finish": "content_filter"}, "the filter"),
    "refused": ({"text": None, "refusal": "I must not\x1b"}, "I must not"),
    "refused and answered": ({"text": "so", "refusal": "I must not"}, "so"),
}
REFUSED = {"filtered", "filtered on its way", "refused"}


@pytest.mark.parametrize("name", OUTCOMES)
def test_what_becomes_of_odd_replies(server, ask, name):
    """All of them were paid for: none is asked for again."""
    said, expected = OUTCOMES[name]
    server.finish, server.refusal = said.get("finish", "stop"), said.get("refusal")
    server.say = lambda _: said["text"]
    for asker in (ask(), ask()):
        if name in REFUSED:
            with pytest.raises(RefusedRequestError, match=expected) as caught:
                asker.ask(user("a"))
            assert "\x1b" not in str(caught.value)
        else:
            assert asker.ask(user("a")).text == expected
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_the_server_refuses_is_asked_again_the_next_time(server, ask, status):
    server.say = lambda _: (status, {"error": {"message": "too long"}})
    asker = ask()
    for _ in range(2):
        with pytest.raises(RefusedRequestError, match="too long"):
            asker.ask(user("a"))
    assert len(server.seen) == 2
    assert asker.usage().requests == 0


def test_the_identity(server, ask):
    asker = ask(seed=3, max_tokens=9, extra={"top_k": 1})
    before = asker.identity("reader", "ab")
    assert (before.served, before.system_fingerprint) == (None, None)
    assert before.settings == {
        "temperature": 0.0,
        "seed": 3,
        "max_tokens": 9,
        "extra": {"top_k": 1},
    }
    server.model, server.fingerprint = "m-1", "fp_b"
    asker.ask(user("a"))
    server.fingerprint = "fp_a"
    asker.ask(user("b"))
    found = asker.identity("reader", "ab")
    assert (found.kind, found.model, found.served) == ("openai-chat", "m", "m-1")
    assert (found.system_fingerprint, found.host) == ("fp_a, fp_b", server.host)
    assert (found.prompt, found.prompt_sha256) == ("reader", "ab")
    assert found.honoured == {"temperature": "unknown", "seed": "unknown"}
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found
    kept = ask(seed=3, max_tokens=9, extra={"top_k": 1})
    kept.ask(user("a"))  # a reply that was kept tells who gave it
    assert kept.identity("reader", "ab").served == "m-1"
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("settings", "same", "expected"),
    [
        ({}, True, {"temperature": "yes (2 repeats identical)"}),
        ({}, False, {"temperature": "no (2 of 2 repeats differ)"}),
        ({"temperature": 1.0}, True, {"temperature": "unknown"}),
        (
            {"temperature": 1.0, "seed": 1},
            True,
            {"temperature": "unknown", "seed": "yes (2 repeats identical)"},
        ),
        (
            {"seed": 1},
            False,
            {"temperature": "no (2 of 2 repeats differ)", "seed": "no (2 of 2 repeats differ)"},
        ),
        ({"temperature": None}, True, {}),
    ],
)
def test_what_the_server_honoured_is_what_was_seen(server, ask, settings, same, expected):
    server.say = lambda _: "yes" if same else f"yes {len(server.seen)}"
    asker = ask(**settings)
    asker.ask(user("another"))
    for repeat in (0, 1, 2, 2):
        asker.ask(user("a"), repeat=repeat)
    assert asker.identity("p", "").honoured == expected


def test_a_setting_that_is_refused_is_not_honoured(server, ask):
    error = {"error": {"message": "no", "param": "temperature"}}
    server.say = lambda _: (400, error)
    asker = ask()
    with pytest.raises(InstrumentError, match="does not take temperature"):
        asker.ask(user("a"))
    assert asker.identity("p", "").honoured == {"temperature": "no (the server refused it)"}


def test_another_model_than_that_of_the_kept_replies_stops_the_work(server, ask):
    ask().ask(user("a"))
    server.model = "another"
    asker = ask()
    asker.ask(user("a"))
    with pytest.raises(InstrumentError, match=r"model another instead of m.*--draw"):
        asker.ask(user("b"))
    assert ask(draw="new").ask(user("a")).served == "another"


def test_a_cap_stops_before_it_is_broken(server, ask):
    asker = ask(max_tokens=10, budget=Budget(max_total_tokens=300))
    asker.ask(user("a b"))  # at most 285, used 3
    asker.ask(user("b"))
    asker.ask(user("x" * 11))  # 5 used, at most 293
    with pytest.raises(Interrupted, match="cap of 300 tokens"):
        asker.ask(user("x" * 17))
    with pytest.raises(Interrupted):
        asker.ask(user("c"))
    assert asker.ask(user("b")).reused  # what is kept costs nothing
    assert len(server.seen) == 3


def test_a_cap_where_the_server_does_not_count(server, ask):
    server.counted = False
    asker = ask(max_tokens=10, budget=Budget(max_total_tokens=10_000))
    assert asker.ask(user("a")).text == "supports"
    with pytest.raises(Refusal):
        asker.ask(user("b"))
    again = ask(max_tokens=10, budget=Budget(max_total_tokens=10_000))
    with pytest.raises(Refusal):
        again.ask(user("a"))
    assert len(server.seen) == 1
    with pytest.raises(UsageError):
        ask(budget=Budget(max_total_tokens=10_000)).ask(user("a"))


def test_what_is_under_way_is_kept_when_it_is_left(server, ask):
    asker, go, came = ask(), threading.Event(), threading.Event()
    server.say = lambda _: came.set() or (go.wait(30) and "late")
    thread = threading.Thread(target=asker.ask, args=(user("a"),), daemon=True)
    thread.start()
    assert came.wait(30)
    threading.Timer(0.05, go.set).start()
    with pytest.raises(InstrumentError, match="gone"), asker:
        raise InstrumentError("gone")
    thread.join(30)
    assert ask().ask(user("a")).text == "late"
    assert len(server.seen) == 1
    with pytest.raises(Interrupted):
        asker.ask(user("b"))


def test_a_person_who_stops_is_not_kept_waiting(server, ask):
    asker, go, came = ask(kept=False), threading.Event(), threading.Event()
    server.say = lambda _: came.set() or (go.wait(60) and "late")
    thread = threading.Thread(target=asker.ask, args=(user("a"),), daemon=True)
    thread.start()
    assert came.wait(30)
    with pytest.raises(KeyboardInterrupt), asker:
        raise KeyboardInterrupt
    assert thread.is_alive()  # it was not waited for
    go.set()
    thread.join(30)


def test_no_key_is_stored(server, path, ask, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    server.fingerprint = f"you sent {SECRET}"
    server.say = lambda _: f"you sent {SECRET}"
    asker = ask()
    assert asker.ask(user("a")).text == "you sent ***"
    assert SECRET not in str(asker.identity("p", ""))
    asker.close()
    assert server.keys == [f"Bearer {SECRET}"]
    assert all(SECRET.encode() not in one.read_bytes() for one in path.parent.glob("replies*"))


def test_two_keys_share_their_replies(server, ask, monkeypatch):
    server.say = lambda _: "yes"
    ask().ask(user("a"))
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert ask().ask(user("a")).reused


def _child(server, path, *, parallel=4, cap="-"):
    command = [sys.executable, str(CHILD), server.url, str(path), str(parallel), str(cap)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _finished(child):
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    return json.loads(out)


def _question(body):
    return body["messages"][-1]["content"]


def _kept(path):
    """The questions whose replies are on the disk."""
    kept = set()
    with closing(Replies(path)) as replies:
        for n in range(40):
            key = reply_key(
                endpoint=_kept.endpoint,
                model="m",
                messages=user(f"question {n}"),
                body={"temperature": 0.0, "seed": 1, "max_tokens": 8},
            )
            if replies.get(key) is not None:
                kept.add(f"question {n}")
    return kept


@pytest.mark.parametrize("after", [1, 17, 36])
def test_a_kill_loses_no_paid_reply_and_pays_for_none_twice(server, path, tmp_path, after):
    """Killed while requests are under way, then called again."""
    _kept.endpoint = server.url
    parallel, enough, killed = 4, threading.Event(), threading.Event()
    asked = Counter()

    def say(text):
        with server.lock:
            nth = asked[text]
            asked[text] += 1
            if sum(asked.values()) > after:
                enough.set()
        if enough.is_set():
            killed.wait(60)  # under way when the kill comes
        return f"{text} answered, try {nth}"

    server.say = say
    child = _child(server, path, parallel=parallel)
    assert enough.wait(60)
    child.kill()
    child.communicate(timeout=60)
    killed.set()
    before = [_question(body) for body in server.seen]
    kept = _kept(path)
    assert len(before) == len(set(before))
    assert 0 <= len(before) - len(kept) <= parallel
    assert len(kept) > after - parallel

    resumed = _finished(_child(server, path, parallel=parallel))
    since = [_question(body) for body in server.seen[len(before) :]]
    assert not set(since) & kept  # no reply that was kept is paid for again
    assert sorted(since) == sorted({f"question {n}" for n in range(40)} - kept)
    assert len(set(since) & set(before)) <= parallel
    assert resumed["paid"] == len(since)
    by_try = {text.split(" answered, ")[0]: text[-1] for text in resumed["texts"]}
    assert all(by_try[question] == "0" for question in kept)

    # The same as if nobody had been killed.
    asked.clear()
    enough.clear()
    after = 1_000
    whole = _finished(_child(server, tmp_path / "fresh.sqlite", parallel=parallel))
    assert whole["paid"] == 40
    assert [t.rsplit(",", 1)[0] for t in resumed["texts"]] == [
        t.rsplit(",", 1)[0] for t in whole["texts"]
    ]
    # And a third call pays for nothing.
    assert _finished(_child(server, path, parallel=parallel)) == {**resumed, "paid": 0}


def test_a_cap_loses_no_reply_and_can_be_gone_on_from(server, path):
    """Each call may use so much; together they finish, and nothing is asked twice."""
    server.say = lambda text: f"{text} answered"
    calls = 0
    while True:
        calls += 1
        child = _child(server, path, cap=480)
        _, err = child.communicate(timeout=120)
        if child.returncode == 0:
            break
        assert b"Interrupted" in err
        assert b"the cap of 480 tokens is reached" in err
        assert calls == 1
    # A request may use 291 and uses 5: the first call ends at 190, after 38 of the 40.
    assert calls == 2
    questions = [_question(body) for body in server.seen]
    assert sorted(questions) == sorted(f"question {n}" for n in range(40))
