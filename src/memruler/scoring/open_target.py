"""From the name of a target to the target."""

from pathlib import Path
from typing import Any

from memruler.errors import UsageError
from memruler.plugins import PluginTable, described, did_you_mean
from memruler.scoring.graded import OwnTarget
from memruler.systems.source import Source, load_class, source_of
from memruler.targets.forms import NAMED, Admits, Grades, named_target

__all__ = ["OWN_TARGETS", "open_target", "open_targets"]

OWN_TARGETS = PluginTable("target", "memruler.targets", {})
"""Targets that installed packages declare."""


def open_targets(text: str) -> tuple[Admits | OwnTarget, ...]:
    """Read a list of targets: `raw,source,canonical`.

    Raises:
        UsageError: A name is unknown or stands there twice, or a plug-in is broken.
    """
    opened = tuple(open_target(name.strip()) for name in text.split(","))
    names = [target.name for target in opened]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"the target {twice[0]} is asked for twice", where=text)
    return opened


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
    try:
        grades: Any = source.factory()
    except Exception as error:
        raise UsageError(f"the target cannot be made: {described(error)}", where=typed) from error
    if not isinstance(grades, Grades) or not isinstance(getattr(grades, "name", None), str):
        raise UsageError(
            "this is no target: it needs a `name` and a method `grade`",
            where=typed,
            hint="docs/targets.md has an example",
        )
    if grades.name in NAMED or ":" in grades.name or "," in grades.name:
        raise UsageError(f"a target of one's own cannot be called {grades.name!r}", where=typed)
    return OwnTarget(grades.name, grades, source.file, source.digest)
