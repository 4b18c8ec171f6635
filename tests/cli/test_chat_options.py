import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from memruler.cli.chat_options import chat_options, open_asker
from memruler.errors import UsageError
from memruler.judges.rubric import Message

pytest.importorskip("openai", reason="needs memruler[llm]")

NAMED = ["--endpoint", "http://127.0.0.1:1/v1", "--model", "m"]


@click.command()
@click.argument("run")
@chat_options()
@chat_options("judge", required=False, max_tokens=10)
@click.option("--last", is_flag=True)
@click.pass_context
def verb(context, *, run, chat, judge_chat, last):
    context.ensure_object(dict).update(run=run, chat=chat, judge=judge_chat, last=last)


def called(*arguments):
    found = {}
    verb.main(["RUN", *arguments], obj=found, standalone_mode=False)
    return found


def test_the_defaults():
    found = called(*NAMED)
    assert (found["run"], found["judge"], found["last"]) == ("RUN", None, False)
    chat = found["chat"]
    assert (chat.temperature, chat.seed, chat.max_tokens) == (0.0, None, None)
    assert (chat.parallel, chat.draw, chat.timeout) == (4, "", 120.0)


def test_two_models_do_not_mix():
    found = called(
        *NAMED,
        *("--judge-endpoint", "http://h/v1", "--judge-model", "j", "--judge-no-temperature"),
        *("--judge-seed", "3", "--seed", "4", "--last"),
    )
    assert (found["chat"].model, found["chat"].seed, found["chat"].temperature) == ("m", 4, 0.0)
    judge = found["judge"]
    assert (judge.model, judge.seed, judge.temperature, judge.max_tokens) == ("j", 3, None, 10)
    assert found["last"]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ([], "give --endpoint URL and --model NAME"),
        (["--endpoint", "http://h/v1"], "--model NAME"),
        (["--model", "m"], "--endpoint URL"),
        ([*NAMED, "--judge-model", "m"], "--judge-endpoint URL and --judge-model NAME"),
        ([*NAMED, "--judge-max-cost", "1"], "--judge-endpoint URL and --judge-model NAME"),
        ([*NAMED, "--judge-temperature", "0"], "--judge-endpoint URL and --judge-model NAME"),
    ],
)
def test_a_model_that_is_half_named_is_refused(arguments, hint):
    with pytest.raises(UsageError, match="no model is named") as caught:
        called(*arguments)
    assert hint in str(caught.value)


def test_everything_reaches_the_wire(chat_server, monkeypatch):
    monkeypatch.setenv("READER_KEY", "sk-reader")
    chat = called(
        *("--endpoint", chat_server.url, "--model", "m", "--temperature", "0.5", "--seed", "7"),
        *("--max-tokens", "9", "--max-tokens-field", "max_completion_tokens"),
        *("--extra-body", '{"cache_prompt": false}', "--key-variable", "READER_KEY"),
        *("--price-in", "1", "--price-out", "2", "--currency", "EUR", "--draw", "wire"),
        *("--max-cost", "0.5", "--max-total-tokens", "100000"),
    )["chat"]
    with open_asker(chat) as asker:
        asker.ask([Message("user", "one two")])
        usage = asker.usage()
        assert asker.draw == "wire"
    (body,) = chat_server.seen
    del body["messages"]
    assert body == {
        "model": "m",
        "temperature": 0.5,
        "seed": 7,
        "max_completion_tokens": 9,
        "cache_prompt": False,
    }
    assert chat_server.keys == ["Bearer sk-reader"]
    assert (usage.cost, usage.currency) == (4e-6, "EUR")  # 2 x 1 + 1 x 2, of a million


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"a": NaN}', "[" * 100_000, '{"seed": 1}'])
def test_an_extra_body_that_is_no_object_is_refused(text):
    chat = called(*NAMED, "--extra-body", text)["chat"]
    with pytest.raises(UsageError, match="extra body"):
        open_asker(chat)


@pytest.mark.parametrize(
    "arguments", [["--max-cost", "1"], ["--price-in", "1"], ["--timeout", "nan"]]
)
def test_what_cannot_be_kept_is_refused(arguments):
    with pytest.raises(UsageError):
        open_asker(called(*NAMED, *arguments)["chat"])


def test_help_shows_every_option_and_needs_no_sdk():
    shown = CliRunner().invoke(verb, ["--help"])
    assert shown.exit_code == 0
    for name in ("--max-total-tokens", "--judge-max-tokens-field", "--judge-draw"):
        assert name in shown.output
    code = "import memruler.cli.chat_options, sys; assert 'openai' not in sys.modules, 'openai'"
    subprocess.run([sys.executable, "-c", code], check=True)
