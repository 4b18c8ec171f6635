"""Names to objects, without importing an object before it is asked for.

A table holds memruler's own objects as `module:attribute` and adds what installed packages
declare as entry points. A broken package costs one warning, never the list.
"""

import warnings
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memruler.errors import UsageError, printable

if TYPE_CHECKING:  # slow to import, and only needed where plug-ins are looked up
    from importlib.metadata import EntryPoint

__all__ = ["PluginTable", "PluginWarning", "class_name", "described", "did_you_mean"]


class PluginWarning(UserWarning):
    """An installed plug-in is broken, or its name is taken; it is left out."""


_warned: set[str] = set()


def did_you_mean(word: str, known: Iterable[str], *, prefix: str = "") -> str:
    """A hint for a name that is not known: the nearest one, or all of them.

    Args:
        word: As typed.
        known: What it could have been.
        prefix: Put before every name that is shown.
    """
    names = sorted(known)
    folded = {name.lower(): name for name in names}
    near = get_close_matches(word.lower(), folded, n=1)
    if near:
        return f"did you mean {prefix}{folded[near[0]]}?"
    return f"known: {', '.join(prefix + name for name in names)}" if names else "none is known"


def class_name(thing: object) -> str:
    """The name of a thing's class, whatever its metaclass would say."""
    return str(type.__dict__["__name__"].__get__(type(thing)))


def described(error: BaseException) -> str:
    """The class of an error and what it says, also where saying it fails."""
    try:
        said = str.__str__(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - its own code runs, and may do anything
        said = "its message cannot be read"
    return f"{class_name(error)}: {said}" if said else class_name(error)


class PluginTable:
    """The objects of one kind.

    Args:
        kind: What they are, for messages: `memory system`.
        group: Entry-point group that other packages add to.
        own: memruler's own: name to `module:attribute`. No plug-in can take one of these names.
    """

    def __init__(self, kind: str, group: str, own: Mapping[str, str]) -> None:
        self._kind = kind
        self._group = group
        self._own = dict(own)

    def names(self) -> list[str]:
        """Every name, own ones first; nothing is imported."""
        return [*self._own, *sorted(self._declared())]

    def own(self) -> frozenset[str]:
        """The names that are memruler's own."""
        return frozenset(self._own)

    def load(self, name: str) -> Any:
        """Import the object behind a name.

        Raises:
            UsageError: No such name, or the plug-in's package cannot be imported.
        """
        if name in self._own:
            module, _, attribute = self._own[name].partition(":")
            return getattr(import_module(module), attribute)
        declared = self._declared()
        if name not in declared:
            raise UsageError(
                f"unknown {self._kind}", where=name, hint=did_you_mean(name, self.names())
            )
        entry = declared[name]
        try:
            return entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise UsageError(
                f"the {self._kind} {name} cannot be imported: {described(error)}",
                where=entry.value,
                hint="repair or uninstall the package that declares it",
            ) from error

    def _declared(self) -> "dict[str, EntryPoint]":
        from importlib.metadata import EntryPoint, distributions  # noqa: PLC0415 - see above

        found: dict[str, EntryPoint] = {}
        for distribution in distributions():
            try:
                entries = [e for e in distribution.entry_points if e.group == self._group]
            except Exception as error:  # noqa: BLE001 - whatever a foreign package is broken by
                self._warn(f"the entry points of a package cannot be read: {error!r}")
                continue
            for entry in entries:
                if EntryPoint.pattern.match(entry.value) is None:
                    self._warn(f"the {self._kind} {entry.name} points nowhere: {entry.value}")
                elif entry.name in self._own:
                    self._warn(f"the {self._kind} {entry.name} is memruler's own: {entry.value}")
                elif found.setdefault(entry.name, entry).value != entry.value:
                    self._warn(f"the {self._kind} {entry.name} is declared twice: {entry.value}")
        return found

    def _warn(self, message: str) -> None:
        if message not in _warned:
            _warned.add(message)
            warnings.warn(printable(message), PluginWarning, stacklevel=4)
