"""Packs rankings, targets, scores and fixtures so that another group can check every number."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from memruler import __version__
from memruler.errors import InstrumentError
from memruler.exchange.bundle_record import MANIFEST, BundleFile, BundleManifest
from memruler.exchange.fixtures import fixtures
from memruler.exchange.read import read_traced
from memruler.exchange.summary import summary_of
from memruler.exchange.write import write_parquet
from memruler.model.credit import CreditRule
from memruler.scoring.per_query import per_query
from memruler.scoring.traced import Scored, score_traced
from memruler.store.safe import atomic_file, make_dir, read_bytes, write_atomic

__all__ = ["CASES", "SCORES", "SUMMARY", "TARGETS", "TRACE", "encoded", "rescored", "write_bundle"]

TRACE, TARGETS = "trace.parquet", "targets.parquet"
SCORES, SUMMARY = "scores.parquet", "summary.json"
CASES = "fixtures/credit.json"
_README = "README.md"


def write_bundle(
    folder: Path, scored: Scored, trace: pa.Table, mapping: pa.Table
) -> BundleManifest:
    """Write a bundle into an empty folder.

    The scores are those of the rankings and targets as they are read back from it, and must be the
    ones given.

    Args:
        folder: An empty folder; see `memruler.exchange.folder.new_folder`.
        scored: The scores of the queries in `trace`.
        trace: From `memruler.exchange.tables.trace_table`.
        mapping: From `memruler.exchange.mapping_table.mapping_table`.

    Raises:
        InstrumentError: Scores change on the way through the files, or the disk failed.
    """
    write_parquet(folder, trace, mapping)
    again = rescored(
        folder,
        name=scored.traced.name,
        targets=tuple(scored.by_target),
        cutoffs=scored.cutoffs,
        rule=scored.rule,
        level=scored.traced.level,
    )
    _require_same(scored, again, trace)
    make_dir(folder / "fixtures")
    with atomic_file(folder / SCORES) as file:
        pq.write_table(per_query(again), file, compression="zstd")
    write_atomic(folder / SUMMARY, encoded(summary_of(again)))
    write_atomic(folder / CASES, encoded(fixtures()))
    manifest = BundleManifest(
        name=scored.traced.name,
        memruler=__version__,
        targets=tuple(again.by_target),
        rule=again.rule,
        level=again.traced.level,
        anchored=again.traced.anchored,
        cutoffs=again.cutoffs,
        population=scored.traced.population,
        queries=len(again.traced.reason),
        rankings=trace.num_rows,
        files=(),
    )
    write_atomic(folder / _README, _readme(manifest).encode())
    names = (TRACE, TARGETS, SCORES, SUMMARY, CASES, _README)
    manifest = msgspec.structs.replace(manifest, files=tuple(_file(folder, one) for one in names))
    write_atomic(folder / MANIFEST, encoded(manifest))
    return manifest


def rescored(
    folder: Path,
    *,
    name: str,
    targets: tuple[str, ...],
    cutoffs: tuple[int, ...],
    rule: CreditRule,
    level: Any,
) -> Scored:
    """Score the rankings and targets of a bundle.

    Raises:
        CorpusError: They cannot be read.
    """
    traced = read_traced(folder / TRACE, folder / TARGETS, targets, level)
    return score_traced(msgspec.structs.replace(traced, name=name), cutoffs, rule)


def _require_same(scored: Scored, again: Scored, trace: pa.Table) -> None:
    """Refuse to pack scores that are not those of the packed rankings."""
    rows = scored.traced.counts().nonzero()[0]
    for target, values in scored.by_target.items():
        packed = again.by_target[target]
        for key, one in values.values.items():
            some = one[rows], packed.values[key][: trace.num_rows]
            if (some[0] != some[1]).any():
                raise InstrumentError(
                    f"{key[0]}@{key[1]} under {target} changes on the way through the files",
                    hint="please report this: nothing was written",
                )


def encoded(record: Any) -> bytes:
    """A record as JSON, indented; equal records give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def _file(folder: Path, name: str) -> BundleFile:
    data = read_bytes(folder / name)
    return BundleFile(path=name, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def _readme(manifest: BundleManifest) -> str:
    targets = ", ".join(manifest.targets)
    cutoffs = ", ".join(map(str, manifest.cutoffs))
    return f"""# {_line(manifest.name)}: rankings, targets and scores

{manifest.rankings:,} rankings, scored under the targets {_line(targets)} at the cut-offs {cutoffs}.
Credit is counted by the rule `{manifest.rule}`; an anchor is one {manifest.level}.

Check everything with one command (`pip install memruler`):

```
memruler verify .
```

It compares the SHA-256 of every file with {MANIFEST}, scores the rankings anew, compares every
value bit for bit, and works the fixtures out by the definition.

| file | what |
|---|---|
| `{TRACE}` | a row a query: `query_id`, `category`, `cluster`, `ranked` (items, best first) |
| `{TARGETS}` | a row a query: `groups` (one an anchor, with its items) and `<target>_ids` |
| `{SCORES}` | a row a query and target: all metrics; `excluded` says why there are none |
| `{SUMMARY}` | the means, with their denominators |
| `{CASES}` | cases to work out by hand |
| `{MANIFEST}` | what this is, and the checksums |

There are no texts in here.
"""


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
