"""Stands between memruler and a server, and ends the server whatever happens to memruler.

Run as a file with the standard library alone: `python -I keeper.py PARENT GRACE FOLDER COMMAND...`.
Standard streams go straight through. It leaves with the server's own code. It ends the server's
process group when it is told to stop, and when the process that started it is gone, be it by
SIGKILL; what the server sent into the background is adopted (on Linux) and ended too. Then FOLDER
is removed, unless it is empty text.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["main"]

_LOOK = 0.2
"""Seconds between two looks at who is still there."""

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
_STOPS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def main(arguments: list[str]) -> int:
    """Start the command, wait for its end or for a reason to end it.

    Args:
        arguments: Process id of the parent, seconds of grace, folder to remove or an empty text,
            then the command.

    Returns:
        The server's exit code, 128 + signal where a signal ended it, 127 where it cannot start.
    """
    parent, grace, folder = int(arguments[0]), float(arguments[1]), arguments[2]
    _adopt()
    # Blocked, so that none is lost between two looks; the server gets its own mask back.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS | {signal.SIGCHLD})
    try:
        try:
            server = subprocess.Popen(  # noqa: S603 - no shell
                arguments[3:],
                start_new_session=True,
                preexec_fn=_unblock,  # noqa: PLW1509 - this process has one thread
            )
        except OSError as error:
            sys.stderr.write(f"cannot start {arguments[3]!r}: {error.strerror}\n")
            return 127
        _watch(server, parent)
        _end(server, grace)
        return server.returncode if server.returncode >= 0 else 128 - server.returncode
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS | {signal.SIGCHLD})


def _adopt() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _watch(server: "subprocess.Popen[bytes]", parent: int) -> None:
    """Return when the server ended, when told to stop, or when the parent is gone."""
    while server.poll() is None and os.getppid() == parent:
        told = signal.sigtimedwait(_STOPS | {signal.SIGCHLD}, _LOOK)
        if told is not None and told.si_signo in _STOPS:
            return


def _end(server: "subprocess.Popen[bytes]", grace: float) -> None:
    """Ask the group to end, wait, then kill it and all that was adopted."""
    _tell(server.pid, signal.SIGTERM)
    for child in _adopted(server.pid):
        _tell(child, signal.SIGTERM)
    end = time.monotonic() + grace
    while (server.poll() is None or _group_lives(server.pid)) and time.monotonic() < end:
        signal.sigtimedwait({signal.SIGCHLD}, _LOOK / 4)
        _reap(server.pid)
    _tell(server.pid, signal.SIGKILL)
    server.wait()
    while left := _adopted(server.pid):
        for child in left:
            _tell(child, signal.SIGKILL, alone=True)
        _reap(server.pid)


def _tell(pid: int, number: int, *, alone: bool = False) -> None:
    with suppress(OSError):  # it is gone already
        (os.kill if alone else os.killpg)(pid, number)


def _group_lives(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except OSError:
        return False
    return True


def _adopted(server: int) -> list[int]:
    """Processes whose parent is this one now, but for the server itself."""
    try:
        words = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()
        return [int(word) for word in words if int(word) != server]
    except OSError:
        return []  # no Linux: the group is all that is known


def _reap(server: int) -> None:
    for child in _adopted(server):
        with suppress(OSError):
            os.waitpid(child, os.WNOHANG)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
