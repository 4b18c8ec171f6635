"""Holds a run against the accepted baseline: what moved, and whether the instrument is sound."""

from collections.abc import Sequence
from math import fsum
from pathlib import Path
from typing import Any

import msgspec

from memruler.compare.comparable import shown
from memruler.compare.exact import compare_loaded
from memruler.compare.fingerprint import differences
from memruler.compare.gate import Gate, gate_pair
from memruler.compare.load import LoadedRun, load, name_of
from memruler.compare.pairing import pair_runs
from memruler.compare.record import Comparison, Reason, Verdict
from memruler.compare.refusal import Incomparable
from memruler.compare.run_items import run_items
from memruler.errors import FormatError, InstrumentError, MemrulerError, printable
from memruler.store.binding import require_own_tables
from memruler.store.folder import MANIFEST, TABLES, RunFolder
from memruler.studies.baseline_folder import exists, read_baseline, sums_digest, verified
from memruler.studies.baseline_record import BaselineCheck, Figures, Outcome, exit_code

__all__ = ["against", "check", "require_sound", "sound_run"]

_BROKEN = 3
_SYSTEM = "system."
_OWN_NAME = "system.name"
_EMBEDDER = "embedder"
_SHOWN = 3
_LENGTHS = {"members", "cutoff", "nothing-left", "metric"}
_DISAGREE = "shared_and_floor_disagree"
_VERDICTS: dict[str, Verdict | None] = {"pass": "better", "fail": "worse", "unresolved": None}


def check(
    run: Path, baseline: Path, *, changed: Sequence[str] = (), metric: str | None = None
) -> BaselineCheck:
    """Hold a run against the accepted baseline.

    A change of the system's version, digest or settings is what a baseline watches, so it needs
    no declaration and is listed. Everything else that differs must be declared; another embedder
    makes the two incomparable, declared or not.

    Args:
        run: A run folder.
        baseline: The folder of the baseline.
        changed: What else is under test; see `memruler.compare.fingerprint.differences`.
        metric: The metric that decides, such as `ndcg@10`; None for the headline.

    Returns:
        Whatever there is to say: also that the instrument broke (a checksum, a crashed or
        degraded run), or that the two do not compare.

    Raises:
        UsageError: A declared key or a metric is unknown, or the run folder is not there.
        FormatError: `run` is no run folder, or the baseline is of a version that cannot be read.
    """
    known: dict[str, Any] = {
        "baseline": name_of(baseline),
        "run": name_of(run),
        "accepted": None,
    }
    try:
        candidate = sound_run(run)
        if not exists(baseline):
            note = "no baseline was accepted yet: memruler baseline propose, then accept"
            return _made("no-baseline", known, notes=(note,))
        files = verified(baseline)
        known["accepted"] = sums_digest(files)
        base = read_baseline(baseline, files, candidate)
        require_sound(base, baseline)
        known["baseline"] = base.name
        found = against(base, candidate, changed=changed, metric=metric)
        return msgspec.structs.replace(found, accepted=known["accepted"])
    except Incomparable as refusal:
        return _made("incomparable", known, refused=refusal.record)
    except MemrulerError as error:
        if error.exit_code != _BROKEN:
            raise
        return _made("broken", known, broken=str(error))


def sound_run(run: Path) -> LoadedRun:
    """A finished run that real parts made.

    Raises:
        InstrumentError: It crashed, its tables are not those it sealed, it was not scored, or a
            stand-in took part.
        FormatError: It is no run folder.
    """
    try:
        loaded = load(run, name_of(run))
        require_own_tables(RunFolder.open(run), loaded.manifest, TABLES)
    except FormatError as error:
        if not (run / MANIFEST).exists():
            raise  # a path that was mistyped, not a run that crashed
        raise InstrumentError(error.what, where=error.where, hint=error.hint) from error
    require_sound(loaded, run)
    return loaded


def require_sound(run: LoadedRun, where: Path) -> None:
    """Refuse a run whose numbers are those of a stand-in.

    Raises:
        InstrumentError: It is degraded, or its embedder is the toy.
    """
    reasons = list(run.manifest.degraded)
    embedder = run.manifest.fingerprint.get("embedder")
    if isinstance(embedder, dict) and (embedder.get("degraded") or embedder.get("kind") == "toy"):
        reasons.append(f"the embedder is {embedder.get('model')}, a stand-in")
    if reasons:
        raise InstrumentError(
            f"a stand-in took part ({'; '.join(dict.fromkeys(reasons))})",
            where=where,
            hint="measure with real parts",
        )


def against(
    base: LoadedRun,
    candidate: LoadedRun,
    *,
    changed: Sequence[str] = (),
    metric: str | None = None,
    threshold: float = 0.0,
) -> BaselineCheck:
    """Hold a sound run against another, as `check` does.

    Args:
        base: The baseline, or a run.
        candidate: The run.
        changed: As in `check`.
        metric: As in `check`.
        threshold: Where one of the two is a draw: what `interval` decides about.

    Raises:
        Incomparable: A difference would not mean what it looks like; every reason at once.
        UsageError: A declared key or a metric is unknown.
    """
    known: dict[str, Any] = {"baseline": base.name, "run": candidate.name, "accepted": None}
    watched = _watched(base, candidate, changed)
    if all(map(_deterministic, (base, candidate))):
        found, lengths = _exact(base, candidate, watched, metric)
        head = found.headline
        moved = bool(found.queries or lengths) or head.delta != 0
        return _made(
            "moved" if moved else "unchanged",
            known,
            verdict=found.verdict,
            figures=Figures(
                metric=f"{head.metric}@{head.k}",
                level=head.level,
                base=head.base,
                candidate=head.candidate,
                delta=head.delta,
                counted=head.counted,
                wins=head.wins,
                losses=head.losses,
            ),
            changed=found.changed,
            exact=_without_texts(found),
            notes=(*lengths, *_unexplained(found)),
        )
    decided = _interval(base, candidate, watched, metric, threshold)
    verdict = _VERDICTS[decided.outcome]
    return _made(
        "unresolved" if verdict is None else "moved",
        known,
        verdict=verdict,
        figures=_figures(base, candidate, decided),
        changed=decided.changed,
        # Names of questions say what moved; which single draw fell otherwise says nothing.
        interval=msgspec.structs.replace(decided, moved=()),
        notes=("at least one of the two is a draw: the difference carries an interval",),
    )


