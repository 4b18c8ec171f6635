"""Whatever happens inside, standard output is what it was, and nothing was written to it."""

import os
import subprocess
import sys
import threading

import pytest

from memruler.systems.aside import Aside


def test_text_bytes_and_programs_go_to_standard_error(capfd):
    before = sys.stdout
    with Aside():
        print("text \N{SNOWMAN}")  # noqa: T201
        sys.stdout.buffer.write(b"bytes \xff\n")
        os.write(1, b"raw\n")
        os.write(sys.stdout.fileno(), b"number\n")
        subprocess.run(["echo", "child"], check=True)  # noqa: S607
    assert sys.stdout is before
    print("ours")  # noqa: T201
    out, err = capfd.readouterr()
    assert out == "ours\n"
    assert set(err.splitlines()) == {"text \N{SNOWMAN}", "bytes \\xff", "raw", "number", "child"}


def closes():
    sys.stdout.close()
    print("still works")  # noqa: T201


def detaches():
    sys.stdout.detach()


def replaces():
    sys.stdout = None
    sys.stderr = None


def deletes():
    del sys.stdout


def closes_the_number():
    os.close(1)


def raises():
    raise KeyboardInterrupt


@pytest.mark.parametrize("ill", [closes, detaches, replaces, deletes, closes_the_number, raises])
def test_both_streams_are_restored(capfd, ill):
    before = sys.stdout, sys.stderr
    for _ in range(2):
        try:
            with Aside():
                ill()
        except KeyboardInterrupt:
            pass
        assert (sys.stdout, sys.stderr) == before
    print("ours")  # noqa: T201
    os.write(1, b"raw\n")
    with Aside():
        print("theirs")  # noqa: T201
    out, err = capfd.readouterr()
    assert sorted(out.splitlines()) == ["ours", "raw"]
    assert err.splitlines()[-1] == "theirs"


def test_a_stream_that_was_closed_is_opened_again():
    code = (
        "import sys\n"
        "from memruler.systems.aside import Aside\n"
        "print('first', end=' ')\n"
        "with Aside():\n"
        "    sys.__stdout__.close()\n"
        "    sys.__stderr__.close()\n"
        "print('second')\n"
        "print('error', file=sys.stderr)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert (run.stdout, run.stderr) == ("first second\n", "error\n")


def test_without_a_standard_output_or_error():
    code = (
        "import os, sys\n"
        "from memruler.systems.aside import Aside\n"
        "for number in (1, 2):\n"
        "    os.close(number)\n"
        "    with Aside():\n"
        "        print('x')\n"
        "sys.stderr = None\n"
        "with Aside():\n"
        "    print('x')\n"
        "os._exit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 7


def test_nested_and_in_threads_the_last_one_out_restores(capfd):
    before = sys.stdout
    inside, leave = threading.Event(), threading.Event()

    def other():
        with Aside():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with Aside():
        thread.start()
        inside.wait()
        with Aside():
            print("one")  # noqa: T201
        print("two")  # noqa: T201
    assert sys.stdout is not before
    print("three")  # noqa: T201
    leave.set()
    thread.join()
    assert sys.stdout is before
    assert Aside._kept is None
    assert capfd.readouterr() == ("", "one\ntwo\nthree\n")


def test_no_file_is_left_open():
    def count():
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    if not os.path.isdir("/proc/self/fd"):  # noqa: PTH112
        pytest.skip("no /proc to count open files in")
    with Aside():
        pass
    before = count()
    for _ in range(50):
        with Aside():
            print("x")  # noqa: T201
    assert count() == before
