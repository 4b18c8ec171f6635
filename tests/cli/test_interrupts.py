import os
import signal
import threading

import pytest

from memruler.cli import main
from memruler.cli.interrupts import noted_interrupts


@pytest.fixture
def verb(monkeypatch):
    """Whatever is called runs this instead."""

    def put(run):
        monkeypatch.setattr(main.cli, "main", lambda **_: run())

    return put


def interrupted_import():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        signal.sigtimedwait([], 1)
    except KeyboardInterrupt:
        raise AttributeError("partially initialized module") from None


def test_an_interrupt_that_a_package_swallows_is_one_all_the_same(verb, capsys):
    verb(interrupted_import)
    with pytest.raises(SystemExit) as left:
        main.main([])
    assert left.value.code == 130
    assert capsys.readouterr().err == "memruler: interrupted\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_fault_of_ours_stays_one(verb):
    def fault():
        raise AttributeError("ours")

    verb(fault)
    with pytest.raises(AttributeError, match="ours"):
        main.main([])


def test_elsewhere_nothing_is_changed():
    found = []

    def inside():
        with noted_interrupts() as came:
            found.append(list(came))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        inside()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, old)
    assert found == [[], []]
