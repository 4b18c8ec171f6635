"""The command line: names of verbs, loaded only when called, and how errors end."""

import errno
import importlib
import os
import sys
from contextlib import suppress
from typing import Any

import click

from memruler import __version__
from memruler.cli.interrupts import Interrupts, noted_interrupts
from memruler.cli.streams import standard_streams
from memruler.errors import (
    InstrumentError,
    Interrupted,
    MemrulerError,
    Refusal,
    UsageError,
    printable,
)

__all__ = ["VERBS", "cli", "main"]

VERBS: dict[str, str] = {
    "demo": "Measure two memories on the bundled corpus, and compare them: a first look.",
    "doctor": "Check what is installed and cached here, and say what to do.",
    "retrieval": "Measure how well a memory finds the evidence of a corpus.",
    "score": "Score a run anew: which stored forms earn the credit?",
    "answer": "Answer a run's questions from what it found, by a reader.",
    "grade": "Grade a run's answers by each data set's rules, or by a judge.",
    "judge": "Say how far a judge can be trusted: probes, a second judge.",
    "targets": "Say what changes when only the target does.",
    "lineup": "Measure several memories on one corpus, in one table.",
    "sweep": "Measure the values of settings, and which wins under each target.",
    "ab": "Measure two configurations in turns, and say what differs.",
    "audit": "Label contested credits, and say how often they are justified.",
    "failures": "Say at which stage each missed item was lost.",
    "abstention": "Measure who knows that there is no answer: scores and readers.",
    "export": "Write a run in TREC's and other formats, or as a bundle.",
    "verify": "Check a bundle: checksums, and every score anew.",
    "compare": "Say what differs between two finished runs, exactly, or refuse.",
    "gate": "Decide whether a candidate passes, fails, or cannot be told.",
    "baseline": "Hold runs against figures that a person accepted.",
    "band": "Measure the noise between two runs of one configuration.",
    "repeats": "Sum up repeated draws: majority labels, flips, and what moved.",
    "ablate": "Attribute a change to the settings that make it, exactly.",
    "canary": "Prove that the ruler sees a difference that is known to exist.",
    "power": "Say how many questions it takes to see an effect.",
    "time": "Time two systems in alternation: search latency, ingest throughput.",
    "report": "Show one run, two compared, or several, as a page for people.",
    "view": "Show the runs of a folder in a browser, on this machine only.",
    "systems": "List, check and describe memories; erase what runs left.",
    "serve": "Serve the built-in memory over HTTP hooks and MCP.",
    "corpora": "Check a corpus file of your own, or generate a synthetic one.",
    "list": "List the corpora, their licences, and what is cached.",
    "fetch": "Fetch a public corpus, checked against its pin.",
    "cache": "Look after the caches of vectors and of models' replies.",
    "completion": "Print the shell's script that completes verbs, options and names.",
}
"""Verb to its one-line help, so that `--help` imports no verb; a test holds them together."""


class _LazyGroup(click.Group):
    """Imports `memruler.cli.<verb>` only when that verb is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(f"memruler.cli.{cmd_name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"memruler.cli.{cmd_name}.command is no command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            # Late: --help needs no difflib.
            from difflib import get_close_matches  # noqa: PLC0415

            near = get_close_matches(args[0], VERBS, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "see `memruler --help`"
            ctx.fail(f"no such verb: {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="memruler")
def cli() -> None:
    """Measure agent-memory systems: did this change make the memory better or worse?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with the documented exit code.

    0 done; 1 a gate failed; 2 the call or the data given is wrong; 3 the instrument or the system
    under test broke, or a canary is blind; 4 refused; 5 a gate is unresolved; 130 interrupted.
    """
    with standard_streams(), noted_interrupts() as interrupts:
        code = _run(arguments, interrupts)
    sys.exit(code)


def _run(arguments: list[str] | None, interrupts: Interrupts) -> int:
    try:
        code: Any = cli.main(args=arguments, prog_name="memruler", standalone_mode=False)
        sys.stdout.flush()  # a full disk must show while it can still be told
    except MemrulerError as error:
        return _failed(error)
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _failed(Interrupted("interrupted"))
    except OSError as error:
        return _failed(_explained(error))
    except Exception:
        if interrupts:  # a package that was being imported has turned it into something else
            return _failed(Interrupted("interrupted"))
        raise
    return code if isinstance(code, int) else 0


def _failed(error: MemrulerError) -> int:
    with suppress(OSError):  # where stderr cannot be written to either, the exit code remains
        click.echo(f"memruler: {_told(error)}", err=True)
    return error.exit_code


def _told(error: MemrulerError) -> str:
    """An error is one line; a refusal has a line for each of its reasons."""
    if not isinstance(error, Refusal):
        return str(error)
    lines = [f"refused: {printable(reason)}" for reason in error.reasons]
    hint = [f"instead: {printable(error.hint)}"] if error.hint else []
    return "\n          ".join(lines + hint)


def _explained(error: OSError) -> MemrulerError:
    """What the operating system said where no room expected it.

    Files are opened and written in rooms that explain their own faults. What is left: looking at
    a path that a person typed, the folder that one works in, and the standard streams.
    """
    # Late: --help needs neither.
    from pathlib import Path  # noqa: PLC0415

    from memruler.store.faults import fault  # noqa: PLC0415

    if error.filename is not None:
        return fault("use the path", Path(os.fsdecode(error.filename)), error)
    if error.errno == errno.ENOENT:
        return UsageError(
            "the folder that you are in does not exist any more",
            hint="change into one that does, and call it again",
        )
    return InstrumentError(
        f"cannot write the output: {error.strerror or error}",
        hint="what a run wrote to its folder is complete; free some space, or write it elsewhere",
    )
