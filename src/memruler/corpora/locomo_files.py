"""The two layouts in which LoCoMo is published, as conversations with their questions."""

import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from memruler.corpora.jsontext import decode
from memruler.corpora.source import Source
from memruler.errors import CorpusError

__all__ = ["RawConversation", "read"]

LARGEST = 512 << 20
"""Bytes of one file, packed or not. LoCoMo has 2.8 MB in all; this only stops a bomb."""

_NUMBERED = re.compile(r"([0-9]{1,9})\.json")
_IN_ZIP = re.compile(r"(?:.*/)?locomo10_v2/([0-9]{1,9})\.json")
_HINT = "LoCoMo is the file locomo10.json, or a folder or .zip of <number>.json files"
_OR_JSONL = "; or, if this is jsonl: one object a line (jq -c '.[]')"


class RawConversation(NamedTuple):
    """One conversation as the file has it.

    Attributes:
        where: The file, and the place in it.
        key: `sample_id`, or `conv-<number>` in the flat layout.
        fields: The object with the speakers and the `session_<n>` lists.
        qa: Its questions.
        observation, summary: What the data set derived from it, by `session_<n>_...`.
    """

    where: str
    key: str
    fields: dict[str, Any]
    qa: Any
    observation: dict[str, Any]
    summary: dict[str, Any]


def read(path: Path) -> tuple[str, list[RawConversation]]:
    """Read LoCoMo in whichever layout `path` has.

    Args:
        path: The list file, a folder of `<nn>.json`, or the `.zip` that holds
            `.../locomo10_v2/<nn>.json`.

    Returns:
        The SHA-256 of the file (for a folder: of the lines `<nn>.json <sha256>` in numeric
        order), and the conversations in order.

    Raises:
        CorpusError: It is none of these, or not readable as JSON.
    """
    if path.is_dir():
        return _folder(path)
    source = Source(path)
    with source.open() as file:
        if file.read(4) == b"PK\x03\x04":
            return source.sha256, list(_zipped(path, file))
        file.seek(0)
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise CorpusError(f"has more than {LARGEST:,} bytes", where=path, hint=_HINT)
    return source.sha256, list(_listed(path, data))


def _listed(path: Path, data: bytes) -> Iterator[RawConversation]:
    whole = decode(data, object, where=path)
    if not isinstance(whole, list):
        raise CorpusError("the top level is not a JSON list", where=path, hint=_HINT)
    if not whole:
        raise CorpusError("the corpus is empty: no conversation", where=path, hint=_HINT)
    for place, item in enumerate(whole):
        where = f"{path}: conversation {place}"
        fields = _object(item, where)
        key = _need(fields, "sample_id", str, where)
        if not key:
            raise CorpusError("wrong schema: `sample_id` is empty", where=where, hint=_HINT)
        where = f"{path}: {key}"
        conversation = _need(fields, "conversation", dict, where)
        yield _conversation(where, key, conversation, fields)


def _folder(path: Path) -> tuple[str, list[RawConversation]]:
    try:
        numbered = {m[1]: one for one in path.iterdir() if (m := _NUMBERED.fullmatch(one.name))}
    except OSError as error:
        raise CorpusError(f"cannot read the folder: {error.strerror}", where=path) from error
    if not numbered:
        raise CorpusError("the folder holds no <number>.json", where=path, hint=_HINT)
    digest = hashlib.sha256()
    conversations = []
    for number in sorted(numbered, key=int):
        source = Source(numbered[number])
        digest.update(f"{source.path.name} {source.sha256}\n".encode())
        with source.open() as file:
            data = file.read(LARGEST + 1)
        conversations.append(_flat(str(source.path), number, data))
    return digest.hexdigest(), conversations


def _zipped(path: Path, file: BinaryIO) -> Iterator[RawConversation]:
    try:
        with zipfile.ZipFile(file) as archive:
            numbered = {
                m[1]: info for info in archive.infolist() if (m := _IN_ZIP.fullmatch(info.filename))
            }
            if not numbered:
                raise CorpusError("holds no locomo10_v2/<number>.json", where=path, hint=_HINT)
            for number in sorted(numbered, key=int):
                with archive.open(numbered[number]) as member:
                    data = member.read(LARGEST + 1)  # never trusts the size that is stated
                yield _flat(f"{path}: {numbered[number].filename}", number, data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise CorpusError(f"the archive is damaged: {error}", where=path, hint=_HINT) from None


def _flat(where: str, number: str, data: bytes) -> RawConversation:
    if len(data) > LARGEST:
        raise CorpusError(f"has more than {LARGEST:,} bytes", where=where, hint=_HINT)
    fields = _object(decode(data, object, where=where), where)
    return _conversation(where, f"conv-{number}", fields, fields)


def _conversation(
    where: str, key: str, conversation: dict[str, Any], beside: dict[str, Any]
) -> RawConversation:
    """A conversation, and what stands beside it: on the same level in the flat layout."""
    qa = _need(beside, "qa", list, where)
    observation, summary = (
        {} if beside.get(name) is None else _need(beside, name, dict, where)
        for name in ("observation", "session_summary")
    )
    return RawConversation(where, key, conversation, qa, observation, summary)


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CorpusError("wrong schema: expected an object", where=where, hint=_HINT)
    return value


def _need(fields: dict[str, Any], name: str, kind: type, where: str) -> Any:
    if name not in fields:
        other = _OR_JSONL if name == "sample_id" else ""
        raise CorpusError(f"wrong schema: `{name}` is missing", where=where, hint=_HINT + other)
    if not isinstance(fields[name], kind):
        raise CorpusError(
            f"wrong schema: `{name}` is a {type(fields[name]).__name__}", where=where, hint=_HINT
        )
    return fields[name]
