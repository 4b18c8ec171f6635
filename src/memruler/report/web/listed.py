"""What a list of runs says of one run folder, and how it is read."""

import hashlib
import os
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from memruler.errors import FormatError, MemrulerError, printable
from memruler.model.run import Manifest
from memruler.model.summary import Summary
from memruler.report.figures.trend import TrendPoint, trend_point
from memruler.report.view import headline_of
from memruler.store.folder import RunFolder

__all__ = ["Headline", "Listed", "key_of", "read_listed"]

State = Literal["finished", "unfinished", "broken"]

_KEY_LENGTH = 16


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The one number of a run, with what it is over.

    Attributes:
        metric: Its id, such as `recall_all@5`.
        level: What a rank is a rank of.
        value: The mean, in [0, 1].
        counted: Queries that it is over.
        of: Measurable queries of the population.
    """

    metric: str
    level: str
    value: float
    counted: int
    of: int


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One run folder in a list.

    Attributes:
        key: What stands for it in addresses: made from its name, and never read as a path.
        name: Where it lies below the folder that is shown, with control characters escaped.
        path: The folder.
        state: `broken` where it cannot be read.
        why: What is wrong with it, or what it waits for; None for a finished run.
        system, corpus, population: What was measured; None where not known.
        point: The headline as a point in time; None where there is none.
        started: When it began (UTC).
        headline: None where there is none, and then `unscored` says why.
        unscored: Why there is no headline.
        degraded: Why the results must not be trusted.
        warnings: How many sentences put the numbers in doubt.
    """

    key: str
    name: str
    path: Path
    state: State
    why: str | None = None
    system: str | None = None
    corpus: str | None = None
    population: str | None = None
    point: TrendPoint | None = None
    started: datetime | None = None
    headline: Headline | None = None
    unscored: str | None = None
    degraded: tuple[str, ...] = ()
    warnings: int = 0


def key_of(relative: str) -> str:
    """What stands for a run in addresses: 16 hex digits, the same after every start.

    Args:
        relative: Its path below the folder that is shown.
    """
    return hashlib.sha256(os.fsencode(relative)).hexdigest()[:_KEY_LENGTH]


def read_listed(root: Path, relative: str) -> Listed:
    """Read what a list says of one run folder; whatever is wrong with it becomes part of that.

    Args:
        root: The folder that is shown.
        relative: Where the run lies below it.
    """
    path = root / relative
    found = Listed(key=key_of(relative), name=printable(relative), path=path, state="broken")
    try:
        manifest = RunFolder(path.resolve()).manifest()
        if manifest is None:
            return msgspec.structs.replace(found, why="it has tables but no manifest")
        found = _described(found, manifest)
        if manifest.state == "running":
            why = "not finished: resume it with the command that began it"
            return msgspec.structs.replace(found, state="unfinished", why=why)
        return _scored(found, RunFolder.open(path), manifest)
    except (MemrulerError, OSError, ValueError) as error:
        return msgspec.structs.replace(found, state="broken", why=_said(error))


def _said(error: Exception) -> str:
    if not isinstance(error, MemrulerError):
        return printable(error)
    # The list names the folder already.
    return printable(error.what) + (f"; {printable(error.hint)}" if error.hint else "")


def _described(found: Listed, manifest: Manifest) -> Listed:
    parts = manifest.fingerprint
    return msgspec.structs.replace(
        found,
        system=_name(parts.get("system")),
        corpus=_name(parts.get("corpus")),
        population=_name(parts.get("population")),
        started=manifest.started,
        degraded=tuple(printable(why) for why in manifest.degraded),
        warnings=len(manifest.warnings),
    )


def _name(part: object) -> str | None:
    name = part.get("name") if isinstance(part, dict) else None
    return None if name is None else printable(name, 120)


def _scored(found: Listed, folder: RunFolder, manifest: Manifest) -> Listed:
    if not folder.has("summary.json"):
        return msgspec.structs.replace(
            found, state="finished", unscored="not scored: `memruler score` does it"
        )
    try:
        summary = msgspec.json.decode(folder.read("summary.json"), type=Summary)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(
            f"summary.json cannot be read: {error}", hint="score the run again"
        ) from error
    # Cut-offs are read by their headline's name: a summary of another origin may lack it.
    head = headline_of(summary) if summary.slices else None
    if head is None or head[0].partition("@")[0] not in head[1].values:
        return msgspec.structs.replace(
            found, state="finished", unscored="no query has a list as long as a cut-off"
        )
    metric, row = head
    return msgspec.structs.replace(
        found,
        state="finished",
        point=trend_point(manifest, summary, found.name),
        headline=Headline(
            metric=metric,
            level=row.level,
            value=row.values[metric.partition("@")[0]],
            counted=row.counted,
            of=row.of,
        ),
    )
