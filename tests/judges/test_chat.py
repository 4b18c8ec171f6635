import json
import logging
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memruler.errors import InstrumentError, UsageError
from memruler.judges.base import Judge
from memruler.judges.chat import Chat, ChatJudge, ChatReply, RefusedRequestError
from memruler.judges.rubric import Message, load_rubric
from memruler.net import sdk

pytest.importorskip("openai", reason="needs memruler[llm]")

SECRET = "sk-very-secret-0123456789"  # noqa: S105 - invented
RUBRIC = load_rubric("support")
CASE = {"question": "Who?", "answer": "Ann", "evidence": "Ann: me", "item": "It was Ann."}
ASK = [Message("user", "hello")]


def judge(server, **options):
    return ChatJudge(Chat(server.url, "m", **options), RUBRIC)


def test_a_label_over_the_protocol(server):
    found = judge(server).label(CASE)
    assert (found.label, found.reason, found.reply) == ("supports", None, "supports")
    (body,) = server.seen
    assert (body["model"], body["temperature"]) == ("m", 0.0)
    assert [said["role"] for said in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"] == RUBRIC.instructions
    assert "max_tokens" not in body


def test_no_temperature_is_sent_where_none_is_wanted(server):
    judge(server, temperature=None).label(CASE)
    assert "temperature" not in server.seen[0]


def test_the_identity_is_what_the_server_says(server):
    server.model = "m-2026-01-01"
    found = judge(server)
    assert isinstance(found, Judge)
    assert found.identity().served is None
    found.label(CASE)
    identity = found.identity()
    assert (identity.kind, identity.model, identity.served) == ("openai-chat", "m", "m-2026-01-01")
    assert identity.host == server.host
    assert (identity.rubric, identity.rubric_sha256) == ("support", RUBRIC.sha256)
    assert identity.prompt_sha256 == RUBRIC.prompt_sha256()


@pytest.mark.parametrize(
    ("served", "shown"),
    [
        ("/srv/models/m.gguf", "m.gguf"),
        ("C:\\models\\m", "m"),
        ("org/model", "org/model"),
        ("llama3:8b", "llama3:8b"),
    ],
)
def test_a_path_of_the_server_is_not_shown(server, served, shown):
    server.model = served
    found = judge(server)
    found.label(CASE)
    assert found.identity().served == shown


def test_another_model_stops_the_work(server):
    found = judge(server)
    found.label(CASE)
    server.model = "another"
    with pytest.raises(InstrumentError, match="model another instead of m"):
        found.label(CASE)
    with pytest.raises(InstrumentError, match="model another instead of before"):
        judge(server, served="before").label(CASE)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_case_that_is_refused_has_no_label(server, status):
    server.say = lambda _: (status, {"error": {"message": "too long"}})
    found = judge(server).label(CASE)
    assert found.label is None
    assert found.reply is None
    assert "too long" in found.reason
    with pytest.raises(RefusedRequestError):
        Chat(server.url, "m").ask(ASK)


FAULTS = {
    "no key": (401, {"error": {"message": "who are you"}}),
    "no model": (404, {"error": {"message": "no such model"}}),
    "not JSON": (200, b"<html>"),
    "not UTF-8": (200, b"\xff\xfe"),
    "no choices": (200, {"model": "m", "choices": []}),
    "null choices": (200, {"model": "m", "choices": None}),
    "nothing": (200, {}),
    "a list": (200, []),
    "text": (200, "supports"),
    "a number": (200, {"model": "m", "choices": [{"message": {"content": 1}}]}),
    "no message": (200, {"model": "m", "choices": [{}]}),
}


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_completion_stops_the_work(server, fault):
    server.say = lambda _: FAULTS[fault]
    with pytest.raises(InstrumentError, match="the server") as caught:
        judge(server).label(CASE)
    assert not isinstance(caught.value, RefusedRequestError)
    assert server.host in str(caught.value)
    # An answer with an error status is final; one that is no completion is asked for twice more.
    assert len(server.seen) == (1 if FAULTS[fault][0] != 200 else 3)


@pytest.mark.usefixtures("no_waiting")
def test_a_truncated_answer_is_asked_for_again(server):
    broken = server.completion({"model": "m", "messages": []}, "supports")
    cut = json.dumps(broken).encode()[:-40]
    server.say = lambda _: (200, cut) if len(server.seen) < 3 else "partial"
    assert judge(server).label(CASE).label == "partial"
    assert len(server.seen) == 3


@pytest.mark.usefixtures("no_waiting")
def test_an_error_inside_an_answer_is_shown(server):
    server.say = lambda _: (200, {"error": {"message": "no credit left"}})
    with pytest.raises(InstrumentError, match="no credit left"):
        Chat(server.url, "m").ask(ASK)


def test_every_setting_is_sent(server):
    chat = Chat(
        server.url,
        "m",
        temperature=0.5,
        seed=7,
        max_tokens=20,
        max_tokens_field="max_completion_tokens",
        extra={"cache_prompt": False, "chat": {"thinking": None}},
    )
    chat.ask(ASK)
    chat.ask(ASK, max_tokens=10)
    first, second = server.seen
    del first["messages"]
    assert first == {
        "model": "m",
        "temperature": 0.5,
        "seed": 7,
        "max_completion_tokens": 20,
        "cache_prompt": False,
        "chat": {"thinking": None},
    }
    assert second["max_completion_tokens"] == 10


def test_what_a_reply_brings_with_it(server):
    server.fingerprint, server.model = "fp_1\x1b", "m-2026"
    server.say = lambda _: "It was Ann."
    chat = Chat(server.url, "m")
    assert chat.ask(ASK) == ChatReply(
        text="It was Ann.",
        finish="stop",
        served="m-2026",
        system_fingerprint="fp_1\\x1b",
        prompt_tokens=1,
        completion_tokens=3,
    )
    assert chat.fingerprints == ["fp_1\\x1b"]


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": "3"}, {"prompt_tokens": -1}, {"prompt_tokens": True}]
)
def test_tokens_that_are_not_told_are_none(server, usage):
    reply = {**server.completion({"model": "m", "messages": []}, "yes"), "usage": usage}
    server.say = lambda _: (200, reply)
    found = Chat(server.url, "m").ask(ASK)
    assert (found.text, found.prompt_tokens, found.completion_tokens) == ("yes", None, None)


