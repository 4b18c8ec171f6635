"""The derived memory as a system under test: the built-in one over forms made by the parser."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from memruler.model.system import SystemIdentity
from memruler.systems.builtin.system import BuiltinSystem, embedder_for, source_digest
from memruler.systems.derived.parser import Parser
from memruler.systems.derived.settings import DerivedSettings, resolve
from memruler.systems.derived.speech import LONGEST_UNIT

if TYPE_CHECKING:  # a lexical memory loads no embedder
    from memruler.embedding.checked import CheckedEmbedder

__all__ = ["DerivedSystem", "build"]


class DerivedSystem(BuiltinSystem):
    """`builtin:derived`; see `MemorySystem`.

    Args:
        settings: In force.
        embedder: What makes vectors; None exactly where the ranking is lexical.
    """

    def __init__(self, settings: DerivedSettings, embedder: "CheckedEmbedder | None") -> None:
        self._parser = Parser(settings.stored)
        super().__init__("derived", settings.search, embedder, self._parser)
        self._named = settings.named()
        self._digest = source_digest("memruler.systems.builtin", __package__)

    def identity(self) -> SystemIdentity:
        """That of the memory that searches, with the parser's code and every setting."""
        return msgspec.structs.replace(super().identity(), settings=self._named)

    def warnings(self) -> tuple[str, ...]:
        """Sentences that belong beside the numbers, over all its memories so far."""
        own = f"units of which only the first {LONGEST_UNIT} characters were parsed"
        cut = self._parser.cut
        return (*((f"{own}: {cut}",) if cut else ()), *super().warnings())


def build(
    preset: str, given: Mapping[str, str]
) -> tuple[DerivedSystem, dict[str, Any], dict[str, Any]]:
    """The derived memory with a person's settings, and which of the settings were theirs.

    Args:
        preset: `derived`.
        given: Setting to its value as typed.

    Raises:
        UsageError: An unknown setting or embedder, or a value that is not allowed.
        InstrumentError: The embedder cannot be loaded.
    """
    del preset  # there is one
    settings, chosen, defaulted = resolve(given)
    return DerivedSystem(settings, embedder_for(settings.search)), chosen, defaulted
