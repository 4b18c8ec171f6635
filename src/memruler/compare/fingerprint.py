"""Holds two fingerprints against each other, key by key."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from memruler.compare.record import Difference
from memruler.errors import UsageError

__all__ = ["Differences", "differences", "flatten"]

_LABELS = {"corpus.tier", "corpus.version"}
"""Names for bytes: they do not matter where the bytes are known to be the same."""

_SHOWN = 8


class Differences(msgspec.Struct, frozen=True, kw_only=True):
    """How two fingerprints differ.

    Attributes:
        declared: Differences that are the change under test.
        undeclared: All others that matter.
        idle: Keys declared as the change under test under which nothing differs.
        labels: Differences of mere labels of a corpus with equal bytes.
        parts: What was declared and does differ, as declared, without what lies within another.
    """

    declared: tuple[Difference, ...]
    undeclared: tuple[Difference, ...]
    idle: tuple[str, ...]
    labels: tuple[Difference, ...]
    parts: tuple[str, ...]


def flatten(fingerprint: Mapping[str, Any]) -> dict[str, Any]:
    """Turn nested parts into one level of dotted keys; an empty part stays a value.

    A part's name that holds a dot or a quote is written as a JSON string, so that two different
    paths never share a key.
    """
    return {key: value for key, value in _nodes(fingerprint) if not _is_part(value)}


def differences(
    base: Mapping[str, Any], candidate: Mapping[str, Any], changed: Sequence[str] = ()
) -> Differences:
    """Sort the differences of two fingerprints into declared and undeclared ones.

    Args:
        base: The baseline's fingerprint.
        candidate: The candidate's.
        changed: What is under test: a dotted key, a part (`system`, `system.settings`), or the
            end of a key (`decay_rate`) where only one key ends so.

    Raises:
        UsageError: A declared key is unknown or ambiguous.
    """
    nodes = list(dict.fromkeys(key for side in (base, candidate) for key, _ in _nodes(side)))
    wanted = list(dict.fromkeys(_resolve(name, nodes) for name in changed))
    found = list(_walk("", base, candidate))
    corpus = base.get("corpus")
    same_bytes = isinstance(corpus, Mapping) and bool(corpus.get("sha256"))
    same_bytes = same_bytes and not any(
        difference.key in {"corpus", "corpus.sha256"} for difference in found
    )
    labels = [d for d in found if same_bytes and d.key in _LABELS]
    weighty = [d for d in found if d not in labels]
    declared = [d for d in weighty if any(_covers(part, d.key) for part in wanted)]
    return Differences(
        declared=tuple(declared),
        undeclared=tuple(d for d in weighty if d not in declared),
        idle=tuple(
            part
            for part in wanted
            # A difference above the part (no embedder at all in one run) is not idle either.
            if not any(_covers(part, d.key) or _covers(d.key, part) for d in weighty)
        ),
        labels=tuple(labels),
        parts=tuple(
            part
            for part in wanted
            if any(_covers(part, d.key) for d in declared)
            and not any(_covers(other, part) for other in wanted if other != part)
        ),
    )


def _is_part(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _join(prefix: str, name: str) -> str:
    safe = json.dumps(name) if "." in name or '"' in name else name
    return f"{prefix}.{safe}" if prefix else safe


def _nodes(part: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every key with its value, inner parts before what they hold."""
    for name, value in part.items():
        key = _join(prefix, name)
        yield key, value
        if _is_part(value):
            yield from _nodes(value, key)


def _walk(
    prefix: str, base: Mapping[str, Any], candidate: Mapping[str, Any]
) -> Iterator[Difference]:
    for name in dict.fromkeys((*base, *candidate)):
        key = _join(prefix, name)
        if name not in base:
            yield Difference(key=key, base=None, candidate=candidate[name], missing="base")
        elif name not in candidate:
            yield Difference(key=key, base=base[name], candidate=None, missing="candidate")
        elif _is_part(base[name]) and _is_part(candidate[name]):
            yield from _walk(key, base[name], candidate[name])
        elif not _same(base[name], candidate[name]):
            yield Difference(key=key, base=base[name], candidate=candidate[name])


def _same(base: Any, candidate: Any) -> bool:
    # `True == 1` and `1 == 1.0` in Python; as JSON text the first pair differs, and so it should.
    return json.dumps(base, sort_keys=True) == json.dumps(candidate, sort_keys=True) or (
        not isinstance(base, bool) and not isinstance(candidate, bool) and base == candidate
    )


def _covers(part: str, key: str) -> bool:
    return key == part or key.startswith(f"{part}.")


def _resolve(name: str, nodes: Sequence[str]) -> str:
    if name in nodes:
        return name
    ends = [key for key in nodes if key.endswith(f".{name}")]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise UsageError(
            f"--changed {name} could mean {' or '.join(ends)}", hint="write the whole key"
        )
    # Compare with whole keys and with bare names, so that `decay_rat` finds `decay_rate`.
    names = {key.rpartition(".")[2]: key for key in nodes}
    close = get_close_matches(name, [*nodes, *names], n=1)
    hint = f"did you mean {close[0]}?" if close else f"known parts: {', '.join(nodes[:_SHOWN])}"
    raise UsageError(f"--changed {name}: neither run has such a key", hint=hint)
