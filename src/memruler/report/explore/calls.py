"""The three calls that a page of a server makes, and their answers as JSON.

* `overview`, without parameters: `Overview`.
* `find`, with the fields of `Filter` and with `offset` and `limit`, all optional: `Found`.
* `detail`, with `row`: `QueryDetail`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from memruler.errors import UsageError
from memruler.report.explore.explorer import Explorer
from memruler.report.explore.record import Filter

__all__ = ["CALLS", "respond"]


class _Find(Filter, frozen=True, kw_only=True, forbid_unknown_fields=True):
    offset: int = 0
    limit: int = 50


class _Detail(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    row: int


class _Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


def _overview(explorer: Explorer, _: _Nothing) -> Any:
    return explorer.overview()


def _find(explorer: Explorer, wanted: _Find) -> Any:
    return explorer.find(wanted, wanted.offset, wanted.limit)


def _detail(explorer: Explorer, wanted: _Detail) -> Any:
    return explorer.detail(wanted.row)


CALLS: Final[dict[str, tuple[type[Any], Callable[[Explorer, Any], Any]]]] = {
    "overview": (_Nothing, _overview),
    "find": (_Find, _find),
    "detail": (_Detail, _detail),
}
"""Name of each call to its parameters, and to what answers it."""


def respond(explorer: Explorer, call: str, params: Mapping[str, str]) -> bytes:
    """Answer a call.

    Args:
        explorer: Of the runs that the page shows.
        call: One of `CALLS`.
        params: What the call was given; yes and no are `true` and `false`.

    Returns:
        JSON, in UTF-8.

    Raises:
        UsageError: No such call, or parameters that it does not have or cannot read.
    """
    if call not in CALLS:
        raise UsageError(f"there is no call {call}", hint=f"there are: {', '.join(CALLS)}")
    takes, answer = CALLS[call]
    try:
        asked = msgspec.convert(dict(params), takes, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"the parameters of {call} cannot be read: {error}") from None
    return msgspec.json.encode(answer(explorer, asked))
