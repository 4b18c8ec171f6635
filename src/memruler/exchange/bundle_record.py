"""What a bundle says of itself: the records of `MANIFEST.json`, `summary.json` and the fixtures."""

import msgspec

from memruler.model.credit import CreditLevel, CreditRule

__all__ = [
    "MANIFEST",
    "SCHEMA_VERSION",
    "BundleDepth",
    "BundleFile",
    "BundleManifest",
    "BundleSummary",
    "BundleTarget",
    "Check",
    "Fixture",
    "FixtureSupport",
    "Verification",
]

SCHEMA_VERSION = 1
"""Version of a bundle; raised with every change that an old reader would misread."""

MANIFEST = "MANIFEST.json"


class BundleFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the bundle.

    Attributes:
        path: Inside the folder, with `/`.
        sha256: Of its bytes, in hexadecimal digits.
        bytes: How many.
    """

    path: str
    sha256: str
    bytes: int


class BundleManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What the bundle is.

    Attributes:
        name: Of the system or setting.
        memruler: Version that wrote it.
        targets: In order.
        rule: How credit is counted.
        level: What an anchor is.
        anchored: Whether it is known which anchor an item supports.
        cutoffs: Ascending.
        population: Name of the set of queries.
        queries: How many have a ranking, targets, or both.
        rankings: How many have a ranking.
        files: Everything in the folder but this one.
        schema_version: See `SCHEMA_VERSION`.
    """

    name: str
    memruler: str
    targets: tuple[str, ...]
    rule: CreditRule
    level: CreditLevel
    anchored: bool
    cutoffs: tuple[int, ...]
    population: str
    queries: int
    rankings: int
    files: tuple[BundleFile, ...]
    schema_version: int = SCHEMA_VERSION


class BundleDepth(msgspec.Struct, frozen=True, kw_only=True):
    """Means at one cut-off over the queries that a target serves; None where it serves none.

    Attributes:
        k: The cut-off.
        found: Sum of the anchors found (of best grades, where supports are graded).
        recall_pooled: `found` over all anchors.
    """

    k: int
    found: float
    top1: float | None
    recall_any: float | None
    recall_all: float | None
    recall_micro: float | None
    recall_pooled: float | None
    mrr: float | None
    ndcg: float | None


class BundleTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One target.

    Attributes:
        target: Its name.
        served: Queries with a value.
        excluded: Reason to queries without one.
        anchors: Of the served queries, under the rule.
        anchors_of: Before any was left out because nothing supports it.
        depths: One a cut-off.
    """

    target: str
    served: int
    excluded: dict[str, int]
    anchors: int
    anchors_of: int
    depths: tuple[BundleDepth, ...]


class BundleSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Means of everything in `scores.parquet`; by `math.fsum`, in order of the queries."""

    targets: tuple[BundleTarget, ...]


class FixtureSupport(msgspec.Struct, frozen=True, kw_only=True):
    """Items that support an anchor together, and how far."""

    items: tuple[str, ...]
    grade: float = 1.0


class Fixture(msgspec.Struct, frozen=True, kw_only=True):
    """A case small enough to be worked out by hand.

    Attributes:
        name: What it shows.
        rule: How credit is counted.
        ranking: Items, best first.
        anchors: The supports of each anchor.
        k: The cut-off.
        expected: Metric to its value.
        working: How nDCG comes about.
    """

    name: str
    rule: CreditRule
    ranking: tuple[str, ...]
    anchors: tuple[tuple[FixtureSupport, ...], ...]
    k: int
    expected: dict[str, float]
    working: str


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was checked.

    Attributes:
        name: `checksums`, `files`, `scores`, `summary`, `manifest`, `fixtures`.
        passed: Whether it holds; None where it was not looked at.
        what: One sentence.
    """

    name: str
    passed: bool | None
    what: str


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What `memruler verify` found.

    Attributes:
        bundle: The folder's name.
        name: Of the system or setting.
        passed: Whether every check holds.
        checks: In order.
    """

    bundle: str
    name: str
    passed: bool
    checks: tuple[Check, ...]
    schema_version: int = SCHEMA_VERSION