def _watched(base: LoadedRun, candidate: LoadedRun, changed: Sequence[str]) -> tuple[str, ...]:
    """What is under test: what was declared, and whatever differs in the system itself.

    Raises:
        Incomparable: The embedder is another one, declared or not.
        UsageError: A declared key is unknown.
    """
    found = differences(base.manifest.fingerprint, candidate.manifest.fingerprint, changed)
    other = [d for d in (*found.undeclared, *found.declared) if _part(d.key) == _EMBEDDER]
    if other:
        reason = Reason(
            code="undeclared",
            what="THE EMBEDDER IS ANOTHER ONE "
            f"({'; '.join(map(shown, other[:_SHOWN]))}): the baseline's figures say nothing of it",
            hint="accept a baseline made with the new one; what the change of embedder does, "
            "`memruler compare` says of two runs",
        )
        raise Incomparable(base.name, candidate.name, [reason])
    return (
        *changed,
        *(d.key for d in found.undeclared if d.key.startswith(_SYSTEM) and d.key != _OWN_NAME),
    )


def _part(key: str) -> str:
    return key.partition(".")[0]


def _exact(
    base: LoadedRun, candidate: LoadedRun, changed: Sequence[str], metric: str | None
) -> tuple[Comparison, tuple[str, ...]]:
    """The comparison, and what must be said of how it was made.

    Over all queries; where lists became longer or shorter, over those that count on both sides;
    where that would hide what the shorter lists lost, at the cut-offs that all lists reach. A
    memory whose lists changed has moved, and that alone must not end in a refusal.
    """

    def made(**how: Any) -> Comparison:
        return compare_loaded(
            base, candidate, changed=changed, metric=metric, explained=False, **how
        )

    try:
        return made(), ()
    except Incomparable as refusal:
        # Lists of other lengths are told only where nothing weightier is.
        weighty = [r for r in refusal.record.reasons if r.code not in _LENGTHS]
        if weighty:
            raise Incomparable(base.name, candidate.name, weighty) from None
    try:
        return made(shared=True), ()
    except Incomparable as refusal:
        if any(r.code != _DISAGREE for r in refusal.record.reasons):
            raise
        told = refusal
    try:
        found = made(cutoffs="common")
    except Incomparable:
        raise told from None  # a metric that was asked for is at no such cut-off
    return found, (f"LISTS BECAME SHORTER OR LONGER: {told.record.reasons[0].what}",)


def _interval(
    base: LoadedRun,
    candidate: LoadedRun,
    changed: Sequence[str],
    metric: str | None,
    threshold: float,
) -> Gate:
    sides = ((base, run_items(None, base)), (candidate, run_items(None, candidate)))
    clusters = {key.instance for key in base.queries}
    pair = pair_runs(
        *sides,
        metric=metric,
        cluster="conversation" if len(clusters) > 1 else None,
        changed=changed,
        shared=True,
    )
    return gate_pair(pair, threshold=threshold)


def _figures(base: LoadedRun, candidate: LoadedRun, decided: Gate) -> Figures:
    level, _, column = decided.metric.partition(":")
    one, other = (run.scores[level].columns[column] for run in (base, candidate))  # type: ignore[index]
    both = [key for key in one if key in other]
    return Figures(
        metric=column,
        level=level,
        base=fsum(one[key] for key in both) / len(both),
        candidate=fsum(other[key] for key in both) / len(both),
        delta=decided.delta,
        counted=decided.counted,
        wins=decided.wins,
        losses=decided.losses,
    )


def _deterministic(run: LoadedRun) -> bool:
    measured = run.manifest.determinism
    return measured is not None and 0 < measured.queries == measured.identical


def _unexplained(found: Comparison) -> tuple[str, ...]:
    if found.changed or not found.queries:
        return ()
    told = (
        f"{len(found.queries)} queries scored differently although nothing differs between the "
        "two fingerprints: the system changed without changing its identity, a package or the "
        "machine did it, or it is not deterministic"
    )
    return (told,)


def _without_texts(found: Comparison) -> Comparison:
    """Questions by their ids alone: the record travels into logs and comments."""
    return msgspec.structs.replace(
        found, queries=tuple(msgspec.structs.replace(query, text="") for query in found.queries)
    )


def _made(outcome: Outcome, known: dict[str, Any], **fields: Any) -> BaselineCheck:
    broken = fields.pop("broken", None)
    return BaselineCheck(
        outcome=outcome,
        verdict=fields.pop("verdict", None),
        code=exit_code(outcome),
        broken=None if broken is None else printable(broken, 2000),
        **known,
        **fields,
    )
