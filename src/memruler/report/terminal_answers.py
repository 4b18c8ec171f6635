"""A folder of answers on the terminal: who answered, how many, what it cost, and what is next."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from memruler.errors import printable
from memruler.model.answers import AnswersManifest, Usage
from memruler.report.layout import banner, facts, stdout_console, unpadded

__all__ = ["print_answers", "render_answers"]


def print_answers(found: AnswersManifest, path: Path) -> None:
    """Print what was made to stdout."""
    with unpadded(stdout_console()) as console:
        render_answers(found, path, console)


def render_answers(found: AnswersManifest, path: Path, console: Console) -> None:
    """Print what was made.

    Args:
        found: The manifest of the answers.
        path: Their folder, as a person would type it.
        console: Where to print; 80 columns suffice.
    """
    if found.degraded:
        banner(console, "DEGRADED: these answers must not be trusted", found.degraded)
    counts = found.counts
    line = Text(f"{counts['answered']:,} answered", style="bold")
    rest = f", {counts['empty']:,} empty, {counts['failed']:,} without an answer, of "
    of = f"{counts['queries']:,} queries"
    draws = f", {found.repeats} times each" if found.repeats > 1 else ""
    console.print(line.append(rest + of + draws, style="not bold"))
    facts(
        console,
        [
            ("run", found.run),
            ("reader", _reader(found)),
            *_given(found),
            *_cost(found),
            *(("warning", text) for text in found.warnings),
            ("answers", str(path)),
            ("next", _next(found, path)),
        ],
    )


def _reader(found: AnswersManifest) -> str:
    reader = found.reader
    if reader.kind == "openai-chat":
        served = reader.served or reader.model
        return f"{served} @ {reader.host}, {reader.prompt}, {reader.prompt_sha256[:8]}"
    if reader.kind == "extractive":
        return f"extractive: a rule without a model, {reader.prompt_sha256[:8]}"
    if reader.kind == "system":
        return f"the memory itself: {reader.settings.get('system', {}).get('name', 'unknown')}"
    return f"not known: the file {reader.prompt}, {reader.prompt_sha256[:8]}"


def _given(found: AnswersManifest) -> Iterator[tuple[str, str]]:
    if found.k is not None:
        limit = found.reader.settings.get("context_chars")
        most = "" if limit is None else f", at most {limit:,} characters"
        yield "given", f"the first {found.k} hits of each query{most}"
    sent = {k: v for k, v in found.reader.settings.items() if k in {"temperature", "seed"}}
    for name, value in sent.items():
        honoured = found.reader.honoured.get(name, "unknown")
        yield name, f"{value} sent; honoured: {honoured}"


def _cost(found: AnswersManifest) -> Iterator[tuple[str, str]]:
    if found.reader.kind != "openai-chat":
        return
    now = found.usage
    yield "asked", f"{now.requests:,} requests now, {now.reused:,} replies from before"
    yield "now", _spent(now)
    yield "in all", _spent(found.usage_total)


def _spent(usage: Usage) -> str:
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        tokens = "tokens are not known" if usage.requests else "no tokens"
    else:
        tokens = f"{usage.prompt_tokens:,} tokens sent, {usage.completion_tokens:,} said"
    if usage.uncounted:
        tokens += f" ({usage.uncounted:,} replies uncounted)"
    cost = "no price given" if usage.cost is None else f"{usage.cost:.4f} {usage.currency}"
    return f"{tokens}; {cost}"


def _next(found: AnswersManifest, path: Path) -> str:
    run = path.parent.parent
    return f"memruler grade {shlex.quote(printable(run))} --answers {shlex.quote(found.name)}"
