"""What a check of a memory system found: its capability card."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

__all__ = [
    "SCHEMA_VERSION",
    "Card",
    "CardIdentity",
    "Claim",
    "Fitness",
    "Outcome",
    "Probe",
    "Severity",
    "Spoken",
    "fitness_of",
]

SCHEMA_VERSION = 1
"""Version of `Card`; raised with every change that an old reader would misread."""

Outcome = Literal["yes", "no", "unknown", "not applicable", "crashed"]
Severity = Literal["breaks measurement", "must be declared", "information"]
Fitness = Literal["fit", "declare", "unfit"]


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a system, and what was seen.

    Attributes:
        name: `family.what`, for instance `isolation.between`.
        question: What is asked; `yes` is always the answer that a measurement wants.
        outcome: The answer. `unknown` and `not applicable` say why in `found`; `crashed` means
            that the system broke, or was not done in time.
        severity: What it means where the answer is `no` or `crashed`.
        found: What was seen, in one sentence.
        counts: The numbers behind it.
        log: Last lines of a system that broke; empty otherwise.
    """

    name: str
    question: str
    outcome: Outcome
    severity: Severity
    found: str
    counts: dict[str, int] = {}
    log: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the answer is one that a measurement does not want."""
        return self.outcome in {"no", "crashed"}


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """What an MCP server says of itself."""

    name: str
    version: str
    protocol: str


class CardIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What was checked, read from the live object.

    Attributes:
        name, version, digest, settings, degraded: As in `memruler.model.system.SystemIdentity`.
        embedder: Name and digest of the embedder that memruler knows of; None without one.
        server: None for a system that is no MCP server.
    """

    name: str
    version: str
    digest: str
    settings: dict[str, Any]
    degraded: tuple[str, ...] = ()
    embedder: str | None = None
    server: Spoken | None = None


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the memory's file says of it, held against what was measured.

    Attributes:
        what: Field of `[capabilities]`.
        said: What the file says.
        measured: What was measured; None where it could not be.
        holds: Whether they agree; None likewise.
    """

    what: str
    said: str
    measured: str | None
    holds: bool | None


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A capability card.

    Nothing on it tells when or where it was made: the same system gives the same card, as far as
    the system itself repeats. Last log lines of what broke are the exception.

    Attributes:
        system, assignments: As a person typed them.
        identity: What that was.
        fitness: See `fitness_of`.
        probes: In the order of the families.
        claims: Of the memory's file; empty without one.
        reads_change: Whether a search changes what is stored or the next ranking; None where
            that cannot be said.
        deterministic: Whether equal stores gave equal rankings, in this process and in another;
            None likewise.
        event_time: Whether hits carry the time that was written; None likewise.
        erases: Whether a namespace can be removed for good; None likewise.
        quiet_reads: How a search is told not to reinforce, as the memory's file says; None where
            it knows no way.
        left: Namespaces of this check of which it cannot be said that they are gone.
        memruler: Version of memruler.
    """

    system: str
    assignments: tuple[str, ...]
    identity: CardIdentity
    fitness: Fitness
    probes: tuple[Probe, ...]
    claims: tuple[Claim, ...] = ()
    reads_change: bool | None = None
    deterministic: bool | None = None
    event_time: bool | None = None
    erases: bool | None = None
    quiet_reads: str | None = None
    left: int = 0
    memruler: str
    schema_version: int = SCHEMA_VERSION

    def failed(self, severity: Severity) -> tuple[Probe, ...]:
        """Probes of one severity whose answer a measurement does not want."""
        return tuple(one for one in self.probes if one.failed and one.severity == severity)


def fitness_of(probes: Sequence[Probe], claims: Sequence[Claim], left: int) -> Fitness:
    """Whether runs of a system mean something.

    Args:
        probes: What it was asked.
        claims: What its file says of it.
        left: Namespaces of which it cannot be said that they are gone.

    Returns:
        `unfit`: something breaks measurement. `declare`: results stand beside something that must
        be told. `fit`: neither.
    """
    failed = {probe.severity for probe in probes if probe.failed}
    if "breaks measurement" in failed:
        return "unfit"
    declared = "must be declared" in failed or any(claim.holds is False for claim in claims)
    return "declare" if declared or left else "fit"
