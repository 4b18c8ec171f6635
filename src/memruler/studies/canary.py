"""Proves that the ruler sees a difference known to exist, before anyone believes a null result."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from memruler.compare.exact import compare
from memruler.compare.headline import HEADLINE
from memruler.compare.refusal import Incomparable
from memruler.errors import Interrupted, Refusal, UsageError
from memruler.metrics.names import MetricName
from memruler.model.summary import Level
from memruler.replay.begin import check_measurable
from memruler.replay.instance import Tick
from memruler.replay.plan import Plan
from memruler.replay.run import measure
from memruler.scoring.load import RunArrays, load
from memruler.scoring.score import score
from memruler.stats.power import smallest_effect
from memruler.stats.power_record import SmallestEffect
from memruler.store.folder import RunFolder
from memruler.studies.canary_checks import check_level
from memruler.studies.canary_gate import check_gate
from memruler.studies.canary_planted import plant_loss
from memruler.studies.canary_record import Canary, Check, LevelChecks, Planted

__all__ = ["CanarySettings", "canary", "canary_of_run"]

_OF_ONES = ("recall_all", "recall_any")
"""Metrics whose smallest step is one query."""
_TARGET = "raw"


class CanarySettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of the ruler.

    Attributes:
        metric: `recall_all` or `recall_any` at a cut-off.
        plant: Queries whose gold the planted arm loses, at least 1.
        seed: Of the choice of queries, and of the simulation.
        noise: Share of labels that are assumed to flip by chance, above 0 and at most 1; None
            for a deterministic ruler, where one query is a fact.
        power: Wanted chance to see the smallest effect under `noise`.
    """

    metric: str = f"{HEADLINE}@5"
    plant: int = 5
    seed: int = 7
    noise: float | None = None
    power: float = 0.8

    def name(self) -> MetricName:
        """The metric.

        Raises:
            UsageError: It is unknown, or not one of zeros and ones; or another setting is out of
                its range.
        """
        if self.plant < 1 or self.seed < 0:
            raise UsageError("plant at least 1 query, with a seed of at least 0")
        if self.noise is not None and not 0 < self.noise <= 1:
            raise UsageError(
                f"{self.noise:g} of all labels", hint="a share above 0 and up to 1, such as 0.1"
            )
        name = MetricName.parse(self.metric)
        if name.metric not in _OF_ONES:
            raise UsageError(
                f"{name} has values between 0 and 1, so a known loss is no known difference",
                hint=f"choose {' or '.join(f'{metric}@{name.k}' for metric in _OF_ONES)}",
            )
        return name


def canary(plan: Plan, settings: CanarySettings, tick: Tick) -> Canary:
    """Measure a corpus, make the result worse by known amounts, and ask the ruler.

    Nothing is kept.

    Args:
        plan: What to measure.
        settings: What is asked.
        tick: Told about progress.

    Raises:
        UsageError: A setting is out of its range.
        Refusal: There is nothing that could be made worse, or the system is not deterministic.
        SystemUnderTestError: The system failed.
        Interrupted: A person stopped it.
    """
    name = settings.name()
    if name.k > plan.settings.limit:
        raise UsageError(
            f"{name} looks deeper than the {plan.settings.limit} hits asked for",
            hint=f"--limit {name.k}",
        )
    check_measurable(plan.corpus, plan.settings)
    with _scratch() as root:
        with RunFolder.claim(root, "base") as folder:
            measure(plan, folder, tick)
            score(folder, (name.k,))
        run = load(folder, _TARGET)
        checks, levels = _on_saved(folder.path, run, name, settings.seed)
        tick("planting", 0, 1)
        arm, planted = plant_loss(
            plan, folder.path, run, name, number=settings.plant, seed=settings.seed, tick=tick
        )
    return _canary(run, settings, (*checks, *arm), levels, planted)


