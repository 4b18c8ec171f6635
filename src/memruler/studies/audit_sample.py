"""Draws contested credits for an audit: relaxed credit that the strict target would not give.

The draw is stratified by category: as many cases of each as its share of the credits, and at least
one. Within a category the order is that of a digest of seed, query and item, so that two targets
that both credit an item draw the same ones.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.errors import FormatError, Refusal, UsageError
from memruler.model.credit import CreditLevel
from memruler.model.run import Manifest
from memruler.scoring.contested import Contested, contested
from memruler.scoring.from_run import traced_from_run
from memruler.scoring.open_target import open_target
from memruler.scoring.traced import Traced
from memruler.store.folder import RunFolder
from memruler.studies.audit_csv import CASE_COLUMNS, LABEL, LONGEST_CELL, CaseTable, visible
from memruler.studies.audit_record import AuditNotes, Sampled
from memruler.studies.audit_texts import CaseText, case_texts

__all__ = ["allocate", "sample"]

_ID = 12
"""Hexadecimal digits of an id: a file of a million cases has two of the same once in 560 files."""


class _Wanted(NamedTuple):
    """What to draw of one target."""

    target: str
    against: str
    level: CreditLevel
    k: int
    number: int
    seed: int


def sample(
    path: Path,
    targets: Sequence[str],
    *,
    against: str = "raw",
    level: CreditLevel = "turn",
    lineage: Path | None = None,
    k: int = 60,
    number: int = 200,
    seed: int = 7,
    raters: Sequence[str] = (),
    bom: bool = False,
) -> tuple[CaseTable, AuditNotes]:
    """Draw cases of a run.

    Args:
        path: The run folder.
        targets: Names of relaxed targets, each drawn by itself; distinct.
        against: Name of the strict target.
        level: What an anchor is.
        lineage: A file that tells where items come from; see `memruler.scoring.lineage_map`.
        k: Depth: only the first k hits of a query count.
        number: Cases a target, at least one a category; all there are, if they are fewer.
        seed: Not negative.
        raters: Who gets an empty column of labels; distinct.
        bom: Whether the file gets a byte order mark, which Excel wants.

    Returns:
        The file of cases, and the note that stands beside it.

    Raises:
        UsageError: A number is out of range, or a target is unknown or comes twice.
        CorpusError: The lineage file cannot be read.
        FormatError: It is no sound run folder.
        Refusal: A target cannot be asked of this store, or has no contested credit.
    """
    if k < 1 or number < 1 or seed < 0:
        raise UsageError(
            f"depth {k}, {number} cases, seed {seed}",
            hint="depth and cases from 1, the seed from 0",
        )
    opened = [open_target(name) for name in (*targets, against)]
    *relaxed, strict = (target.name for target in opened)
    for what, names in (("target", [*relaxed, strict]), ("rater", raters)):
        twice = [name for at, name in enumerate(names) if name in names[:at]]
        if twice:
            raise UsageError(f"the {what} {twice[0]} comes twice", hint="name it once")
    traced = traced_from_run(path, opened, level, lineage)
    if traced.unserved:
        raise Refusal(
            [f"{name}: {reason}" for name, reason in traced.unserved.items()],
            where=path,
            hint="choose another target, or tell where the items come from by --lineage",
        )
    folder = RunFolder.open(path)
    table = CaseTable(
        head=[*CASE_COLUMNS, *(LABEL + name for name in raters)], rows=[], numbers=[], bom=bom
    )
    drawn = []
    for target in relaxed:
        wanted = _Wanted(target, strict, level, k, number, seed)
        rows, note = _of_target(folder, traced, wanted)
        table.rows += [[*row, *[""] * len(raters)] for row in rows]
        drawn.append(note)
    table.numbers = list(range(2, len(table.rows) + 2))
    return table, AuditNotes(sampled=tuple(drawn))


def allocate(sizes: Mapping[str, int], number: int) -> dict[str, int]:
    """Share a sample out over strata: by their sizes, but at least one each.

    Each gets the whole part of `number * size / sum of sizes`, or 1; what is left goes to those
    with the largest remainder, what is too much comes from those with the largest surplus.

    Args:
        sizes: Stratum to its size, at least 1.
        number: Of the sample; where it exceeds the sum, everything is taken.

    Raises:
        UsageError: There are more strata than the sample has cases.

    Example:
        >>> allocate({"single-hop": 90, "temporal": 8, "open": 2}, 20)
        {'open': 1, 'single-hop': 18, 'temporal': 1}
    """
    sizes = dict(sorted(sizes.items()))  # so that ties do not depend on the order
    total = sum(sizes.values())
    if number >= total:
        return sizes
    if number < len(sizes):
        raise UsageError(
            f"{number} cases cannot cover {len(sizes)} categories",
            hint=f"draw at least {len(sizes)}",
        )
    # Whole numbers throughout: `total` times what a stratum has more than its due.
    given = {name: max(1, number * size // total) for name, size in sizes.items()}
    while (left := number - sum(given.values())) != 0:
        over = {name: given[name] * total - number * size for name, size in sizes.items()}
        if left > 0:
            given[
                min((name for name in sizes if given[name] < sizes[name]), key=over.__getitem__)
            ] += 1
        else:
            given[max((name for name in sizes if given[name] > 1), key=over.__getitem__)] -= 1
    return given


def _of_target(
    folder: RunFolder, traced: Traced, wanted: _Wanted
) -> tuple[list[list[str]], Sampled]:
    found = contested(traced, wanted.target, wanted.against, wanted.k)
    if not len(found.query):
        raise Refusal(
            [f"the first {wanted.k} hold no credit of {wanted.target} that {wanted.against} lacks"],
            where=folder.path,
            hint="a store of raw turns alone has no contested credit",
        )
    # A place of -1 is the last name, which is then none.
    named = np.array([*traced.categories, ""], dtype=object)
    category = named[traced.category[found.query]].astype(str)
    names, counts = np.unique(category, return_counts=True)
    sizes = dict(zip(names.tolist(), counts.tolist(), strict=True))
    shares = allocate(sizes, wanted.number)
    chosen = _drawn(found, category, shares, wanted.seed)
    manifest = folder.manifest()
    assert manifest is not None  # noqa: S101 - opened folders have one
    corpus, rule = _identity(manifest, folder)
    texts = case_texts(folder, rule, found.query[chosen].tolist(), found.item[chosen].tolist())
    rows = [
        _row(
            {
                "pair": _id(
                    manifest.stem,
                    manifest.fingerprint,
                    int(found.query[at]),
                    int(found.item[at]),
                ),
                "run": manifest.stem,
                "corpus": corpus["name"],
                "target": wanted.target,
                "category": str(category[at]),
                "rank": str(found.rank[at]),
            },
            text,
        )
        for at, text in zip(chosen, texts, strict=True)
    ]
    return rows, Sampled(
        run=manifest.stem,
        corpus=corpus["name"],
        corpus_sha256=corpus["sha256"],
        target=wanted.target,
        against=wanted.against,
        level=wanted.level,
        k=wanted.k,
        seed=wanted.seed,
        wanted=wanted.number,
        contested=len(found.query),
        queries=len(np.unique(found.query)),
        strata={name: (size, shares[name]) for name, size in sizes.items()},
        no_evidence=sum(text.evidence is None for text in texts),
        no_item=sum(not (text.item or "").strip() for text in texts),
        cut=sum(any(map(_is_cut, text)) for text in texts),
    )


def _drawn(
    found: Contested, category: NDArray[np.str_], shares: Mapping[str, int], seed: int
) -> list[int]:
    """The chosen credits: by query, then by rank."""
    places: dict[str, list[tuple[bytes, int]]] = {name: [] for name in shares}
    pairs = zip(found.query.tolist(), found.item.tolist(), category.tolist(), strict=True)
    for at, (query, item, name) in enumerate(pairs):
        key = hashlib.sha256(f"{seed}:{query}:{item}".encode()).digest()
        places[name].append((key, at))
    chosen = [at for name, most in shares.items() for _, at in sorted(places[name])[:most]]
    return sorted(chosen, key=lambda at: (int(found.query[at]), int(found.rank[at])))


def _row(about: Mapping[str, str], text: CaseText) -> list[str]:
    cells = {
        **about,
        # A letter first, so that no spreadsheet takes an id for a number or a date.
        "case": f"c{_id(about['pair'], about['target'])}",
        "pair": f"p{about['pair']}",
        "cluster": text.cluster,
        "query": text.query,
        "question": text.question,
        "answer": text.answer or "",
        "evidence": text.evidence or "",
        "kind": text.kind,
        "item_id": text.item_id,
        "item": text.item or "",
    }
    return [visible(cells[column]) for column in CASE_COLUMNS]


def _id(*parts: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:_ID]


def _is_cut(cell: object) -> bool:
    return isinstance(cell, str) and len(visible(cell)) > LONGEST_CELL


def _identity(manifest: Manifest, folder: RunFolder) -> tuple[dict[str, Any], str]:
    """The run's corpus and the rule of its population."""
    try:
        corpus = manifest.fingerprint["corpus"]
        named = {"name": str(corpus["name"]), "sha256": str(corpus["sha256"])}
        return named, str(manifest.fingerprint["population"]["rule"])
    except (KeyError, TypeError) as error:
        raise FormatError(
            f"the manifest does not say what was measured: {error}",
            where=folder.path,
            hint="measure it anew",
        ) from None
