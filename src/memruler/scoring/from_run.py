"""A sealed run as rankings with the gold of each target; texts and ids stay on disk."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memruler.errors import FormatError, UsageError
from memruler.metrics.credit_places import ends_of, looked_up
from memruler.model.credit import CreditLevel
from memruler.scoring.graded import OwnTarget, graded
from memruler.scoring.lineage_map import mapped
from memruler.scoring.run_notices import doubts, of_hits, of_no_kind, one_draw
from memruler.scoring.run_tables import Asked, asked_of, forms_of, rankings_of
from memruler.scoring.run_terms import terms_of
from memruler.scoring.traced import SEARCH_FAILED, Notice, Traced
from memruler.store.binding import require_own_tables
from memruler.store.folder import RunFolder
from memruler.targets.eligible import descents, eligible
from memruler.targets.forms import Admits

__all__ = ["traced_from_run"]

_TABLES = ("queries", "lineage", "trace")
_UNTOLD = "the system does not export its lineage, so which transformed forms it holds is not known"


def traced_from_run(
    path: Path,
    targets: Sequence[Admits | OwnTarget],
    level: CreditLevel = "turn",
    lineage: Path | None = None,
) -> Traced:
    """Read a sealed run, and find the items that earn credit under each target.

    Args:
        path: The run folder.
        targets: At least one.
        level: What an anchor is; at `item` the anchors are turns, and each item counts by itself.
        lineage: A file that tells where items come from, see `memruler.scoring.lineage_map`.

    Raises:
        CorpusError: The lineage file cannot be read.
        FormatError: No run, not sealed, or its tables do not fit together.
        Refusal: Items came back, and of none of them is a source known.
        UsageError: The run has no turns to be anchors.
    """
    folder = RunFolder.open(path)
    manifest = folder.manifest()
    assert manifest is not None  # noqa: S101 - opened folders have one
    terms = terms_of(manifest, folder.path)
    if level != "session" and terms.granularity == "session":
        raise UsageError(
            "a whole session is stored as one item, so no item is of one turn",
            where=path,
            hint="use --level session",
        )
    known = manifest.lineage_exported
    notices: tuple[Notice, ...] = ()
    # Two hands: one reads lineage and trace, the other what they are held against.
    with ThreadPoolExecutor(1) as beside:
        stored = beside.submit(forms_of, folder)
        asked = asked_of(folder, terms.rule, level)
        instance, gold = asked.instance, asked.gold
        reading = beside.submit(rankings_of, folder, instance.astype(np.int64) << 32 | asked.number)
        told = () if lineage is None else ("ingest",)  # it names instances by their keys
        require_own_tables(folder, manifest, (*_TABLES, *told))
        forms = stored.result()
        owner = forms.instance
        if lineage is not None:
            forms, complete, notices = mapped(lineage, folder, forms, exported=known)
            known |= complete
        found = descents(gold, forms)
        hits, failed = reading.result()
        reason, reasons = _reasons(asked, failed, level)
        # Looked up once for all targets: each keeps some of the pairs.
        owners = np.repeat(np.arange(len(hits), dtype=np.int32), np.diff(gold.offsets))[
            found.anchor
        ]
        half = len(hits) // 2
        cut = int(np.searchsorted(owners, half))
        later = beside.submit(looked_up, hits[half:], owners[cut:] - half, found.item[cut:])
        ranks, twice = (
            np.concatenate(both)
            for both in zip(
                looked_up(hits[:half], owners[:cut], found.item[:cut]), later.result(), strict=True
            )
        )
        _require_own_items(folder, hits, owner, instance)
        notices += of_hits(hits, twice, forms, reason < 0)
        # What is not told may be there: its anchors stay in, and what is derived cannot be asked.
        asked_for = [t for t in targets if known or t.name in {"raw", "source"}]
        unserved = {t.name: _UNTOLD for t in targets if t not in asked_for}
        admits = [target for target in asked_for if isinstance(target, Admits)]
        halves = [
            beside.submit(eligible, target, gold, forms, found, keep=not known, ranks=ranks)
            for target in admits[1::2]
        ]
        made = {
            target.name: eligible(target, gold, forms, found, keep=not known, ranks=ranks)
            for target in admits[::2]
        }
        notices += tuple(one_draw(manifest))
        made.update({t.name: half.result() for t, half in zip(admits[1::2], halves, strict=True)})
    notices += tuple(doubts(gold, forms, found, known=known))
    for target in asked_for:
        if isinstance(target, Admits):
            notices += tuple(of_no_kind(target, forms))
            continue
        made[target.name] = graded(target, gold, folder, forms, found)
        notices += (
            Notice(
                kind="own-target",
                what=f"{target.name} is a target of one's own: code with this SHA-256",
                count=1,
                names=(target.digest,),
            ),
        )
    supports = {target.name: made[target.name] for target in asked_for}
    return Traced(
        name=folder.path.name,
        origin="run",
        query=asked.name,
        category=asked.category.astype(np.int64),
        categories=asked.categories,
        cluster=instance.astype(np.int64),
        hits=hits,
        reason=reason,
        reasons=reasons,
        supports=supports,
        unserved=unserved,
        level=level,
        population=terms.population,
        identity={"corpus": terms.corpus, "population": manifest.fingerprint["population"]},
        notices=notices,
        forms=forms,
        asked=terms.limit,
    )


def _require_own_items(
    folder: RunFolder,
    hits: NDArray[np.int32],
    owner: NDArray[np.integer],
    instance: NDArray[np.integer],
) -> None:
    """Every hit is an item of its own query's instance.

    The items of an instance stand in one piece, so that its ends say it all.
    """
    low, high = ends_of(hits)
    strays = low < np.searchsorted(owner, instance, "left")
    strays |= high >= np.searchsorted(owner, instance, "right")
    if np.any(np.diff(owner) < 0) or np.any(strays & (high >= 0)) or hits.min(initial=-1) < -1:
        raise FormatError(
            "the trace names an item that its instance does not have",
            where=folder.path,
            hint="measure it anew",
        )


def _reasons(
    asked: Asked, failed: NDArray[np.bool_], level: CreditLevel
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Why a query is not scored; the population's reason comes first, then a failed search."""
    names = [*asked.reasons, SEARCH_FAILED, f"no_{_anchor(level)}_gold"]
    reason = asked.excluded.astype(np.int64)
    open_ = reason < 0
    reason[open_ & (np.diff(asked.gold.offsets) == 0)] = len(names) - 1
    reason[open_ & failed] = len(names) - 2
    return reason, tuple(names)


def _anchor(level: CreditLevel) -> str:
    return "session" if level == "session" else "turn"