def canary_of_run(path: Path, settings: CanarySettings) -> Canary:
    """Make a finished run worse by known amounts, and ask the ruler; the run is left as it is.

    Args:
        path: Its folder.
        settings: What is asked; `plant` is not used, since nothing is measured.

    Raises:
        UsageError: A setting is out of its range.
        FormatError: It is no finished run.
        Refusal: There is nothing that could be made worse, or the run is not deterministic.
    """
    name = settings.name()
    source = RunFolder.open(path)
    with _scratch() as root:
        _copy(source.path, root / "base")
        with RunFolder.claim(root, "base") as folder:
            score(folder, (name.k,))
        run = load(folder, _TARGET)
        checks, levels = _on_saved(folder.path, run, name, settings.seed)
    return _canary(run, settings, checks, levels, None)


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="memruler-canary-", ignore_cleanup_errors=True) as root:
        try:
            yield Path(root).resolve()
        except Interrupted:
            raise Interrupted("interrupted; a canary keeps nothing") from None


def _copy(source: Path, target: Path) -> None:
    """What a comparison reads, without the stores that a run may have kept."""
    target.mkdir()
    for entry in source.iterdir():
        if entry.suffix in {".parquet", ".json"} and entry.name != "report.json":
            shutil.copyfile(entry, target / entry.name)


def _on_saved(
    folder: Path, run: RunArrays, name: MetricName, seed: int
) -> tuple[tuple[Check, ...], tuple[LevelChecks, ...]]:
    turnless = run.manifest.fingerprint["ingest"]["granularity"] == "session"
    names: tuple[Level, ...] = ("session",) if turnless else ("session", "turn")
    found = [check_level(run, level, name, seed) for level in names]
    checks = [check for made, _ in found for check in made]
    levels = tuple(level for _, level in found)
    failed = any(check.seen is False for check in checks)
    if not failed and not any(level.degradable for level in levels):
        raise Refusal(
            [
                f"no query has {name} of 1 at the {level.level} level (0 of {level.counted} that"
                " count), so nothing can be made worse"
                for level in levels
            ],
            hint="take a system that finds something, another corpus, or a deeper cut-off",
        )
    return (*checks, _copied(folder, failed=failed), *check_gate()), levels


def _copied(folder: Path, *, failed: bool) -> Check:
    """The same run under another name, through the whole of `compare`."""
    copy = folder.with_name("copy")
    _copy(folder, copy)
    try:
        found = compare(folder, copy)
    except Incomparable as refusal:
        if not failed:  # the ruler is sound, and this is no run for it
            raise
        seen, said = False, refusal.reasons[0]
    else:
        seen = found.verdict == "unchanged" and found.headline.delta == 0 and not found.queries
        said = f"{found.verdict}, {len(found.queries)} queries changed"
    return Check(name="an identical copy", seen=seen, expected="unchanged", found=said)


def _canary(
    run: RunArrays,
    settings: CanarySettings,
    checks: tuple[Check, ...],
    levels: tuple[LevelChecks, ...],
    planted: Planted | None,
) -> Canary:
    parts = run.manifest.fingerprint
    return Canary(
        outcome="blind" if any(check.seen is False for check in checks) else "sees",
        corpus=parts["corpus"],
        system=parts["system"],
        population=parts["population"]["name"],
        metric=settings.metric,
        seed=settings.seed,
        checks=checks,
        levels=levels,
        planted=planted,
        noisy=_noisy(levels[0].counted, settings),
        noise=settings.noise,
        degraded=run.manifest.degraded,
        corpus_notes=run.manifest.corpus_notes,
        warnings=run.manifest.warnings,
    )


def _noisy(counted: int, settings: CanarySettings) -> SmallestEffect | None:
    """The smallest effect if labels flipped by chance, as many up as down, each on its own."""
    if settings.noise is None:
        return None
    each = max(1, round(counted * settings.noise / 2))
    deltas = [1] * each + [-1] * each + [0] * max(counted - 2 * each, 0)
    return smallest_effect(deltas, power=settings.power, seed=settings.seed)
