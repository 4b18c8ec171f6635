"""The pytest plug-in: measure a memory in a test, and hold it against the accepted baseline.

It is loaded by every pytest in whose environment memruler is installed, so it imports nothing
heavy before a test asks for it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memruler.testing import assert_no_regression

if TYPE_CHECKING:  # see above
    from memruler.compare.load import LoadedRun
    from memruler.replay.plan import Plan
    from memruler.studies.baseline_record import BaselineCheck

__all__ = ["Memruler", "memruler", "pytest_addoption"]

_INI = {
    "memruler_baseline": ("string", "baseline", "Folder of the accepted baseline."),
    "memruler_corpus": ("string", "synthetic", "Corpus that memruler.measure uses."),
    "memruler_metric": ("string", "", "Metric that decides, such as ndcg@10."),
    "memruler_min_delta": ("string", "0", "Least difference that passes, such as -0.02."),
    "memruler_changed": ("args", [], "What else is under test: keys of the fingerprint."),
}
_CUTOFFS = (1, 3, 5, 10, 20)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings of the configuration file."""
    for name, (kind, default, said) in _INI.items():
        parser.addini(name, said, type=kind, default=default)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def memruler(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> "Memruler":
    """Measure memories, and hold them against the accepted baseline.

    It lives as long as the session, so that a fixture of yours can measure once for many tests.
    """
    return Memruler(pytestconfig, tmp_path_factory.mktemp("memruler"))


class Memruler:
    """What the fixture `memruler` gives.

    Attributes:
        folder: Where runs are written; a temporary one.
        baseline: The accepted baseline of this project, by its setting `memruler_baseline`.
    """

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self.folder = folder
        self.baseline = config.rootpath / str(config.getini("memruler_baseline"))
        self._corpus = str(config.getini("memruler_corpus"))
        self._metric = str(config.getini("memruler_metric")) or None
        self._min_delta = str(config.getini("memruler_min_delta"))
        self._changed = tuple(config.getini("memruler_changed"))
        self._number = 0

    def measure(
        self,
        system: Any = "builtin:lexical",
        corpus: str | None = None,
        *,
        path: str | Path | None = None,
        assignments: Sequence[str] = (),
        population: str | None = None,
        settings: Mapping[str, Any] | None = None,
        cutoffs: Sequence[int] = _CUTOFFS,
    ) -> Path:
        """Measure a memory and score the run.

        Args:
            system: What `memruler retrieval --system` takes, or a live object with the protocol of
                `memruler.model.system.MemorySystem`. Only a name can be replayed in another
                process, which tells more about whether the system is deterministic.
            corpus: A name that `memruler list` shows; None for the setting `memruler_corpus`.
            path: The corpus file, where it is one of your own.
            assignments: `key=value` words, as of `--set`. A live object takes `text.*` alone.
            population: Named set of queries; None for the corpus's default.
            settings: Fields of `memruler.replay.settings.RunSettings`: `limit`, `instances`, ...
            cutoffs: Depths to score, ascending.

        Returns:
            The run folder.

        Raises:
            MemrulerError: As of `memruler retrieval`.
        """
        # Late: see above.
        from memruler.replay.begin import check_measurable  # noqa: PLC0415
        from memruler.replay.plan import PlanSpec, plan_run  # noqa: PLC0415
        from memruler.replay.run import measure  # noqa: PLC0415
        from memruler.report.write import write_report  # noqa: PLC0415
        from memruler.scoring.score import score  # noqa: PLC0415
        from memruler.store.folder import RunFolder  # noqa: PLC0415

        spec = PlanSpec(
            corpus=corpus or self._corpus,
            path=None if path is None else str(path),
            system=system if isinstance(system, str) else "builtin:lexical",
            assignments=tuple(assignments),
            population=population,
            settings=dict(settings or {}),
            typed=(*(settings or {}), "system"),
        )
        plan = plan_run(spec)
        if not isinstance(system, str):
            plan = _live(plan, system)
        check_measurable(plan.corpus, plan.settings)
        self._number += 1
        with RunFolder.claim(self.folder, f"run-{self._number}") as folder:
            measure(plan, folder, lambda *_: None)
            score(folder, tuple(cutoffs))
            write_report(folder)
        return folder.path

    def load(self, run: str | Path) -> "LoadedRun":
        """A finished run: its manifest, its summary, and every query's scores.

        Raises:
            FormatError: It is no finished run folder.
        """
        from memruler.compare.load import load  # noqa: PLC0415 - see above

        return load(Path(run), Path(run).name)

    def assert_no_regression(
        self,
        candidate: str | Path,
        *,
        baseline: str | Path | None = None,
        metric: str | None = None,
        min_delta: float | None = None,
        changed: Sequence[str] | None = None,
    ) -> "BaselineCheck":
        """As `memruler.testing.assert_no_regression`; what is left out comes from the settings.

        Raises:
            Regressed, Unresolved, NotComparable: The test fails.
            MemrulerError: The instrument is broken, or a name is wrong.
        """
        return assert_no_regression(
            self.baseline if baseline is None else baseline,
            candidate,
            metric=self._metric if metric is None else metric,
            min_delta=self._least() if min_delta is None else min_delta,
            changed=self._changed if changed is None else changed,
        )

    def _least(self) -> float:
        try:
            return float(self._min_delta)
        except ValueError:
            raise pytest.UsageError(
                f"memruler_min_delta = {self._min_delta!r} is no number; write one such as -0.02"
            ) from None


def _live(plan: "Plan", system: Any) -> "Plan":
    """The same plan for a live object: nothing of the system that stood in for it is left."""
    import msgspec  # noqa: PLC0415 - see above

    from memruler.errors import UsageError  # noqa: PLC0415

    own = set(plan.spec.assignments if plan.spec else ())
    if any(not word.startswith("text.") for word in own):
        raise UsageError("a live object has its settings already", hint="leave assignments out")
    kept = (*type(plan.settings).__struct_fields__, "population")
    sides = [
        {k: v for k, v in side.items() if k in kept or k.startswith("text.")}
        for side in (plan.chosen, plan.defaulted)
    ]
    return msgspec.structs.replace(
        plan, system=system, chosen=sides[0], defaulted=sides[1], spec=None
    )
