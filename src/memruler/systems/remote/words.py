"""The words of a question that an agent would look up one by one."""

import re

from memruler.systems.builtin.stopwords import STOP_WORDS

__all__ = ["distinct_words"]

_WORD = re.compile(r"\w+")


def distinct_words(question: str) -> list[str]:
    """Each distinct word once, in order, stop words left out unless nothing else is left.

    Args:
        question: As asked; the words come back as they stand there, compared without case.
    """
    first = {word.lower(): word for word in reversed(_WORD.findall(question))}
    order = dict.fromkeys(word.lower() for word in _WORD.findall(question))
    topic = [word for word in order if word not in STOP_WORDS]
    return [first[word] for word in (topic or order)]
