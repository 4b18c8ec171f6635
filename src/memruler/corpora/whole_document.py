"""JSON that was not written as JSON Lines, told by its beginning: one fault, not thousands."""

import json
from typing import NamedTuple

__all__ = ["HEAD", "public_corpus", "whole_document"]

HEAD = 1 << 16
"""Bytes that are looked at, of a file of any size."""

_LONGMEMEVAL = (b'"question_id"', b'"haystack_', b'"answer_session_ids"')
_LOCOMO = (b'"sample_id"', b'"qa"', b'"dia_id"')
_BOM = "\ufeff"


def public_corpus(head: bytes) -> str | None:
    """The registry name that a file with this beginning reads as; None if it is none of them.

    Args:
        head: The first `HEAD` bytes, or the whole of a smaller file.
    """
    if not head.lstrip().startswith(b"["):
        return None
    if any(word in head for word in _LONGMEMEVAL):
        return "longmemeval-s"
    return "locomo" if any(word in head for word in _LOCOMO) else None


def whole_document(head: bytes) -> str | None:
    """What is wrong with a file that is one JSON document where JSON Lines are expected.

    Args:
        head: The first `HEAD` bytes, or the whole of a smaller file.

    Returns:
        The fault in words; None where each line is better judged by itself.
    """
    text = head.decode(errors="replace").removeprefix(_BOM).strip()
    known = public_corpus(head)
    spread = text.startswith(("{", "[")) and _is_spread(text)
    if not spread and known is None:
        return None
    what = "this is one JSON document" + (" over many lines" if spread else "")
    program = "jq -c '.[]'" if text.startswith("[") else "jq -c ."
    use = f", or use `{known} --path FILE`" if known else ""
    return f"{what}; write each instance on one line ({program}){use}"


class _Read(NamedTuple):
    """How far a text reads as one JSON value: the place, and whether the value ends there."""

    end: int
    complete: bool


def _is_spread(text: str) -> bool:
    """Whether a JSON value begins in line 1 and goes on behind line 2.

    A line of JSON Lines that was cut can be continued by the next one by chance (`{"a": [` and
    `{}`), hence line 2 decides.
    """
    first, broken, rest = text.partition("\n")
    whole = _read(text)
    if not broken or whole is None or (whole.complete and whole.end <= len(first)):
        return False
    if whole.complete or (first.strip() in {"[", "{"} and whole.end > len(first) + 1):
        return True
    second, _, _ = rest.partition("\n")
    alone = _read(second.strip())
    by_itself = alone is not None and alone.complete and alone.end == len(second.strip())
    return not by_itself and whole.end > len(first) + 1 + len(second)


def _read(text: str) -> _Read | None:
    """Read one JSON value at the start of `text`; None where Python cannot follow."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as fault:
        # A string that the text cuts is told by its start.
        cut = fault.msg.startswith("Unterminated string")
        return _Read(len(text) if cut else fault.pos, complete=False)
    except (RecursionError, ValueError):
        return None
    return _Read(end, complete=True)
