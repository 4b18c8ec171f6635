import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import InstrumentError, UsageError
from memruler.judges.base import ChatReply
from memruler.judges.replies import (
    Replies,
    clear_replies,
    replies_path,
    replies_report,
    reply_key,
)
from memruler.judges.rubric import Message

REPLY = ChatReply(
    text="It was Ann.\0\u2028",
    finish="stop",
    served="m-1",
    system_fingerprint="fp",
    prompt_tokens=3,
    completion_tokens=4,
)
SHAPES = {
    "endpoint": "http://h/v1",
    "model": "m",
    "messages": [Message("user", "hi")],
    "body": {"temperature": 0.0, "seed": 1, "max_tokens": 5, "x": {"a": 1, "b": [True, None]}},
    "repeat": 0,
    "draw": "",
}
KEY = reply_key(**SHAPES)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "replies" / "replies.sqlite"


@pytest.fixture
def filled(path):
    with closing(Replies(path)) as replies:
        replies.put(KEY, REPLY)
    return path


OTHER = [
    {"endpoint": "http://h/v2"},
    {"endpoint": "https://h/v1"},
    {"model": "m2"},
    {"messages": [Message("system", "hi")]},
    {"messages": [Message("user", "hi ")]},
    {"messages": [Message("user", "h"), Message("user", "i")]},
    {"messages": []},
    {"body": {}},
    {"body": {**SHAPES["body"], "temperature": 0.1}},
    {"body": {**SHAPES["body"], "seed": 2}},
    {"body": {**SHAPES["body"], "seed": None}},
    {"body": {**SHAPES["body"], "max_tokens": 6}},
    {"body": {"max_completion_tokens": 5, "temperature": 0.0, "seed": 1, "x": {}}},
    {"body": {**SHAPES["body"], "x": {"a": 1, "b": [1, None]}}},
    {"repeat": 1},
    {"draw": "again"},
]


def test_the_key_never_changes():
    """Replies that were paid for would be lost. A new form needs a new `_KEY_VERSION`."""
    assert KEY == "2ed2c03f1fdd3110a00f2bae74f42d6f30503a7e7f7e35b007486813de0edb62"


def test_each_thing_that_shapes_a_reply_shapes_the_key():
    keys = [KEY, *(reply_key(**{**SHAPES, **other}) for other in OTHER)]
    assert len(set(keys)) == len(OTHER) + 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_BODY = st.dictionaries(st.text(max_size=5), _JSON, max_size=5)


def _turned(value):
    """The same with each object written down in the opposite order."""
    if isinstance(value, dict):
        return {key: _turned(inner) for key, inner in reversed(value.items())}
    return [_turned(inner) for inner in value] if isinstance(value, list) else value


@given(body=_BODY)
def test_the_order_of_fields_does_not_matter(body):
    assert reply_key(**{**SHAPES, "body": body}) == reply_key(**{**SHAPES, "body": _turned(body)})


_SHAPES = st.fixed_dictionaries(
    {
        "endpoint": st.text(max_size=5),
        "model": st.text(max_size=5),
        "messages": st.lists(st.builds(Message, st.text(max_size=3), st.text(max_size=3))),
        "body": _BODY,
        "repeat": st.integers(0, 3),
        "draw": st.text(max_size=3),
    }
)


def _typed(value):
    """With types, since True == 1 in Python and not on the wire."""
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    return [_typed(v) for v in value] if isinstance(value, list) else (type(value), value)


@given(one=_SHAPES, other=_SHAPES)
def test_different_requests_have_different_keys(one, other):
    assert (reply_key(**one) == reply_key(**other)) == (_typed(one) == _typed(other))


def test_half_of_a_pair_has_a_key():
    assert reply_key(**{**SHAPES, "messages": [Message("user", "\ud83d")]}) != KEY


def test_a_reply_is_kept(path):
    with closing(Replies(path)) as replies:
        assert replies.get(KEY) is None
        assert replies.put(KEY, REPLY) == REPLY
        assert replies.get(KEY) == REPLY
        assert replies.get("00" * 32) is None
    with closing(Replies(path)) as replies:
        assert replies.get(KEY) == REPLY
        assert replies.count() == 1


def test_it_is_on_the_disk_when_put_returns(path):
    with closing(Replies(path)) as replies, closing(sqlite3.connect(path)) as other:
        assert replies._db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert replies._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        replies.put(KEY, REPLY)
        assert other.execute("SELECT count(*) FROM replies").fetchone() == (1,)


