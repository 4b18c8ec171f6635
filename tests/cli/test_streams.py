"""What becomes of the output when nobody reads it, nothing can hold it, or it cannot be written."""

import os
import subprocess
import sys

import pytest

from memruler.cli.streams import standard_streams

PROGRAM = [sys.executable, "-m", "memruler"]
FULL = "/dev/full"
needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason="needs /dev/full")  # noqa: PTH110
posix = pytest.mark.skipif(
    os.name != "posix", reason="closes descriptors before the program starts"
)


@pytest.fixture
def corpora(tmp_path):
    faulty = tmp_path / "faulty.jsonl"
    faulty.write_text('{"id": "a"}\n' * 3000)
    return faulty


def run(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options):
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)], stdout=stdout, stderr=stderr, check=False, **options
    )


def left_alone(*arguments, **options):
    """Run with stdout as a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    try:
        return run(*arguments, stdout=write, **options)
    finally:
        os.close(write)


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["list"], ["list", "--json"], ["corpora", "schema"], ["compare", "--help"]],
    ids=" ".join,
)
def test_a_reader_that_left_is_no_fault(arguments):
    done = left_alone(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_measurement_that_nobody_reads_is_complete(tmp_path):
    done = left_alone(
        "retrieval", "synthetic", "--instances", 1, "--out", tmp_path, "--stem", "run"
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "run" / "report.json").is_file()


def test_a_reader_that_left_changes_no_exit_code(corpora, tmp_path):
    assert left_alone("corpora", "check", corpora).returncode == 2
    read, write = os.pipe()
    os.close(read)
    done = run("compare", tmp_path / "a", tmp_path / "b", stderr=write)
    os.close(write)
    assert done.returncode == 2


@needs_full
@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["corpora", "schema"]], ids=" ".join)
def test_a_full_disk_under_stdout_is_one_line(arguments):
    with open(FULL, "wb") as full:  # noqa: PTH123 - a device
        done = run(*arguments, stdout=full)
        assert done.returncode == 3
        assert done.stderr.startswith(b"memruler: cannot write the output: No space left")
        assert done.stderr.count(b"\n") == 1
        assert run(*arguments, stdout=full, stderr=full).returncode == 3
        assert run("nonsense", stderr=full).returncode == 2


@posix
@pytest.mark.parametrize("redirect", [">&-", ">&- 2>&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(tmp_path, redirect):
    command = '"$0" -m memruler retrieval synthetic --instances 1 --out "$1" --stem run ' + redirect
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, str(tmp_path)],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "run" / "report.json").is_file()


def test_what_cannot_be_encoded_becomes_an_escape(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        '{"corpus": {"notes": ["\u00e4\u65e5"]}}\n{"id": "a", "sessions": []}\n', encoding="utf-8"
    )
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = run("corpora", "check", corpus, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"note: \xe4\\u65e5" in done.stdout


def test_the_streams_are_put_back(capsys):
    outer = sys.stdout, sys.stderr
    with standard_streams():
        assert sys.stdout is not outer[0]
        sys.stdout.writelines(["a", "b"])
    assert (sys.stdout, sys.stderr) == outer
    assert capsys.readouterr().out == "ab"
