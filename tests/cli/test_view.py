"""`memruler view` as a program: its address, its end, and what it refuses."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from memruler.cli.main import cli

pytest.importorskip("uvicorn", reason="needs memruler[view]")
pytest.importorskip("starlette", reason="needs memruler[view]")


def program(*arguments, **options):
    return [sys.executable, "-m", "memruler", "view", *map(str, arguments)], {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
        **options,
    }


def refused(*arguments, **options):
    command, more = program(*arguments, **options)
    done = subprocess.run(command, check=False, timeout=60, **more)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.fixture
def run_folder(tmp_path):
    """A folder with one run."""
    arguments = ["retrieval", "synthetic", "--system", "builtin:lexical", "--stem", "one"]
    cli.main([*arguments, "--out", str(tmp_path / "runs")], standalone_mode=False)
    return tmp_path / "runs"


@pytest.fixture
def started():
    """Starts the program; it is ended whatever happens."""
    children = []

    def start(*arguments, **options):
        command, more = program(*arguments, **options)
        child = subprocess.Popen(command, **more)
        children.append(child)
        return child, child.stdout.readline()

    yield start
    for child in children:
        child.kill()
        child.communicate()


def visit(address):
    """Open an address as a browser without anything kept would."""
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
    )
    with opener.open(address, timeout=60) as answer:
        return answer.url, answer.read().decode()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signal for a child")
def test_it_serves_until_an_interrupt_and_ends_with_0(run_folder, started):
    child, line = started(run_folder)
    address = line.strip()
    assert address.startswith("http://127.0.0.1:")
    assert child.stdout.readline() == "Open it in a browser on this machine. Ctrl-C ends it.\n"
    url, page = visit(address)
    assert "token" not in url
    assert ">one</a>" in page
    with pytest.raises(urllib.error.HTTPError, match="403"):
        visit(address.partition("?")[0])
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 0
    assert child.communicate() == ("", "")


def test_the_address_as_json(run_folder, started):
    _, line = started(run_folder, "--json")
    said = json.loads(line)
    assert said.keys() == {"url", "folder"}
    assert said["folder"] == str(run_folder)
    assert ">one</a>" in visit(said["url"])[1]


def test_the_address_is_on_loopback_only(run_folder, started):
    _, line = started(run_folder)
    port = int(line.rpartition(":")[2].partition("/")[0])
    for other in ("127.0.0.2", "::1"):
        family = socket.AF_INET6 if ":" in other else socket.AF_INET
        with socket.socket(family) as probe:
            probe.settimeout(5)
            with pytest.raises(OSError, match=r"refused|timed out|assign|family|unreachable"):
                probe.connect((other, port))


def test_a_port_that_is_taken(run_folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, said = refused(run_folder, "--port", port)
    assert code == 2
    assert said == (
        f"memruler: another program listens on this port [127.0.0.1:{port}]; "
        "choose another --port, or leave it out for one that is free\n"
    )


def test_a_port_of_choice(run_folder, started):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert started(run_folder, "--port", port)[1].startswith(f"http://127.0.0.1:{port}/?token=")


def test_what_is_no_folder_of_runs(run_folder, tmp_path):
    for arguments, words in (
        ([tmp_path / "nowhere"], "cannot be listed"),
        ([run_folder / "one"], "a run itself"),
        ([run_folder / "one" / "manifest.json"], "cannot be listed"),
        ([run_folder, "--port", "70000"], "70000"),
        ([run_folder, "--port", "-1"], "-1"),
        ([""], "empty"),
    ):
        code, said = refused(*arguments)
        assert (code, words in said) == (2, True), said


def test_without_the_extra_it_says_what_to_install(run_folder, tmp_path):
    (tmp_path / "blocked").mkdir()
    for name in ("uvicorn", "starlette"):
        (tmp_path / "blocked" / "sitecustomize.py").write_text(
            f"import sys; sys.modules[{name!r}] = None\n"
        )
        code, said = refused(
            run_folder, env={**os.environ, "PYTHONPATH": str(tmp_path / "blocked")}
        )
        assert code == 2
        assert name in said
        assert "pip install 'memruler[view]'" in said


def test_help_imports_no_server():
    code = (
        "import sys\nfrom memruler.cli.main import main\ntry:\n    main(['view', '--help'])\n"
        "except SystemExit:\n    pass\n"
        "assert not {'uvicorn', 'starlette', 'jinja2', 'pyarrow'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Ctrl-C" in done.stdout
    assert Path(__file__).name not in done.stderr
