"""Whether one request that is sent several times gets one reply."""

import threading

__all__ = ["Sameness"]


class Sameness:
    """Compares the replies to the repeats of each request. May be told from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: dict[str, dict[int, str]] = {}

    def note(self, request: str, repeat: int, text: str) -> None:
        """Note a reply.

        Args:
            request: Digest of everything that is sent.
            repeat: Which of its repeats; a second note of the same one counts once.
            text: Digest of the reply.
        """
        with self._lock:
            self._texts.setdefault(request, {})[repeat] = text

    def said(self) -> str:
        """`unknown`, `yes (3 repeats identical)` or `no (1 of 3 repeats differ)`.

        A repeat is held against the first of its request; the first is no repeat.
        """
        repeats = differ = 0
        with self._lock:
            for texts in self._texts.values():
                first = texts[min(texts)]
                repeats += len(texts) - 1
                differ += sum(text != first for text in texts.values())
        if not repeats:
            return "unknown"
        if differ:
            return f"no ({differ} of {repeats} repeats differ)"
        return f"yes ({repeats} repeats identical)"
