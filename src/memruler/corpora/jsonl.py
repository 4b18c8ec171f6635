"""memruler's own corpus format, loaded: a checked file, streamed one instance at a time."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from memruler.corpora.jsonl_check import Fault, find_faults, is_header, lines
from memruler.corpora.jsonl_format import (
    POPULATIONS,
    AboutCorpus,
    HeaderLine,
    InstanceLine,
    to_instance,
)
from memruler.corpora.source import Identify, Source, as_local_file
from memruler.errors import CorpusError
from memruler.model.corpus import CorpusInfo, Instance

__all__ = ["JsonlCorpus"]

_SHOWN = 3


class JsonlCorpus:
    """A corpus file in memruler's own format.

    Args:
        path: The file. It is checked as a whole before anything is yielded, so that no run
            begins on a file that it cannot finish.
        name: Registry name.
        identify: From the file's SHA-256 to its tier and version; the version that the file
            states itself goes before.

    Raises:
        CorpusError: The file is unreadable or has faults: the first ones and how many more.
    """

    def __init__(
        self, path: Path, *, name: str = "jsonl", identify: Identify = as_local_file
    ) -> None:
        self._source = Source(path)
        _refuse(path, find_faults(self._source))
        about = self._about()
        tier, version = identify(self._source.sha256)
        self._info = CorpusInfo(
            name=name,
            version=version if about.version == "unknown" else about.version,
            licence=about.licence,
            sha256=self._source.sha256,
            tier=tier,
            populations=POPULATIONS,
            notes=about.notes,
        )

    @property
    def info(self) -> CorpusInfo:
        """What it is."""
        return self._info

    def __iter__(self) -> Iterator[Instance]:
        decoder = msgspec.json.Decoder(InstanceLine)
        position = 0
        with self._source.open() as file:
            for number, data in lines(file):
                if number == 1 and is_header(msgspec.json.decode(data)):
                    continue
                yield to_instance(position, decoder.decode(data))
                position += 1

    def _about(self) -> AboutCorpus:
        with self._source.open() as file:
            _, data = next(lines(file))
        if is_header(msgspec.json.decode(data)):
            return msgspec.json.decode(data, type=HeaderLine).corpus
        return AboutCorpus()


def _refuse(path: Path, faults: Iterator[Fault]) -> None:
    first = list(islice(faults, _SHOWN))
    if not first:
        return
    more = sum(1 for _ in faults)
    told = "; ".join(
        ": ".join(filter(None, (f"line {one.line}" if one.line else "", one.field, one.what)))
        for one in first
    )
    raise CorpusError(
        told + (f"; and {more} more" if more else ""),
        where=path,
        hint=f"memruler corpora check {path}",
    )