def test_a_refusal_in_its_own_field(server):
    server.refusal = "I must not"
    server.say = lambda _: None
    found = Chat(server.url, "m").ask(ASK)
    assert (found.text, found.refusal) == ("", "I must not")


def test_half_of_a_pair_is_replaced(server):
    server.say = lambda _: "a\ud83d"
    assert Chat(server.url, "m").ask(ASK).text == "a\ufffd"


REFUSED_SETTINGS = {
    "temperature": {"error": {"message": "no", "param": "temperature", "code": None}},
    "seed": {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
    "max_tokens": {
        "error": {"message": "no", "param": "max_tokens", "code": "unsupported_parameter"}
    },
    "top_k": {"error": {"message": "no", "param": "top_k", "code": "unknown_parameter"}},
}


@pytest.mark.parametrize("name", REFUSED_SETTINGS)
def test_a_setting_that_the_server_does_not_take_stops_the_work(server, name):
    """Otherwise every item would be unscored, for a reason that is none of theirs."""
    server.say = lambda _: (400, REFUSED_SETTINGS[name])
    chat = Chat(server.url, "m", seed=1, max_tokens=5, extra={"top_k": 1})
    with pytest.raises(InstrumentError, match=f"does not take {name}") as caught:
        chat.ask(ASK)
    assert not isinstance(caught.value, RefusedRequestError)
    assert chat.unsupported == {name}


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "'temperature' and seed in a text", "param": "messages"}},
        {"error": {"message": "too large", "param": "max_tokens", "code": None}},
        {"error": {"message": "no", "param": "frequency_penalty"}},
        {"detail": [{"loc": ["body", "messages", 0], "input": "temperature"}, 1]},
        {"detail": "temperature"},
        ["temperature"],
    ],
)
def test_a_refused_request_is_not_taken_for_a_refused_setting(server, body):
    server.say = lambda _: (422, body)
    chat = Chat(server.url, "m", seed=1, max_tokens=5)
    with pytest.raises(RefusedRequestError):
        chat.ask(ASK)
    assert chat.unsupported == frozenset()


def test_a_server_says_how_long_to_wait(server, monkeypatch):
    openai = pytest.importorskip("openai")
    waits = []
    monkeypatch.setattr(openai._base_client.time, "sleep", waits.append)
    server.headers = {"Retry-After": "7"}
    server.say = lambda _: (429, {}) if len(server.seen) < 3 else "supports"
    assert judge(server).label(CASE).label == "supports"
    assert waits == [7.0, 7.0]


@pytest.mark.usefixtures("no_waiting")
def test_a_server_that_does_not_answer_is_given_up(server):
    late = threading.Event()
    server.say = lambda _: late.wait(30) and "late"
    try:
        with pytest.raises(InstrumentError, match="timed out"):
            Chat(server.url, "m", timeout=0.1).ask(ASK)
        assert len(server.seen) == 5
    finally:
        late.set()


@pytest.mark.parametrize(
    ("content", "finish", "reason"),
    [
        (None, "content_filter", "the reply is empty (content_filter)"),
        ("", "length", "the reply is empty (length)"),
        ("", "stop", "the reply is empty"),
        ("I cannot say", "stop", "the reply does not begin with a label"),
    ],
)
def test_a_reply_without_a_label_says_why(server, content, finish, reason):
    server.say = lambda _: content
    server.finish = finish
    found = judge(server).label(CASE)
    assert (found.label, found.reason) == (None, reason)


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("status", [429, 500, 503])
def test_the_sdk_tries_again(server, status):
    server.say = lambda _: (status, {}) if len(server.seen) < 3 else "partial"
    assert judge(server).label(CASE).label == "partial"
    assert len(server.seen) == 3


