import base64
import io
import json
from urllib.parse import quote

import pytest

from memruler.systems.process.logs import ServerLog
from memruler.systems.process.secrets import Secrets

SECRET = "tok/Very+secret_0123"  # noqa: S105 - invented


@pytest.mark.parametrize("shift", [0, 1, 2, 3])
def test_a_secret_inside_base64_is_hidden_wherever_it_begins(shift):
    whole = base64.b64encode(b"x" * shift + SECRET.encode() + b":rest").decode()
    clean = Secrets([SECRET])(whole)
    assert "***" in clean
    assert whole[8:20] not in clean
    assert len(clean) < len(whole) - 20


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        SECRET.upper(),
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower(),
        SECRET.encode().hex(),
    ],
)
def test_every_form_in_which_a_server_may_echo_it_is_hidden(form):
    assert Secrets([SECRET])(f"<{form}>") == "<***>"


def test_escapes_of_messages_in_messages_are_hidden():
    secret = 'say "ü" twice'  # noqa: S105 - invented
    for text in (json.dumps(secret), json.dumps(json.dumps(secret)), repr(secret)):
        assert "twice" not in Secrets([secret])(text)


def test_a_secret_that_breaks_off_at_the_end_is_hidden_too():
    assert Secrets([SECRET])(f"bad key {SECRET[:12]}") == "bad key ***"
    assert Secrets([SECRET])(f"bad key {SECRET[:5]}") == f"bad key {SECRET[:5]}"


def test_the_longer_of_two_secrets_leaves_no_rest():
    assert Secrets(["abcdefgh", "abcdefghijkl"])("abcdefghijkl") == "***"


def test_replies_lose_long_secrets_and_keep_words():
    reply = {"hits": [{SECRET: f"it is {SECRET}", "text": "a word", "score": 0.5, "id": None}]}
    clean = {"hits": [{"***": "it is ***", "text": "a word", "score": 0.5, "id": None}]}
    assert Secrets([SECRET, "word"]).reply(reply) == clean
    assert Secrets(["word"])("a word") == "a ***"
    assert Secrets(["a"])("a word") == "a word"


def test_without_secrets_nothing_changes():
    nothing = Secrets()
    assert nothing("text") == "text"
    assert nothing.line(b"\xff\n") == b"\xff\n"
    assert nothing.reply({"a": [1]}) == {"a": [1]}


def test_bytes_that_are_no_text_survive_beside_a_secret():
    assert Secrets([SECRET]).line(b"\xff " + SECRET.encode() + b" \n") == b"\xff *** \n"


@pytest.mark.parametrize("before", [0, 8180, 8192, 8200, 20_000])
def test_a_log_hides_a_secret_across_the_border_of_what_is_read_at_once(tmp_path, before):
    line = b"x" * before + SECRET.encode() + b"y" * 9000 + b"\nlast words"
    log = ServerLog(io.BytesIO(line), tmp_path / "log", Secrets([SECRET]))
    log.join(10)
    assert (tmp_path / "log").read_bytes() == line.replace(SECRET.encode(), b"***")


def test_what_was_printed_last_stands_in_the_error(tmp_path):
    lines = b"".join(b"%d " % n + b"z" * 300 + b"\n" for n in range(30)) + b"the cause\n"
    log = ServerLog(io.BytesIO(lines), tmp_path / "log", Secrets())
    log.join(10)
    assert log.last_words().startswith("; its last lines: 29 zzz")
    assert log.last_words().endswith("… / the cause")


def test_a_silent_server_has_no_last_words(tmp_path):
    log = ServerLog(io.BytesIO(b""), tmp_path / "log", Secrets())
    log.join(10)
    assert log.last_words() == ""
