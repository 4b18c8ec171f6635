"""How the command line ends when a path or a number is not what the operating system takes."""

import os
import subprocess
import sys

import pytest

LONG = "x" * 300
DEEP = "/".join(["x" * 200] * 30)


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "memruler", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def one_line(done, code=2):
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith("memruler: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize("name", [LONG, DEEP], ids=["long", "deep"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["retrieval", "synthetic", "--out", "{}"],
        ["retrieval", "synthetic", "--out", "{}", "--stem", "a"],
        ["retrieval", "jsonl", "--path", "{}"],
        ["retrieval", "synthetic", "--system", "{}.py:Memory"],
        ["corpora", "check", "{}"],
        ["corpora", "generate", "--out", "{}"],
        ["compare", "{}", "a"],
    ],
    ids=" ".join,
)
def test_a_path_that_is_too_long(tmp_path, arguments, name):
    done = run(*(argument.format(name) for argument in arguments), cwd=tmp_path)
    assert "xxx" in one_line(done)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps a folder that is in use")
@pytest.mark.parametrize(
    "arguments",
    [["retrieval", "synthetic"], ["compare", "a", "b"], ["corpora", "generate", "--out", "a"]],
    ids=" ".join,
)
def test_the_folder_one_is_in_is_gone(tmp_path, arguments):
    gone = tmp_path / "gone"
    gone.mkdir()
    program = (
        "import os, sys; os.rmdir(os.getcwd()); from memruler.cli.main import main; "
        "main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=gone,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "does not exist any more" in one_line(done)


@pytest.mark.parametrize("number", ["0", "1000000001", "99999999999999999999"])
@pytest.mark.parametrize("option", ["--limit", "--instances", "--queries"])
def test_numbers_that_nothing_can_count_to(tmp_path, option, number):
    done = run("retrieval", "synthetic", option, number, "--out", tmp_path)
    assert done.returncode == 2
    assert f"{number} is not in the range 1<=x<=1000000000" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_number_at_the_bound_is_taken(tmp_path):
    bounds = [part for name in ("limit", "instances", "queries") for part in (f"--{name}", 10**9)]
    assert run("retrieval", "synthetic", *bounds, "--out", tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["corpora", "generate", "--out", "a", "--sessions", 10**20], "at most 100000"),
        (["corpora", "generate", "--out", "a", "--instances", 10**20], "at most 1000000000"),
        (["retrieval", "synthetic", "--stem", ""], "the stem is empty"),
    ],
)
def test_a_value_that_is_refused(tmp_path, arguments, message):
    assert message in one_line(run(*arguments, cwd=tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [
        ["retrieval", "synthetic", "--out", ""],
        ["retrieval", "jsonl", "--path", ""],
        ["compare", "", "a"],
        ["compare", "a", "b", "--markdown", ""],
        ["corpora", "check", ""],
        ["corpora", "generate", "--out", ""],
    ],
    ids=" ".join,
)
def test_an_empty_path_is_not_the_folder_one_is_in(tmp_path, arguments):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "must not be empty" in done.stderr
    assert list(tmp_path.iterdir()) == []