@pytest.mark.usefixtures("no_waiting")
def test_and_gives_up(server):
    server.say = lambda _: (503, {"error": {"message": "busy"}})
    with pytest.raises(InstrumentError, match="busy"):
        judge(server).label(CASE)
    assert len(server.seen) == 5


def test_the_key_is_sent_and_never_shown(server, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with caplog.at_level(logging.INFO):
        found = judge(server)
        found.label(CASE)
        server.say = lambda _: (401, {"error": {"message": f"wrong key {SECRET}"}})
        with pytest.raises(InstrumentError) as caught:
            found.label(CASE)
        server.say = lambda _: (400, {"error": {"message": f"wrong key {SECRET}"}})
        refused = found.label(CASE)
    assert server.keys[0] == f"Bearer {SECRET}"
    assert "wrong key ***" in str(caught.value)
    shown = [str(caught.value), str(found.identity()), caplog.text, refused.reason]
    assert not any(SECRET in text for text in shown)
    assert caught.value.__cause__ is None


def test_a_key_that_the_server_says_again_is_hidden(server, monkeypatch):
    """In the name of its model and in what it replies, both of which are stored."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    server.model = f"m of {SECRET}"
    server.say = lambda _: f"you sent {SECRET}"
    found = judge(server)
    label = found.label(CASE)
    assert label.reply == "you sent ***"
    assert found.identity().served == "m of ***"


@pytest.mark.parametrize("key", [f"{SECRET}\r", f"{SECRET}\n", f" {SECRET}", f"{SECRET}é"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(server, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match="OPENAI_API_KEY") as caught:
        judge(server)
    assert SECRET not in str(caught.value)
    assert not server.seen


def test_a_hostile_name_of_a_model_can_be_stored(server):
    server.model = "\x1b[2J\ud800" + "x" * 10_000
    found = judge(server)
    found.label(CASE)
    served = found.identity().served
    assert served.startswith("\\x1b[2J\\ud800xxx")
    assert len(served.encode()) < 300


def test_a_redirect_is_not_followed(server):
    """The texts would go to a server that is not the noted one."""
    server.say = lambda _: (307, b"")
    with pytest.raises(InstrumentError, match="307"):
        judge(server).label(CASE)
    assert len(server.seen) == 1


@pytest.mark.usefixtures("no_waiting")
def test_a_flood_is_cut_off(server, monkeypatch):
    monkeypatch.setattr(sdk, "_LARGEST", 1000)
    server.say = lambda _: "x" * 2000
    with pytest.raises(InstrumentError, match="longer than"):
        judge(server).label(CASE)
    monkeypatch.setattr(sdk, "_LARGEST", 100_000)
    monkeypatch.setattr(sdk, "_LONGEST_SECONDS", -1.0)
    with pytest.raises(InstrumentError, match="takes longer"):
        judge(server).label(CASE)


def test_what_cannot_be_sent_is_refused(server, monkeypatch):
    with pytest.raises(UsageError, match="temperature"):
        judge(server, temperature=float("nan"))
    with pytest.raises(UsageError, match="no URL"):
        Chat(f"{server.url}\n", "m")
    for wrong in (
        {"max_tokens": 0},
        {"max_tokens_field": "length"},
        {"timeout": math.nan},
        {"timeout": 0.0},
        {"extra": {"messages": []}},
        {"extra": {"stream": True}},
        {"extra": {"max_tokens": 1}},
        {"extra": {"x": math.inf}},
        {"extra": {"x": {1, 2}}},
    ):
        with pytest.raises(UsageError):
            Chat(server.url, "m", **wrong)
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1")
    with pytest.raises(UsageError, match="proxy"):
        judge(server)


def test_the_key_may_stand_in_a_variable_of_its_own(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    judge(server, key_variable="JUDGE_KEY").label(CASE)
    judge(server, key_variable="NO_SUCH_VARIABLE").label(CASE)
    assert server.keys == [f"Bearer {SECRET}", "Bearer none"]


def test_a_password_in_the_url_is_never_shown(server):
    url = server.url.replace("http://", "http://ann:pass-word@") + "?token=pass-word"
    found = ChatJudge(Chat(url, "m"), RUBRIC)
    assert "pass-word" not in str(found.identity())


@pytest.mark.parametrize("url", ["", "localhost:1", "ftp://host/v1", "http://", "http://[bad"])
def test_a_url_that_is_none(url):
    with pytest.raises(UsageError, match="no URL"):
        Chat(url, "m")


def test_no_model():
    with pytest.raises(UsageError, match="no model"):
        Chat("http://127.0.0.1:1/v1", "")


@pytest.mark.usefixtures("no_waiting")
def test_a_dead_server_says_where():
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as gone:
        port = gone.server_port
    with pytest.raises(InstrumentError, match=f"127.0.0.1:{port}"):
        Chat(f"http://127.0.0.1:{port}/v1", "m").ask(ASK)


@pytest.mark.parametrize("text", ["\0", "\x1b[2J", "=1+1", "x" * 1_000_000])
def test_hostile_texts_arrive_whole(server, text):
    judge(server).label({**CASE, "item": text})
    assert f"\n{text}\n" in server.seen[0]["messages"][1]["content"]
