from contextlib import closing

import pytest

from memruler.cli.main import main
from memruler.judges.base import ChatReply
from memruler.judges.replies import Replies


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path))
    return tmp_path / "replies" / "replies.sqlite"


def _run(capsys, *arguments):
    with pytest.raises(SystemExit) as leave:
        main(["cache", *arguments])
    out, err = capsys.readouterr()
    return leave.value.code, out, err


def test_what_is_kept_is_told_and_removed_on_demand(path, capsys):
    assert _run(capsys, "replies") == (0, f"0 replies, 0 B in {path}\n", "")
    assert not path.parent.exists()  # a look makes nothing
    with closing(Replies(path)) as replies:
        for n in range(3):
            replies.put(f"{n:064x}", ChatReply(text="yes", finish="stop"))
    code, out, _ = _run(capsys, "replies")
    assert code == 0
    assert out.startswith("3 replies, ")
    assert _run(capsys, "clear")[1] == "removed 0 vectors\n"  # which costs no reply
    assert _run(capsys, "replies", "--clear") == (0, "removed 3 replies\n", "")
    assert _run(capsys, "replies")[1].startswith("0 replies, ")


@pytest.mark.parametrize("arguments", [["replies"], ["replies", "--clear"]])
def test_a_damaged_file_is_one_line(path, capsys, arguments):
    path.parent.mkdir()
    path.write_bytes(b"\x1b[31mno database" * 1000)
    code, out, err = _run(capsys, *arguments)
    assert (code, out) == (3, "")
    assert err.startswith("memruler: the file of paid replies is damaged: file is not a database")
    assert err.count("\n") == 1
    assert "\x1b" not in err


@pytest.mark.parametrize("home", ["a file", "a file/below", "x" * 5000])
def test_a_folder_that_cannot_be_is_one_line(tmp_path, capsys, monkeypatch, home):
    (tmp_path / "a file").write_text("mine")
    monkeypatch.setenv("MEMRULER_CACHE", f"{tmp_path}/{home}")
    for arguments in (["replies"], ["replies", "--clear"]):
        code, out, err = _run(capsys, *arguments)
        assert (code, out) == (2, "")
        assert err.startswith("memruler: cannot read the file of replies: ")
        assert err.count("\n") == 1
    assert (tmp_path / "a file").read_text() == "mine"
