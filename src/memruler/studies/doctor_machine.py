"""Python, SQLite, plug-ins, disks and the environment, as far as memruler stands on them."""

import os
import platform
import shutil
import sqlite3
import struct
import sys
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from memruler.errors import MemrulerError
from memruler.plugins import PluginTable, PluginWarning
from memruler.scoring.graders.registry import grader_names
from memruler.scoring.open_target import OWN_TARGETS
from memruler.store.paths import cache_dir
from memruler.studies.doctor_record import Finding
from memruler.systems.registry import SYSTEMS

__all__ = ["disks", "environment", "plug_ins", "python", "sqlite"]

_OLDEST = (3, 11)
_BITS = 64
_LEAST_FREE = 100_000_000
"""Bytes: less does not hold a run of LoCoMo with its temporary files."""
_GB = 1_000_000_000
_KEYS = ("OPENAI_API_KEY",)
_GROUPS = {
    "memory system": "memruler.systems",
    "target": "memruler.targets",
    "grader": "memruler.graders",
}


def python() -> Iterator[Finding]:
    """The interpreter's version and width."""
    bits = struct.calcsize("P") * 8
    sound = sys.version_info >= _OLDEST and bits == _BITS
    version = platform.python_version()
    where = "a virtual environment" if sys.prefix != sys.base_prefix else "no virtual environment"
    yield Finding(
        area="python",
        name="python",
        state="ok" if sound else "broken",
        found=f"{platform.python_implementation()} {version}, {bits} bits, {where}",
        do=None if sound else f"use Python {_OLDEST[0]}.{_OLDEST[1]} or newer, of 64 bits",
    )


def sqlite() -> Iterator[Finding]:
    """Full-text search, which the built-in memory needs, and loading of extensions."""
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='unicode61')")
        except sqlite3.Error as error:
            yield Finding(
                area="sqlite",
                name="FTS5",
                state="broken",
                found=f"SQLite {sqlite3.sqlite_version} lacks it: {error}",
                do="use a Python whose SQLite has FTS5, such as one from python.org or uv",
            )
        else:
            told = f"SQLite {sqlite3.sqlite_version} has full-text search"
            yield Finding(area="sqlite", name="FTS5", state="ok", found=told)
        loads = hasattr(db, "enable_load_extension")
    yield Finding(
        area="sqlite",
        name="extensions",
        state="ok" if loads else "missing",
        found="can be loaded" if loads else "this Python cannot load any",
        do=None if loads else "only memories that bring one (sqlite-vec) need another Python",
    )


def plug_ins() -> Iterator[Finding]:
    """What other packages declare, each imported once; and declarations that are broken."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for names in (SYSTEMS.names, OWN_TARGETS.names, grader_names):
            names()
        tables = {kind: PluginTable(kind, group, {}) for kind, group in _GROUPS.items()}
        declared = [(kind, name) for kind, table in tables.items() for name in table.names()]
    told = dict.fromkeys(str(one.message) for one in caught if one.category is PluginWarning)
    for message in told:
        yield Finding(
            area="plug-ins",
            name="declared",
            state="broken",
            found=message,
            do="repair or uninstall the package that declares it",
        )
    for kind, name in declared:
        yield _plug_in(tables[kind], kind, name)
    if not declared and not told:
        yield Finding(area="plug-ins", name="declared", state="ok", found="none installed")


def _plug_in(table: PluginTable, kind: str, name: str) -> Finding:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table.load(name)
    except MemrulerError as error:
        return Finding(area="plug-ins", name=name, state="broken", found=error.what, do=error.hint)
    return Finding(area="plug-ins", name=name, state="ok", found=f"a {kind}; it can be imported")


def disks() -> Iterator[Finding]:
    """Free space where the person is, and where the cache is, if that is another disk."""
    seen: set[tuple[int, int]] = set()
    for name, folder in (("here", Path.cwd()), ("cache", cache_dir())):
        there = folder
        while not there.exists() and there != there.parent:
            there = there.parent
        usage = shutil.disk_usage(there)
        if (usage.total, usage.free) in seen:
            continue
        seen.add((usage.total, usage.free))
        enough = usage.free >= _LEAST_FREE
        yield Finding(
            area="disk",
            name=name,
            state="ok" if enough else "broken",
            found=f"{usage.free / _GB:,.1f} GB free",
            do=None if enough else f"free some space on the disk of {there}",
        )


def environment() -> Iterator[Finding]:
    """Whether keys are set; never what they are."""
    for name in _KEYS:
        there = bool(os.environ.get(name))
        yield Finding(
            area="environment",
            name=name,
            state="ok" if there else "missing",
            found="set (its value is shown nowhere)" if there else "not set",
            do=None if there else "only readers, judges and embedders of a paid service need one",
        )
