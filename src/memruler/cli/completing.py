"""Types of parameters whose values a shell can complete: runs, corpora and systems by name."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from memruler.cli.parameters import NamedPath

__all__ = ["CORPUS", "PUBLIC", "RUN", "STEM", "SYSTEM", "SYSTEM_NAMES"]

_PLAIN = re.compile(r"[\w.][\w.-]*")
"""Names that no shell takes apart; others are not offered."""
_MANIFEST = "manifest.json"
_OUT = Path("runs")


def _offer(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _stems(folder: Path) -> Iterator[str]:
    """Names of the run folders in a folder; none where it cannot be read."""
    try:
        names = sorted(path.name for path in folder.iterdir() if _PLAIN.fullmatch(path.name))
    except OSError:
        return
    yield from (name for name in names if (folder / name / _MANIFEST).is_file())


class _Run(NamedPath):
    """A run folder: completed from `runs`, and otherwise as any path."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        shown = f"{_OUT.name}/"
        if shown.startswith(incomplete) or incomplete.startswith(shown):
            found = _offer((f"{shown}{name}" for name in _stems(_OUT)), incomplete)
            if found:
                return found
        return super().shell_complete(ctx, param, incomplete)


class _Stem(click.types.StringParamType):
    """The name of a run folder below --out."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del param
        out = ctx.params.get("out")
        return _offer(_stems(out if isinstance(out, Path) else _OUT), incomplete)


class _Corpus(click.types.StringParamType):
    """The name of a corpus."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param
        from memruler.corpora.registry import names  # noqa: PLC0415 - --help needs no corpora

        return _offer(names(), incomplete)


class _Public(click.types.StringParamType):
    """The name of something that `memruler fetch` fetches."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param
        from memruler.corpora.pins import pins  # noqa: PLC0415 - --help needs no corpora

        return _offer((name for name, pin in pins().items() if pin.url), incomplete)


class _System(click.types.StringParamType):
    """The name of a memory system, or a file.py:Class."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param
        found = _offer(SYSTEM_NAMES, incomplete)
        return found or [CompletionItem(incomplete, type="file")]


SYSTEM_NAMES = tuple(
    f"builtin:{preset}" for preset in ("lexical", "dense", "hybrid", "episodic", "derived")
)
"""memruler's own; plug-ins are not looked for while a person waits for the shell."""

RUN = _Run(path_type=Path)
"""A run folder."""

STEM = _Stem()
"""The name of a run folder below --out."""

CORPUS = _Corpus()
"""The name of a corpus."""

PUBLIC = _Public()
"""The name of something that is fetched."""

SYSTEM = _System()
"""The name of a memory system."""
