"""Draws contested items for an audit: which a relaxed target alone admits.

By default only items are drawn that gain credit at their rank: most others came after their anchor
was found, and judging them says nothing about a score. The draw is stratified by category: as many
cases of each as its share, and at least one.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from memruler.errors import FormatError, Refusal, UsageError
from memruler.model.credit import CreditLevel, CreditRule
from memruler.model.run import Manifest
from memruler.scoring.contested import contested
from memruler.scoring.from_run import traced_from_run
from memruler.scoring.open_target import open_target
from memruler.scoring.traced import Traced
from memruler.store.folder import RunFolder
from memruler.studies.audit_csv import (
    CASE_COLUMNS,
    LABEL,
    LONGEST_CELL,
    SHOWN_COLUMNS,
    CaseTable,
    visible,
)
from memruler.studies.audit_record import AuditNotes, Sampled
from memruler.studies.audit_strata import allocate, drawn
from memruler.studies.audit_texts import CaseText, case_texts

__all__ = ["sample"]

_ID = 12
"""Hexadecimal digits of an id: a file of a million cases has two of the same once in 560 files."""

_WHY_NOTHING = (
    "a store of raw turns alone has nothing contested; where anchors are found before it, "
    "--all-eligible draws what gains nothing"
)


class _Wanted(NamedTuple):
    """What to draw of one target."""

    target: str
    against: str
    level: CreditLevel
    rule: CreditRule
    drawn_from: Literal["gaining", "contested"]
    k: int
    number: int
    seed: int


def sample(
    path: Path,
    targets: Sequence[str],
    *,
    against: str = "raw",
    level: CreditLevel = "turn",
    rule: CreditRule = "anchor",
    all_eligible: bool = False,
    lineage: Path | None = None,
    k: int = 60,
    number: int = 200,
    seed: int = 7,
    raters: Sequence[str] = (),
    blind: bool = False,
    bom: bool = False,
) -> tuple[CaseTable, AuditNotes]:
    """Draw cases of a run.

    Args:
        path: The run folder.
        targets: Names of relaxed targets, each drawn by itself; distinct.
        against: Name of the strict target.
        level: What an anchor is.
        rule: How credit is counted.
        all_eligible: Draw from all contested items, not only those that gain credit.
        lineage: A file that tells where items come from; see `memruler.scoring.lineage_map`.
        k: Depth: only the first k hits of a query count, or as many as were asked for.
        number: Cases a target, at least one a category; all there are, if they are fewer.
        seed: Not negative.
        raters: Who gets an empty column of labels; distinct.
        blind: Whether they get none; see `memruler.studies.audit_blind`.
        bom: Whether the file gets a byte order mark, which Excel wants.

    Returns:
        The file of cases, and the note that stands beside it.

    Raises:
        UsageError: A number is out of range, a target is unknown or comes twice, or rule `id`
            meets items that support only together.
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
    key = CASE_COLUMNS[len(SHOWN_COLUMNS) :]
    columns = [] if blind else [LABEL + name for name in raters]
    table = CaseTable(
        head=[*SHOWN_COLUMNS, *columns, *key],
        rows=[],
        numbers=[],
        bom=bom,
    )
    notes = []
    for target in relaxed:
        wanted = _Wanted(
            target=target,
            against=strict,
            level=level,
            rule=rule,
            drawn_from="contested" if all_eligible else "gaining",
            k=min(k, traced.deepest()),
            number=number,
            seed=seed,
        )
        cases, note = _of_target(folder, traced, wanted)
        table.rows += [[visible(cells.get(name, "")) for name in table.head] for cells in cases]
        notes.append(note)
    table.numbers = list(range(2, len(table.rows) + 2))
    return table, AuditNotes(sampled=tuple(notes))


def _of_target(
    folder: RunFolder, traced: Traced, wanted: _Wanted
) -> tuple[list[dict[str, str]], Sampled]:
    """The cells of the cases of one target, by query, then rank; and how they were drawn."""
    found = contested(traced, wanted.target, wanted.against, wanted.k, wanted.rule)
    pool = np.flatnonzero(found.gains | (wanted.drawn_from == "contested"))
    if not len(pool):
        raise Refusal([_nothing(wanted, len(found.query))], where=folder.path, hint=_WHY_NOTHING)
    # A place of -1 is the last name, which is then none.
    named = np.array([*traced.categories, ""], dtype=object)
    category = named[traced.category[found.query[pool]]].astype(str).tolist()
    sizes = Counter(category)
    shares = allocate(sizes, wanted.number)
    pairs = list(zip(found.query[pool].tolist(), found.item[pool].tolist(), strict=True))
    chosen = drawn(pairs, category, shares, wanted.seed)
    manifest = folder.manifest()
    assert manifest is not None  # noqa: S101 - opened folders have one
    corpus, evidence_rule = _identity(manifest, folder)
    queries, items = zip(*(pairs[at] for at in chosen), strict=True)
    texts = case_texts(folder, evidence_rule, queries, items)
    cases = [
        {
            "pair": _id(manifest.stem, manifest.fingerprint, *pairs[at]),
            "run": manifest.stem,
            "corpus": corpus["name"],
            "target": wanted.target,
            "category": category[at],
            "rank": str(found.rank[pool[at]]),
            "gains": "yes" if found.gains[pool[at]] else "no",
        }
        for at in chosen
    ]
    asked = {traced.categories[place] for place in traced.category[traced.counts()] if place >= 0}
    note = Sampled(
        run=manifest.stem,
        corpus=corpus["name"],
        corpus_sha256=corpus["sha256"],
        target=wanted.target,
        against=wanted.against,
        level=wanted.level,
        rule=wanted.rule,
        k=wanted.k,
        seed=wanted.seed,
        wanted=wanted.number,
        contested=len(found.query),
        gaining=int(found.gains.sum()),
        drawn_from=wanted.drawn_from,
        queries=len(np.unique(found.query[pool])),
        strata={name: (sizes[name], shares[name]) for name in sorted(sizes)},
        without=tuple(sorted(asked - sizes.keys())),
        no_evidence=sum(text.evidence is None for text in texts),
        no_item=sum(not (text.item or "").strip() for text in texts),
        cut=sum(any(map(_is_cut, text)) for text in texts),
    )
    return [_cells(about, text) for about, text in zip(cases, texts, strict=True)], note


def _nothing(wanted: _Wanted, eligible: int) -> str:
    if not eligible:
        return (
            f"the first {wanted.k} hold no item of {wanted.target} that {wanted.against} "
            "does not admit"
        )
    return f"none of {eligible} contested items gains credit in the first {wanted.k}"


def _cells(about: Mapping[str, str], text: CaseText) -> dict[str, str]:
    return {
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
