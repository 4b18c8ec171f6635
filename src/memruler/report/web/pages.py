"""The pages of the view: what stands on each, from runs as they are on disk now."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from markupsafe import Markup

from memruler.compare.record import Comparison
from memruler.report.explore.embed import served
from memruler.report.html.page import comparison_sections, refusal_section, run_sections
from memruler.report.web.choices import Choices, read_choices
from memruler.report.web.compared import Compared
from memruler.report.web.kept import Kept, stamp_of
from memruler.report.web.listed import Listed
from memruler.report.web.render import page
from memruler.report.web.runs import Asked, require_finished
from memruler.report.web.trends import trends

__all__ = ["Pages"]

_DATA = "/data"
_KEPT = 32


class Pages:
    """Makes the pages; the slow parts of the last ones are kept until their runs change.

    Args:
        asked: Finds the runs.
        compared: Compares two of them.
    """

    def __init__(self, asked: Asked, compared: Compared) -> None:
        self._asked, self._compared = asked, compared
        self._runs: Kept[Markup] = Kept(_KEPT)
        self._pairs: Kept[Markup] = Kept(_KEPT)
        self._trends: Kept[tuple[Markup, ...]] = Kept(1)

    def runs(self) -> str:
        """The list of runs: what each measured, its headline, and which cannot be read."""
        found = list(self._asked.index.runs().values())
        newest = sorted(found, key=_started, reverse=True)
        return page("Runs", "runs.html.j2", root=self._asked.index.root, runs=newest)

    def run(self, key: str) -> str:
        """One run: its sections and its queries; or why it cannot be shown.

        Raises:
            NoSuchRunError: There is none of that key.
            MemrulerError: It cannot be read after all.
        """
        run = self._asked.run(key)
        if run.state != "finished":
            return page(run.name, "unread.html.j2", run=run)
        sections = self._runs.get(key, stamp_of([run.path]), lambda: _sections(run))
        return page(run.name, "run.html.j2", run=run, sections=sections)

    def compare(self, pairs: Sequence[tuple[str, str]]) -> str:
        """Two runs against each other, or every reason why they must not be.

        Args:
            pairs: The parts of the address's query; see `read_choices`.

        Raises:
            NoSuchRunError: One is not there.
            MemrulerError: One cannot be read, or a choice cannot be made.
        """
        base, candidate = self._asked.pair(pairs)
        require_finished(base)
        require_finished(candidate)
        choices = read_choices(base, candidate, pairs)
        paths = (base.path, candidate.path)
        sections = self._pairs.get(
            choices.key, stamp_of(paths), lambda: self._against(paths, choices)
        )
        return page(
            f"{base.name} against {candidate.name}",
            "compare.html.j2",
            base=base,
            candidate=candidate,
            choices=choices,
            sections=sections,
        )

    def _against(self, paths: tuple[Path, Path], choices: Choices) -> Markup:
        """The sections of a comparison, or of its refusal: then nothing stands side by side."""
        found = self._compared.of(*paths, choices)
        if isinstance(found, Comparison):
            explorer = served(_DATA, choices.explorer)
            return comparison_sections(found, paths, explorer=explorer)
        return refusal_section(found)

    def trends(self) -> str:
        """The headline over time: a figure for each set of runs that may stand on one line."""
        found = self._asked.index.runs()
        made = self._trends.get("trends", tuple(found.values()), lambda: trends(found.values()))
        return page("Trends", "trends.html.j2", root=self._asked.index.root, parts=made)


def _sections(run: Listed) -> Markup:
    explorer = served(_DATA, urlencode({"run": run.key}))
    return run_sections(run.path, name=run.name, explorer=explorer)


def _started(run: Listed) -> tuple[str, str]:
    return (run.started.isoformat() if run.started else "", run.name)
