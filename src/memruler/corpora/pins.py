"""What is known of every corpus before it is on this machine: `pins.json`, read and checked."""

import functools
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import resources
from types import MappingProxyType

import msgspec

from memruler.errors import UsageError
from memruler.model.corpus import Tier

__all__ = ["Pin", "pin", "pins"]


class Pin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One corpus.

    Attributes:
        title: What it is, in a few words.
        licence: SPDX id, or `unknown`.
        tier: How its bytes are pinned.
        version: What people call this state of the data; the start of `revision` when None.
        revision: The immutable revision that `url` names; None for what is not fetched.
        url: Where it is fetched from; None for what is not fetched.
        file: Its name in the cache and on a mirror; unique among the pins.
        size: Length in bytes; None when not known.
        sha256: Hex digest; None when not known (then the first fetch decides).
        source: A page for people.
    """

    title: str
    licence: str
    tier: Tier
    version: str | None = None
    revision: str | None = None
    url: str | None = None
    file: str | None = None
    size: int | None = None
    sha256: str | None = None
    source: str | None = None

    @property
    def label(self) -> str:
        """The version as it stands in tables: short."""
        return self.version or (self.revision or "unknown")[:8]

    @property
    def non_commercial(self) -> bool:
        """Whether the licence forbids commercial use."""
        return "NC" in self.licence.split("-")


@functools.cache
def pins() -> Mapping[str, Pin]:
    """Every corpus by name, in the order of `pins.json`."""
    data = resources.files(__package__).joinpath("pins.json").read_bytes()
    return MappingProxyType(msgspec.json.decode(data, type=dict[str, Pin]))


def pin(name: str) -> Pin:
    """The pin of a corpus.

    Raises:
        UsageError: There is no such corpus.
    """
    known = pins()
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=1)
    raise UsageError(
        f"no such corpus: {name!r}",
        hint=f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}",
    )
