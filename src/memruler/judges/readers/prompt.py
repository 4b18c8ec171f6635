"""What a reader with a model is told: instructions as data with a digest, and fenced texts."""

import tomllib
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from memruler.errors import UsageError
from memruler.judges.readers.base import ReaderInput
from memruler.judges.rubric import Message, digest_of, fenced

__all__ = ["PROFILES", "ReaderPrompt", "load_prompt"]

PROFILES: Final = ("brief", "free")
"""`brief`: a short phrase, as LoCoMo's golds are. `free`: a sentence or a few."""

_FIXED: Final = ReaderInput(
    question="question",
    asked=datetime(2000, 1, 1),  # noqa: DTZ001 - naive, as all times of a run are
    context=("first", "second"),
)


class ReaderPrompt(NamedTuple):
    """What a reader is told.

    Attributes:
        name: `reader:brief` or `reader:free`.
        instructions: What to do; the same for every question, whatever its category.
    """

    name: str
    instructions: str

    def messages(self, question: ReaderInput) -> list[Message]:
        """The instructions, then the date, the excerpts and the question, fenced."""
        texts = {f"excerpt {n}": text for n, text in enumerate(question.context, 1)}
        blocks = fenced({**texts, "question": question.question})
        asked = question.asked
        when = [] if asked is None else [f"The question is asked on {asked:%Y-%m-%d}."]
        none = [] if texts else ["The memory returned no excerpt."]
        last = "Answer the question."
        return [
            Message("system", self.instructions),
            Message("user", "\n\n".join([*when, *none, *blocks, last])),
        ]

    def sha256(self) -> str:
        """Digest of the messages of a fixed question."""
        return digest_of(self.messages(_FIXED))


@cache
def load_prompt(profile: str) -> ReaderPrompt:
    """Read a profile of the package's reader.

    Raises:
        UsageError: There is no such profile.
    """
    if profile not in PROFILES:
        raise UsageError(f"unknown profile {profile!r}", hint=f"known: {', '.join(PROFILES)}")
    data = files("memruler.judges").joinpath("prompts", "reader.toml").read_bytes()
    found = tomllib.loads(data.decode("utf-8"))
    return ReaderPrompt(
        f"{found['name']}:{profile}", found["profiles"][profile]["instructions"].strip()
    )