def test_the_first_reply_stands(filled):
    """Whoever asked at the same time goes on with the same words as everybody after."""
    with closing(Replies(filled)) as replies:
        assert replies.put(KEY, ChatReply(text="Bo", finish=None, reused=True)) == REPLY
        assert replies.get(KEY) == REPLY


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
def test_it_is_for_this_account_alone(path):
    with closing(Replies(path)) as replies:
        replies.put(KEY, REPLY)
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    assert modes == dict.fromkeys([path.name, f"{path.name}-wal", f"{path.name}-shm"], 0o600)


def test_threads_share_it(path):
    keys = [f"{n:064x}" for n in range(60)]
    with closing(Replies(path)) as replies, ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda key: replies.put(key, ChatReply(text=key, finish=None)), keys))
        assert [found.text for found in pool.map(replies.get, keys)] == keys


WRITER = """
import sys
from pathlib import Path
from memruler.judges.base import ChatReply
from memruler.judges.replies import Replies
replies = Replies(Path(sys.argv[1]))
for n in range(40):
    replies.put(f"{n:064x}", ChatReply(text=sys.argv[2] * 3, finish=None))
"""


def test_processes_share_it(path):
    """Both make the file, and write the same keys at once."""
    command = [sys.executable, "-c", WRITER, str(path)]
    going = [subprocess.Popen([*command, name], stderr=subprocess.PIPE) for name in "ab"]
    for one in going:
        assert one.communicate(timeout=60) == (None, b"")
        assert one.returncode == 0
    with closing(Replies(path)) as replies:
        assert replies.count() == 40
        assert {replies.get(f"{n:064x}").text for n in range(40)} <= {"aaa", "bbb"}


def _sql(path, statement, *values):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement, values)


DAMAGE = {
    "no database": lambda path: path.write_bytes(b"\x1b[31mnot a database" * 100),
    "overwritten": lambda path: path.write_bytes(path.read_bytes()[:100] + b"\xff" * 8000),
    "no table": lambda path: _sql(path, "DROP TABLE replies"),
    "a foreign table": lambda path: _sql(path, "PRAGMA application_id = 7"),
    "one letter": lambda path: _sql(
        path, "UPDATE replies SET reply = CAST(replace(reply, 'Ann', 'Bob') AS BLOB)"
    ),
    "text": lambda path: _sql(path, "UPDATE replies SET reply = 'x'"),
    "a seal": lambda path: _sql(path, "UPDATE replies SET seal = x'00'"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_told_and_never_taken_for_a_reply(filled, name):
    DAMAGE[name](filled)
    with pytest.raises(InstrumentError, match="is damaged") as caught:
        Replies(filled).get(KEY)
    assert "move the file away" in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_sealed_reply_that_is_none(filled):
    with closing(Replies(filled)) as replies:
        raw = bytes.fromhex(KEY)
        from memruler.judges.replies import _seal  # noqa: PLC0415

        row = b"[1]", _seal(raw, b"[1]")
        replies._db.execute("UPDATE replies SET reply = ?, seal = ?", row)
        with pytest.raises(InstrumentError, match="cannot be read"):
            replies.get(KEY)


def test_a_newer_version_is_refused(filled):
    _sql(filled, "PRAGMA user_version = 2")
    with pytest.raises(InstrumentError, match="version 2, and 1 is known"):
        Replies(filled)


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_link_is_refused(filled, tmp_path, suffix):
    target = tmp_path / "mine"
    target.write_bytes(b"mine")
    link = filled.with_name(filled.name + suffix)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    with pytest.raises(UsageError, match="link"):
        Replies(filled)
    assert target.read_bytes() == b"mine"


def test_a_full_disk_is_told(filled):
    with closing(Replies(filled)) as replies:
        replies._db.execute("PRAGMA max_page_count = 1")
        with pytest.raises(InstrumentError, match=r"cannot be used.*full") as caught:
            replies.put("11" * 32, ChatReply(text="x" * 100_000, finish=None))
        assert "check the disk" in str(caught.value)
        assert replies.get(KEY) == REPLY


def test_report_and_clear(filled):
    found = replies_report(filled)
    assert found.replies == 1
    assert found.bytes > 0
    with closing(Replies(filled)) as other:
        assert clear_replies(filled) == 1
        assert other.get(KEY) is None
        other.put(KEY, REPLY)  # another process goes on
    assert replies_report(filled).replies == 1


def test_a_look_makes_nothing(path, monkeypatch):
    monkeypatch.setenv("MEMRULER_CACHE", str(path.parents[1]))
    assert replies_path() == path
    assert replies_report() == (0, 0)
    assert clear_replies() == 0
    assert not path.parent.exists()
