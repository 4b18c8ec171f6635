"""From the name of a system to the system."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from memruler.errors import UsageError
from memruler.model.system import MemorySystem
from memruler.plugins import PluginTable
from memruler.systems.arguments import constructor_arguments
from memruler.systems.builtin.settings import PRESETS
from memruler.systems.derived.settings import NAME as DERIVED
from memruler.systems.guard import Guard, missing_methods
from memruler.systems.guarded import GuardedSystem
from memruler.systems.plain import Unfit, plain
from memruler.systems.recipes import RECIPE, recipe_path
from memruler.systems.remote.system import open_remote
from memruler.systems.source import Source, load_class, source_of

__all__ = ["BUILTIN", "SYSTEMS", "OpenedSystem", "open_system"]

BUILTIN = "builtin:"

SYSTEMS = PluginTable(
    "memory system",
    "memruler.systems",
    {f"{BUILTIN}{preset}": "memruler.systems.builtin.system:build" for preset in PRESETS}
    | {DERIVED: "memruler.systems.derived.system:build"}
    | {
        "baseline:random": "memruler.systems.baselines:Chance",
        "baseline:recency": "memruler.systems.baselines:Recency",
        "baseline:whole": "memruler.systems.baselines:Whole",
        "chroma": "memruler.systems.adapters.chroma:Chroma",
        "langgraph": "memruler.systems.adapters.langgraph:LangGraph",
        "llamaindex": "memruler.systems.adapters.llamaindex:LlamaIndex",
        "mem0": "memruler.systems.adapters.mem0:Mem0",
    },
)
"""Every system known by name."""


class OpenedSystem(msgspec.Struct, frozen=True, kw_only=True):
    """A system that is ready to be measured.

    Attributes:
        chosen: Its settings that the person set, by dotted key, with the value in force.
        defaulted: Its other settings.
    """

    system: MemorySystem
    chosen: dict[str, Any]
    defaulted: dict[str, Any]


def open_system(name: str, settings: Mapping[str, str]) -> OpenedSystem:
    """Open a system by name.

    The same name and settings give the same identity in every process, as long as the files of
    the system are the same.

    Args:
        name: `builtin:PRESET`, the name of a plug-in, `path/to/file.py:Class`, or
            `path/to/memory.toml`, or `recipe:NAME` for such a file that memruler brings.
        settings: Setting to its value as typed.

    Raises:
        UsageError: An unknown name or setting, a value that is not allowed, a file or class that
            is not there, or a class that is no memory system.
        SystemUnderTestError: The system's own code failed while it was loaded.
        InstrumentError: A part that the system needs (an embedder) cannot be loaded.
    """
    try:
        plain(name)
    except Unfit as error:
        raise UsageError(f"the name of the system: {error}", where=name) from error
    if name.endswith(".toml") or name.startswith(RECIPE):
        remote, chosen = open_remote(recipe_path(name), settings)
        return OpenedSystem(system=remote, chosen=chosen, defaulted=remote.defaulted(chosen))
    if name.endswith(".py"):
        raise UsageError("a file needs the name of its class", where=name, hint=f"{name}:Class")
    path, colon, attribute = name.rpartition(":")
    if colon and path.endswith(".py"):
        return _foreign(load_class(Path(path), attribute), attribute, settings)
    preset = name.removeprefix(BUILTIN)
    if preset != name and (preset in PRESETS or name == DERIVED):
        build = SYSTEMS.load(name)
        system, chosen, defaulted = build(preset, settings)
        return OpenedSystem(system=system, chosen=chosen, defaulted=defaulted)
    with Guard(name)(f"importing {name}"):
        source = source_of(SYSTEMS.load(name), name)
    return _foreign(source, name, settings)


def _foreign(source: Source, name: str, settings: Mapping[str, str]) -> OpenedSystem:
    guard = Guard(source.file)
    with guard(f"{name}()"):
        # Inside, since the code of the class has a say in each of these.
        chosen, defaulted = constructor_arguments(source.factory, settings, name)
        system = source.factory(**chosen)
        lacking = missing_methods(system, MemorySystem)
    if lacking:
        raise UsageError(
            f"{name} is no memory system: it has no {', '.join(lacking)}",
            where=source.file,
            hint="a memory system has identity and open; docs/systems.md has an example",
        )
    guarded = GuardedSystem(system, guard, source.digest, {**defaulted, **chosen})
    return OpenedSystem(system=guarded, chosen=chosen, defaulted=defaulted)
