"""Proposes a new baseline from a run, and puts a proposal into place when a person says so."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memruler.errors import UsageError
from memruler.store.anchor import resolve
from memruler.store.lock import lock_folder
from memruler.store.paths import cache_dir
from memruler.store.safe import make_dir, write_atomic
from memruler.studies.baseline_check import check, require_sound, sound_run
from memruler.studies.baseline_folder import (
    exists,
    install,
    read_baseline,
    replaced_by,
    sums_digest,
    verified,
    write_baseline,
)
from memruler.studies.baseline_record import BaselineCheck

__all__ = ["PAGE", "accept", "in_ci", "propose", "single_flight"]

PAGE = "comparison.md"
"""The page beside a proposal, for the person who decides; it is not part of the baseline."""


def propose(
    run: Path,
    baseline: Path,
    out: Path,
    *,
    changed: Sequence[str] = (),
    metric: str | None = None,
    page: Callable[[BaselineCheck], str],
) -> BaselineCheck:
    """Write a proposal: what would become the baseline, and a page that compares the two.

    Args:
        run: A run folder.
        baseline: The folder of the baseline; it need not exist, and is not touched.
        out: Where to write the proposal; made if missing, an older one is replaced.
        changed: See `check`.
        metric: See `check`.
        page: Makes Markdown of the check.

    Returns:
        The check. It may say that the two do not compare: then the proposal is a new beginning,
        and the page says so.

    Raises:
        InstrumentError: The run is not sound, or the baseline is damaged: nothing is written.
        UsageError: Another process is at it, or `out` is the baseline or a folder of something
            else.
        FormatError: `run` is no run folder.
    """
    if resolve(out) == resolve(baseline):
        raise UsageError(
            "a proposal cannot stand where the baseline does", where=out, hint="name another --out"
        )
    if out.is_dir() and not exists(out) and any(out.iterdir()):
        raise UsageError("the folder holds something else", where=out, hint="name another --out")
    with single_flight(baseline):
        sound_run(run)
        current = sums_digest(verified(baseline)) if exists(baseline) else None
        found = check(run, baseline, changed=changed, metric=metric)
        write_baseline(run, out, replaces=current)
        write_atomic(resolve(out) / PAGE, page(found).encode(), resolved=True)
    return found


def accept(proposal: Path, baseline: Path, *, force: bool = False) -> bool:
    """Make a proposal the baseline.

    Args:
        proposal: What `propose` wrote.
        baseline: The folder to put it into.
        force: Also in CI, where only a branch that a person merges may carry it.

    Returns:
        Whether anything changed: False where it was accepted before.

    Raises:
        UsageError: This is CI; there is no proposal; another process is at it; or the baseline is
            no longer the one that the proposal was compared with.
        InstrumentError: The proposal or the baseline is damaged, or a stand-in took part.
        FormatError: It is of a version that cannot be read.
    """
    if in_ci() and not force:
        raise UsageError(
            "a baseline is accepted by a person, and this is CI",
            where=baseline,
            hint="accept it at home; or --force on a branch that a person merges",
        )
    with single_flight(baseline):
        if not exists(proposal):
            raise UsageError(
                "there is no proposal here", where=proposal, hint="memruler baseline propose RUN"
            )
        files = verified(proposal)
        require_sound(read_baseline(proposal, files), proposal)
        current = sums_digest(verified(baseline)) if exists(baseline) else None
        if current == sums_digest(files):
            return False
        wanted = replaced_by(files, proposal)
        if wanted != current and current is not None:
            raise UsageError(
                "the baseline is not the one that this proposal was compared with",
                where=baseline,
                hint="propose it anew",
            )
        if wanted is not None and current is None:
            raise UsageError(
                "the proposal is to replace a baseline, and there is none here",
                where=baseline,
                hint="name the baseline it was made for, or propose it anew",
            )
        install(files, baseline)
    return True


def in_ci() -> bool:
    """Whether this process runs in CI: the variable `CI` is set, and not to a no."""
    return os.environ.get("CI", "").strip().lower() not in {"", "0", "false", "no"}


@contextmanager
def single_flight(baseline: Path) -> Iterator[None]:
    """One process at a time works on a baseline; the lock lies in the cache, not beside it.

    Raises:
        UsageError: Another process is at it.
    """
    name = hashlib.sha256(os.fsencode(resolve(baseline))).hexdigest()[:32]
    place = resolve(cache_dir() / "locks" / name)
    make_dir(place)
    try:
        lock = lock_folder(
            place, named="the baseline", busy="working on this baseline", option="--baseline"
        )
    except UsageError as error:
        raise UsageError(error.what, where=baseline, hint=error.hint) from None
    try:
        yield
    finally:
        lock.release()
