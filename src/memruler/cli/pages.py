"""The reference pages of the command line, made from the commands so that they cannot drift."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from memruler.cli.main import VERBS, cli
from memruler.store.safe import write_atomic

__all__ = ["GUIDES", "INDEX", "page", "publish"]

INDEX = "index"
"""Name of the page that lists the verbs."""

GUIDES: dict[str, str] = {
    "demo": "start",
    "doctor": "terminal",
    "retrieval": "retrieval",
    "score": "targets",
    "answer": "readers",
    "grade": "answers",
    "judge": "judges",
    "targets": "sensitivity",
    "sweep": "sweep",
    "ab": "ab",
    "audit": "audit",
    "failures": "failures",
    "abstention": "abstention",
    "export": "exchange",
    "verify": "exchange",
    "compare": "comparing",
    "gate": "statistics",
    "baseline": "baselines",
    "band": "statistics",
    "repeats": "repeats",
    "ablate": "ablation",
    "canary": "canary",
    "power": "canary",
    "time": "timing",
    "report": "reports",
    "view": "view",
    "serve": "own-memory",
    "systems": "own-memory",
    "corpora": "corpora",
    "list": "corpora",
    "fetch": "corpora",
    "cache": "embedding",
    "completion": "terminal",
}
"""Verb to the page of docs/ that explains it."""

_NOTE = "<!-- Made by `python -m memruler.cli.pages docs/cli`; do not edit. -->\n"
_EXIT_CODES = """\
| exit code | meaning |
|--:|---|
| 0 | done; a gate passed |
| 1 | a gate failed |
| 2 | the call or the data given is wrong |
| 3 | the instrument or the memory broke, or a canary is blind |
| 4 | refused: a number would mislead ([every refusal](../refusals.md)) |
| 5 | a gate is unresolved |
| 130 | interrupted; the same command goes on where it stopped |
"""
_CODE = re.compile(r"(`[^`]*`)")
_MARKS = re.compile(r"([\\*_<>\[\]|])")


def page(name: str) -> str:
    """One page in Markdown.

    Args:
        name: A verb of `VERBS`, or `INDEX`.

    Raises:
        KeyError: It is neither.
    """
    return _index() if name == INDEX else _verb(name)


def publish(folder: Path) -> None:
    """Write every page into `folder`, and remove pages of verbs that are gone.

    Raises:
        MemrulerError: A file cannot be written.
    """
    wanted = {f"{name}.md": page(name) for name in (INDEX, *VERBS)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in wanted.items():
        write_atomic(folder / name, text.encode())
    for path in folder.glob("*.md"):
        if path.name not in wanted:
            path.unlink()


def _index() -> str:
    rows = [f"| [`{verb}`]({verb}.md) | {_plain(what)} |" for verb, what in VERBS.items()]
    return "\n".join(
        [
            "# Commands",
            "",
            _NOTE,
            _plain(inspect.cleandoc(cli.help or "")),
            "Every command explains itself with `--help`; `memruler --version` prints the version.",
            "",
            "| command | what it does |",
            "|---|---|",
            *rows,
            "",
            _EXIT_CODES,
        ]
    )


def _verb(verb: str) -> str:
    what = VERBS[verb]
    found = cli.get_command(click.Context(cli, info_name="memruler"), verb)
    assert found is not None, verb  # noqa: S101 - the key was looked up above
    guide = [f"Explained in [{GUIDES[verb]}](../{GUIDES[verb]}.md).", ""] if verb in GUIDES else []
    return "\n".join(
        [
            f"# memruler {verb}",
            "",
            _NOTE,
            _plain(what),
            "",
            *guide,
            *_command(found, click.Context(cli, info_name="memruler"), verb),
            "Exit codes: see [all commands](index.md).",
            "",
        ]
    )


def _command(command: click.Command, above: click.Context, name: str) -> Iterator[str]:
    ctx = click.Context(command, parent=above, info_name=name)
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    yield from ("```console", f"$ {usage}", "```", "")
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            yield from ("```text", paragraph.removeprefix("\b").strip("\n"), "```", "")
        else:
            yield from (_plain(" ".join(paragraph.split())), "")
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    if options:
        yield from ("| option | meaning |", "|---|---|", *map(_row, options), "")
    if isinstance(command, click.Group):
        for inner in command.list_commands(ctx):
            found = command.get_command(ctx, inner)
            if found is not None and not found.hidden:
                yield from (f"## {ctx.command_path} {inner}", "")
                yield from _command(found, ctx, inner)


def _row(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    takes = "" if option.is_flag or option.count else f" `{_metavar(option)}`"
    said = option.help or ""
    more = [*_facts(option, said)]
    told = " ".join(part for part in (_plain(said), f"({'; '.join(more)})" if more else "") if part)
    return f"| {names}{takes} | {told} |"


def _metavar(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "/".join(map(str, option.type.choices))
    if isinstance(option.type, click.Path):
        return "PATH"
    if isinstance(option.type, click.types.FloatParamType):
        return "NUMBER"
    return "N" if isinstance(option.type, click.types.IntParamType) else option.type.name.upper()


def _facts(option: click.Option, said: str) -> Iterator[str]:
    if option.required:
        yield "required"
    if option.multiple and "epeat" not in said:
        yield "may be repeated"
    kind: Any = option.type
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    if low is not None and high is not None:
        yield f"{low:,} to {high:,}"
    elif low is not None:
        yield f"above {low:,}" if kind.min_open else f"{low:,} or more"
    if option.show_default is True and option.default is not None:
        yield f"default `{option.default}`"


def _plain(text: str) -> str:
    """Help as Markdown: what would be markup is escaped, but for code between backticks."""
    parts = _CODE.split(text)
    return "".join(
        part.replace("|", "\\|") if place % 2 else _MARKS.sub(r"\\\1", part)
        for place, part in enumerate(parts)
    )


if __name__ == "__main__":
    import sys

    publish(Path(sys.argv[1]))
