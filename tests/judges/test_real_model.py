"""A real model over the real protocol: the wire, never the quality of what it says."""

import urllib.request
from contextlib import closing

import pytest

from memruler.judges.asking import Asker
from memruler.judges.budget import Budget, Prices
from memruler.judges.chat import Chat, ChatJudge, RefusedRequestError
from memruler.judges.replies import Replies
from memruler.judges.rubric import Message, load_rubric

pytest.importorskip("openai", reason="needs memruler[llm]")
pytestmark = pytest.mark.slow

READER = [
    [
        Message("system", "Answer in a few words, from the text alone."),
        Message("user", f"{text}\n\nQuestion: {question}"),
    ]
    for text, question in (
        ("Ann: I moved to Lisbon in May 2023.", "Where does Ann live?"),
        ("Bo: My dog is called Rex. He is three.", "What is Bo's dog called?"),
    )
]
JUDGE = [
    Message(
        "user",
        "Question: Where does Ann live?\nCorrect answer: Lisbon\nResponse: In Lisbon.\n"
        "Is the response correct? Reply yes or no.",
    )
]
SETTINGS = {"seed": 1, "max_tokens": 24, "extra": {"cache_prompt": False}, "timeout": 600.0}


def _evaluated(url):
    """Tokens of prompts that the server has evaluated since it began."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/metrics", timeout=60) as answer:  # noqa: S310 - loopback
        lines = answer.read().decode().splitlines()
    (line,) = [one for one in lines if one.startswith("llamacpp:prompt_tokens_total ")]
    return float(line.split()[1])


@pytest.fixture
def ask(real_chat_url, tmp_path):
    opened = []

    def build(draw="", **more):
        replies = Replies(tmp_path / "replies.sqlite")
        budget = Budget(Prices(prompt=1.0, completion=1.0))
        chat = Chat(real_chat_url, "smollm2", **SETTINGS, **more)
        asker = Asker(chat, replies=replies, budget=budget, draw=draw)
        opened.append(asker)
        return asker

    yield build
    for asker in opened:
        asker.close()


def test_a_reader_and_a_judge_over_the_wire(ask, real_chat_url):
    asker = ask()
    first = [asker.ask(said) for said in READER]
    first.append(asker.ask(JUDGE, max_tokens=10))
    assert all(reply.text.strip() for reply in first)
    assert all(reply.prompt_tokens > 10 for reply in first)
    assert first[2].completion_tokens <= 10
    assert all(1 <= reply.completion_tokens <= 24 for reply in first)
    assert [reply.reused for reply in first] == [False] * 3
    usage = asker.usage()
    assert usage.requests == 3
    assert usage.prompt_tokens == sum(reply.prompt_tokens for reply in first)
    used = usage.prompt_tokens + usage.completion_tokens
    assert usage.cost == pytest.approx(used / 1e6, rel=1e-12)

    # Asked anew under another name: the same words.
    again = ask(draw="again")
    second = [again.ask(said) for said in READER]
    second.append(again.ask(JUDGE, max_tokens=10))
    assert again.usage().requests == 3
    assert [reply.text for reply in second] == [reply.text for reply in first]

    # Under the first name the server is asked nothing.
    before = _evaluated(real_chat_url)
    assert before > 0
    kept = ask()
    third = [kept.ask(said) for said in READER]
    assert [reply.text for reply in third] == [reply.text for reply in first[:2]]
    assert all(reply.reused for reply in third)
    assert (kept.usage().requests, kept.usage().reused) == (0, 2)
    assert _evaluated(real_chat_url) == before


def test_repeats_tell_what_was_honoured(ask):
    asker = ask()
    for repeat in range(3):
        asker.ask(READER[0], repeat=repeat)
    identity = asker.identity("reader", "0" * 64)
    same = "yes (2 repeats identical)"
    assert identity.honoured == {"temperature": same, "seed": same}
    assert identity.settings["extra"] == {"cache_prompt": False}
    # llama.cpp tells a path of its machine, of which the name is kept.
    assert identity.served == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert identity.system_fingerprint


def test_a_prompt_that_is_too_long_is_refused_and_the_next_is_not(ask):
    asker = ask()
    with pytest.raises(RefusedRequestError, match="context"):
        asker.ask([Message("user", "word " * 3_000)])
    assert asker.ask(READER[0]).text.strip()
    assert asker.usage().requests == 1


def test_the_judge_of_the_audit_gets_a_reply(real_chat_url):
    chat = Chat(real_chat_url, "smollm2", **SETTINGS)
    case = {"question": "Who?", "answer": "Ann", "evidence": "Ann: me", "item": "It was Ann."}
    found = ChatJudge(chat, load_rubric("support")).label(case)
    assert found.reply
    chat.close()


def test_what_was_said_is_on_the_disk(ask, tmp_path):
    asker = ask()
    text = asker.ask(READER[0]).text
    asker.close()
    with closing(Replies(tmp_path / "replies.sqlite")) as replies:
        assert replies.count() == 1
        (data,) = replies._db.execute("SELECT reply FROM replies").fetchone()
        assert text.split()[0].encode() in data
