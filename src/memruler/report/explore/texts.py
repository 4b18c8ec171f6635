"""Texts as a page gets them: cut, with the full length told."""

from memruler.report.explore.record import CUT, Text

__all__ = ["cut", "shorter"]


def cut(text: str | None, *, why: str = "it is not known", most: int = CUT) -> Text:
    """The first characters of a text.

    Args:
        text: The whole; None where it is not known.
        why: What to say then.
        most: How many characters are kept.
    """
    return Text(why=why) if text is None else Text(text=text[:most], length=len(text))


def shorter(text: Text, most: int) -> Text:
    """The same text, cut at fewer characters."""
    if text.text is None or len(text.text) <= most:
        return text
    return Text(text=text.text[:most], length=text.length)
