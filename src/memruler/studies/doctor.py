"""Looks at what memruler stands on here: each part is found sound, missing or broken."""

from collections.abc import Callable, Iterable, Iterator

from memruler import __version__
from memruler.errors import MemrulerError
from memruler.plugins import described
from memruler.studies.doctor_machine import disks, environment, plug_ins, python, sqlite
from memruler.studies.doctor_model import model
from memruler.studies.doctor_packages import packages
from memruler.studies.doctor_record import Diagnosis, Finding
from memruler.studies.doctor_stores import caches, corpora

__all__ = ["diagnose"]


def diagnose(pip: str, own: str, terminal: Iterable[Finding] = ()) -> Diagnosis:
    """Look at everything.

    A part whose look fails is a broken part; the others are still looked at.

    Args:
        pip: The command line that calls the pip of this Python, without arguments.
        own: The command line that calls memruler.
        terminal: What was found of the terminal, which only the command line knows.
    """
    looks: tuple[tuple[str, Callable[[], Iterable[Finding]]], ...] = (
        ("python", python),
        ("packages", lambda: packages(pip)),
        ("model", lambda: model(pip)),
        ("sqlite", sqlite),
        ("plug-ins", plug_ins),
        ("cache", lambda: caches(own)),
        ("corpora", lambda: corpora(own)),
        ("disk", disks),
        ("environment", environment),
    )
    found = [one for area, look in looks for one in _guarded(area, look)]
    return Diagnosis(findings=(*found, *terminal), version=__version__)


def _guarded(area: str, look: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    try:
        yield from look()
    except MemrulerError as error:
        where = "" if error.where is None else f" [{error.where}]"
        yield Finding(
            area=area, name=area, state="broken", found=f"{error.what}{where}", do=error.hint
        )
    except Exception as error:  # noqa: BLE001 - whatever is broken, the rest must be told
        yield Finding(area=area, name=area, state="broken", found=described(error))
