"""What puts the numbers of the built-in memory in doubt, counted and in sentences."""

from typing import TYPE_CHECKING

import msgspec

from memruler.systems.builtin.words import MOST_WORDS

if TYPE_CHECKING:  # a lexical memory loads no embedder
    from memruler.embedding.usage import EmbedderUsage

__all__ = ["Doubts"]


class Doubts(msgspec.Struct):
    """Counts over all memories of one system.

    Attributes:
        long_questions: Searches whose question had more than `MOST_WORDS` distinct words.
    """

    long_questions: int = 0

    def sentences(self, usage: "EmbedderUsage | None") -> tuple[str, ...]:
        """One sentence a doubt; none where there is nothing to tell.

        Args:
            usage: What the embedder did; None for a memory without one.
        """
        counted = [
            (
                self.long_questions,
                f"searches read only the first {MOST_WORDS} distinct words of their question",
            )
        ]
        if usage is not None:
            counted.append((usage.blank, "blank texts were not embedded"))
        told = [f"{what}: {count}" for count, what in counted if count]
        return (*told, *(usage.warnings if usage is not None else ()))
