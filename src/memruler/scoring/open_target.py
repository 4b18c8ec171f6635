"""From the name of a target to the target."""

from collections.abc import Iterable
from pathlib import Path

from memruler.errors import UsageError
from memruler.plugins import PluginTable, did_you_mean
from memruler.scoring.graded import OwnTarget
from memruler.scoring.own_target import WatchedTarget
from memruler.systems.aside import Aside
from memruler.systems.source import Source, load_class, source_of
from memruler.targets.forms import NAMED, Admits, named_target

__all__ = ["OWN_TARGETS", "open_each", "open_target", "open_targets"]

_LONGEST_NAME = 64

OWN_TARGETS = PluginTable("target", "memruler.targets", {})
"""Targets that installed packages declare."""


def open_targets(text: str) -> tuple[Admits | OwnTarget, ...]:
    """Read a list of targets: `raw,source,canonical`.

    Raises:
        UsageError: A name is unknown or stands there twice, or a plug-in is broken.
    """
    return open_each(name.strip() for name in text.split(","))


def open_each(typed: Iterable[str]) -> tuple[Admits | OwnTarget, ...]:
    """Open targets, each a name as typed.

    Raises:
        UsageError: As `open_targets`; two ways to write one target are one target.
    """
    said: dict[str, str] = {}
    opened = []
    for one in typed:
        target = open_target(one)
        if target.name in said:
            raise UsageError(
                f"the target {target.name} is asked for twice",
                where=f"{said[target.name]}, {one}",
                hint="name it once",
            )
        said[target.name] = one
        opened.append(target)
    return tuple(opened)


def open_target(name: str) -> Admits | OwnTarget:
    """Open one target.

    Args:
        name: `raw`, `source`, `canonical`, `node`, `edge`, `path`; `kind:A+B`; the name of a
            plug-in; or `path/to/file.py:Class`.

    Raises:
        UsageError: It is unknown or no target.
        SystemUnderTestError: Its file cannot be imported.
    """
    target = named_target(name)
    if target is not None:
        return target
    path, colon, attribute = name.rpartition(":")
    if colon and path.endswith(".py"):
        return _own(load_class(Path(path), attribute), name)
    if name not in OWN_TARGETS.names():
        hint = did_you_mean(name, [*NAMED, *OWN_TARGETS.names()])
        raise UsageError(f"unknown target '{name}'", hint=f"{hint}; or kind:fact, file.py:Class")
    return _own(source_of(OWN_TARGETS.load(name), name), name)


def _own(source: Source, typed: str) -> OwnTarget:
    target = WatchedTarget(source, typed)
    name = target.name
    plain = name.isprintable() and name == name.strip() and 0 < len(name) <= _LONGEST_NAME
    if not plain or name in NAMED or ":" in name or "," in name:
        raise UsageError(
            f"a target of one's own cannot be called {name!r}",
            where=typed,
            hint=f"1 to {_LONGEST_NAME} characters that can be seen, no comma or colon, and none "
            f"of {', '.join(NAMED)}",
        )
    return OwnTarget(name, target, source.file, source.digest, Aside())
