"""`memruler answer`: a reader answers the questions of a run, from what the run found."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from memruler.cli.chat_options import ChatOptions, chat_options, open_asker
from memruler.cli.completing import RUN
from memruler.cli.parameters import COUNT, FILE
from memruler.errors import Interrupted, UsageError

if TYPE_CHECKING:  # --help needs none of it
    from memruler.judges.readers.base import Reader
    from memruler.model.answers import AnswersManifest
    from memruler.scoring.answering import AnswerSource
    from memruler.store.folder import RunFolder

__all__ = ["command"]

_USUAL_DEPTH = 10
_TYPED = click.core.ParameterSource.COMMANDLINE


class _Reading(NamedTuple):
    """What a reader is given."""

    k: int | None
    repeats: int
    context_chars: int | None
    profile: str
    name: str | None


@click.command(name="answer")
@click.argument("run", type=RUN)
@click.option(
    "--reader",
    type=click.Choice(["extractive", "llm", "system"]),
    default="extractive",
    show_default=True,
    help="A rule without a model; a model (--endpoint, --model); the memory's own answers.",
)
@click.option("--from", "file", type=FILE, help="Take answers that were made elsewhere instead.")
@click.option("-k", "k", type=COUNT, help="Hits that a reader is given. [default: 10]")
@click.option("--context-chars", type=COUNT, help="Characters that it is given at most.")
@click.option(
    "--profile",
    type=click.Choice(["brief", "free"]),
    default="brief",
    show_default=True,
    help="Of a model: answers as a short phrase, or in sentences.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Draws of a model, of each query.",
)
@click.option("--name", help="Of the answers; that of the reader without it.")
@chat_options(required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the manifest of the answers as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    run: Path,
    reader: str,
    file: Path | None,
    k: int | None,
    context_chars: int | None,
    profile: str,
    repeats: int,
    name: str | None,
    chat: ChatOptions | None,
    as_json: bool,
) -> None:
    """Answer the questions of a run, from what it found.

    RUN is the folder of a finished run; its measurements are not changed. The answers lie in
    RUN/answers/NAME, and `memruler grade` scores them. Replies of a model are kept: after an
    interruption the same command goes on and pays for none twice.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_answers import print_answers  # noqa: PLC0415
    from memruler.store.answers import answers_path  # noqa: PLC0415
    from memruler.store.folder import RunFolder  # noqa: PLC0415

    typed = {key for key in ctx.params if ctx.get_parameter_source(key) is _TYPED}
    _check(reader, typed, chat, file)
    folder = RunFolder.open(run)
    reading = _Reading(k, repeats, context_chars, profile, name)
    made = _taken(folder, reader, file, reading) or _read(folder, chat, reading)
    if as_json:
        click.echo(encode(made), nl=False)
    else:
        print_answers(made, answers_path(run, made.name))


def _check(reader: str, typed: set[str], chat: ChatOptions | None, file: Path | None) -> None:
    """Refuse options that would have no effect: they would be believed to have one."""
    if file is not None and "reader" in typed:
        raise UsageError("give either --reader or --from", where=f"--from {file}")
    if reader == "llm" and chat is None:
        raise UsageError("no model is named", hint="give --endpoint URL and --model NAME")
    if reader != "llm" and chat is not None:
        raise UsageError(f"a model is named, and the reader is {reader}", hint="add --reader llm")
    what = f"--reader {reader}" if file is None else "a file"
    idle = [] if reader == "llm" else ["profile"]
    idle += ["k", "context_chars", "repeats"] if file is not None or reader == "system" else []
    for name in idle:
        if name in typed:
            shown = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{shown} has no effect on {what}", hint=f"leave out {shown}")


def _taken(
    folder: "RunFolder", reader: str, file: Path | None, reading: _Reading
) -> "AnswersManifest | None":
    """Answers that are there already: in a file, or the memory's own; None for a reader's."""
    from memruler.scoring.answer_import import FileAnswers  # noqa: PLC0415 - as in `command`
    from memruler.scoring.answer_sources import OwnAnswers  # noqa: PLC0415
    from memruler.scoring.answering import write_answers  # noqa: PLC0415

    manifest = folder.manifest()
    source: AnswerSource
    if file is not None:
        source, name = FileAnswers(file), _slug(file.stem)
    elif reader == "system" and manifest is not None:
        source, name = OwnAnswers(manifest), "system"
    else:
        return None
    return write_answers(folder, source, reading.name or name)


def _read(folder: "RunFolder", chat: ChatOptions | None, reading: _Reading) -> "AnswersManifest":
    from memruler.judges.readers.extractive import ExtractiveReader  # noqa: PLC0415 - as above

    if chat is None:
        return _answered(folder, ExtractiveReader(), reading, reading.name or "extractive", 1)
    from memruler.judges.readers.chat import ChatReader  # noqa: PLC0415
    from memruler.judges.readers.prompt import load_prompt  # noqa: PLC0415

    name = reading.name or _slug(chat.model)
    try:
        with open_asker(chat, served=_served(folder, name)) as asker:
            reader = ChatReader(asker, load_prompt(reading.profile))
            return _answered(folder, reader, reading, name, chat.parallel)
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; the replies that came are kept",
            hint="the same command goes on and pays for none twice",
        ) from None


def _answered(
    folder: "RunFolder", reader: "Reader", reading: _Reading, name: str, at_a_time: int
) -> "AnswersManifest":
    from memruler.cli.progress import progress  # noqa: PLC0415 - as in `command`
    from memruler.scoring.answer_sources import answer_run  # noqa: PLC0415
    from memruler.scoring.run_terms import terms_of  # noqa: PLC0415

    manifest = folder.manifest()
    assert manifest is not None  # noqa: S101 - opened folders have one
    depth = reading.k or min(_USUAL_DEPTH, terms_of(manifest, folder.path).limit)
    total = manifest.counts.get("queries", 0) * reading.repeats
    with progress(total, "answers") as tick:
        return answer_run(
            folder,
            reader,
            name=name,
            k=depth,
            repeats=reading.repeats,
            context_chars=reading.context_chars,
            at_a_time=at_a_time,
            tick=lambda done, of: tick("instance", done, of),
        )


def _served(folder: "RunFolder", name: str) -> str | None:
    """Which model, as its server called it, made the answers of that name before."""
    from memruler.store.answers import standing_answers  # noqa: PLC0415

    standing = standing_answers(folder, name)
    return None if standing is None else standing.reader.served


def _slug(text: str) -> str:
    """A name for a folder out of the name of a model or a file."""
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in text)
    return safe.strip("-.")[:60].strip("-.") or "answers"
