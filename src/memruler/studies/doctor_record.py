"""What a look at the machine found: a line a thing, each ok, missing or broken."""

from typing import Literal

import msgspec

__all__ = ["SCHEMA_VERSION", "Diagnosis", "Finding", "State"]

SCHEMA_VERSION = 1
"""Version of `Diagnosis`; raised with every change that an old reader would misread."""

State = Literal["ok", "missing", "broken"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at.

    Attributes:
        area: What it belongs to: `python`, `packages`, `model`, `cache`, ...
        name: What it is.
        state: `ok`; `missing`: not there, and nothing is wrong with that; `broken`: it is there,
            or always needed, and does not work.
        found: What was seen. No value of an environment variable that may hold a secret.
        do: What to do about it; None where there is nothing to do.
    """

    area: str
    name: str
    state: State
    found: str
    do: str | None = None


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was looked at.

    Attributes:
        findings: In the order of the areas.
        version: memruler's own.
    """

    findings: tuple[Finding, ...]
    version: str
    schema_version: int = SCHEMA_VERSION

    @property
    def broken(self) -> tuple[Finding, ...]:
        """What is broken."""
        return tuple(one for one in self.findings if one.state == "broken")

    def count(self, state: State) -> int:
        """How many findings are in a state."""
        return sum(one.state == state for one in self.findings)
