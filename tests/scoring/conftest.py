"""A small sealed run, and a reader with a script."""

from collections.abc import Callable
from typing import Any

import pytest

from memruler.judges.readers.base import ReaderReply
from memruler.model.answers import InstrumentIdentity, Usage
from memruler.replay.run import measure
from memruler.store.folder import RunFolder


class ScriptedReader:
    """Answers by `say`, and keeps what it was asked."""

    def __init__(self, *, draws: bool = True, model: str = "m") -> None:
        self.draws, self.model = draws, model
        self.serves = "m-2026"
        self.served: str | None = None
        self.seen: list[Any] = []
        self.say: Callable[[Any, int], Any] = lambda question, _: question.question.upper()

    def identity(self) -> InstrumentIdentity:
        return InstrumentIdentity(
            kind="openai-chat",
            model=self.model,
            served=self.served,
            host="h",
            prompt="p",
            prompt_sha256="0",
            settings={"seed": 1},
        )

    def answer(self, question: Any, *, repeat: int = 0) -> ReaderReply:
        self.seen.append((question, repeat))
        said = self.say(question, repeat)
        self.served = self.serves
        return said if isinstance(said, ReaderReply) else ReaderReply(text=said, finish="stop")

    def usage(self) -> Usage:
        return Usage(requests=len(self.seen))

    def usage_total(self) -> Usage:
        return Usage(requests=len(self.seen), cost=0.5)


@pytest.fixture
def scripted_reader() -> type[ScriptedReader]:
    return ScriptedReader


@pytest.fixture
def sealed_run(tmp_path, make_plan, make_instance, word_system) -> Callable[..., RunFolder]:
    """Measures and seals: two instances of three queries, of a word memory, without more."""

    def build(instances=None, system=word_system, stem="r", **settings) -> RunFolder:
        found = instances or [make_instance(0), make_instance(1)]
        with RunFolder.claim(tmp_path / "runs", stem) as folder:
            measure(make_plan(system, found, **settings), folder, lambda *_: None)
        return RunFolder.open(tmp_path / "runs" / stem)

    return build
