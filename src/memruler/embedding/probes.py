"""Fixed texts that are embedded to learn what an embedder is now."""

from typing import Final

__all__ = ["PROBE", "PROBES"]

PROBE: Final = "memruler probe: the quick brown fox jumps over the lazy dog"
"""The one text that is sent to a remote model, where each costs."""

PROBES: Final = (
    PROBE,
    # A text of each kind that code treats in its own way: case, accents, digits, scripts, marks.
    "memruler probe: Ünïcode, 中文, Привет, 12.5 % of U+1F642 🙂 [MASK] don't",
    "memruler probe: " + "a longer text gives the mean over its tokens something to do, " * 2,
)
"""What a local model is asked at the start; few and short, since every start waits for them."""
