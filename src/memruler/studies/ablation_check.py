"""What is wrong with a spec beyond the types of its fields; every fault is told at once."""

import math
import re
from collections.abc import Container, Iterator, Mapping
from typing import Any, get_args

import msgspec

from memruler.corpora.pins import pin
from memruler.errors import MemrulerError, UsageError
from memruler.metrics.names import METRICS, MetricName
from memruler.plugins import did_you_mean
from memruler.replay.inputs import TextForm
from memruler.replay.settings import RunSettings
from memruler.store.folder import check_stem
from memruler.studies.ablation_cells import design_of, folder_name, in_force, words
from memruler.studies.ablation_spec import ALL_OFF, RUN_KEYS, AblationSpec, Factor
from memruler.systems.builtin.settings import PRESETS, Settings, resolve
from memruler.systems.registry import BUILTIN

__all__ = ["check"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,15}")
_TEXT = "text."
_TAGS = "decay_tags"


def check(found: Mapping[str, Any], typed: Container[str]) -> list[str]:
    """Every fault of a spec whose fields have been read; of the whole, once its parts are right.

    Args:
        found: The fields that could be read, and the defaults of those that are not written.
        typed: Names of the fields that are.
    """
    faults = [
        *_corpus(found),
        *_system(found),
        *_settings(found),
        *_factors(found, typed),
        *_metrics(found),
    ]
    return faults or list(_design(found)) or list(_values(found))


def _told(where: str, error: MemrulerError) -> str:
    """An error as a fault: the field in front."""
    what = error.what if error.where is None else f"{error.what} [{error.where}]"
    return f"{where}: {what}" + (f"; {error.hint}" if error.hint else "")


def _corpus(found: Mapping[str, Any]) -> Iterator[str]:
    if "corpus" in found:
        try:
            pin(found["corpus"].name)
        except UsageError as error:
            yield _told("corpus.name", error)


def _system(found: Mapping[str, Any]) -> Iterator[str]:
    name = str(found.get("system", ""))
    if name.startswith(BUILTIN) and _preset(found) is None:
        yield f"system: unknown preset {name}; {did_you_mean(name, map(BUILTIN.__add__, PRESETS))}"


def _settings(found: Mapping[str, Any]) -> Iterator[str]:
    for key, word in words(found.get("settings", {})).items():
        where = f"settings.{key}"
        if key in RunSettings.__struct_fields__:
            yield f"{where}: it is no setting of the system; write `{key}` outside of [settings]"
        else:
            yield from _setting(found, key, word, where)


def _setting(found: Mapping[str, Any], key: str, word: str | None, where: str) -> Iterator[str]:
    """Whether a setting is known and can be one; those of a foreign system only itself knows."""
    if word is None:
        yield f"{where}: a setting is a text, a finite number, true or false"
    elif key.startswith(_TEXT):
        known = [_TEXT + name for name in TextForm.__struct_fields__]
        if key not in known:
            yield f"{where}: no such setting; {did_you_mean(key, known)}"
        elif word not in {"true", "false"}:
            yield f"{where}: it is true or false"
    elif _preset(found) is not None and not key.startswith(f"{_TAGS}."):
        known = [name for name in Settings.__struct_fields__ if name != _TAGS]
        if key not in known:
            yield f"{where}: no such setting; {did_you_mean(key, known)}"


def _preset(found: Mapping[str, Any]) -> str | None:
    name = str(found.get("system", ""))
    preset = name.removeprefix(BUILTIN)
    return preset if name.startswith(BUILTIN) and preset in PRESETS else None


def _factors(found: Mapping[str, Any], typed: Container[str]) -> Iterator[str]:
    factors: Mapping[str, Factor] = found.get("factors", {})
    taken = dict.fromkeys(words(found.get("settings", {})), "[settings]")
    taken |= {key: f"`{key}`" for key in RUN_KEYS if key in typed}
    for name, factor in factors.items():
        if not _NAME.fullmatch(name) or name == ALL_OFF:
            yield (
                f"factors.{name}: a name has 1 to 16 of a-z, 0-9, `-` and `_`, and is not {ALL_OFF}"
            )
        off, on = words(factor.off), words(factor.on)
        for side, table in (("off", off), ("on", on)):
            for key, word in table.items():
                yield from _value(found, key, word, f"factors.{name}.{side}.{key}")
        for key in dict.fromkeys((*off, *on)):
            if key in taken:
                yield f"factors.{name}: {key} is set by {taken[key]} too"
            if off.get(key) == on.get(key):
                yield f"factors.{name}: {key} is the same off and on; write it into [settings]"
        taken |= dict.fromkeys((*off, *on), f"factors.{name}")
    try:
        check_stem(folder_name(tuple(factors)))
    except UsageError:
        yield "factors: their names are too long together for a folder; shorten them"


def _value(found: Mapping[str, Any], key: str, word: str | None, where: str) -> Iterator[str]:
    allowed = {
        field.name: get_args(field.type)
        for field in msgspec.structs.fields(AblationSpec)
        if field.name in RUN_KEYS
    }
    if key in allowed:
        if word not in allowed[key]:
            yield f"{where}: it is {' or '.join(allowed[key])}"
    elif key in RunSettings.__struct_fields__:
        yield f"{where}: {key} is the same in every cell; write it outside of [factors]"
    else:
        yield from _setting(found, key, word, where)


def _metrics(found: Mapping[str, Any]) -> Iterator[str]:
    factors: Mapping[str, Factor] = found.get("factors", {})
    by_session = found.get("granularity") == "session" or any(
        "session" in (f.off.get("granularity"), f.on.get("granularity")) for f in factors.values()
    )
    outcomes, limit = found.get("metrics", ()), found.get("limit", math.inf)
    for at, outcome in enumerate(outcomes):
        where = f"metrics[{at}]"
        if outcome is None:
            continue  # it is told already
        try:
            name = MetricName.parse(outcome.metric)
        except UsageError as error:
            yield _told(f"{where}.metric", error)
            continue
        if METRICS[name.metric].kind != "per-query":
            yield f"{where}.metric: a single query has no {name.metric}, so no query can move"
        if name.k > limit:
            yield f"{where}.metric: no list reaches {name.k}; `limit` is {limit}"
        if by_session and outcome.level == "turn":
            yield f"{where}.level: a run by session has no turns"
        if outcome in outcomes[:at]:
            yield f"{where}: it is there twice"


def _design(found: Mapping[str, Any]) -> Iterator[str]:
    generators, kind = found.get("generators", ()), found.get("design")
    if kind == "fraction" and not generators:
        yield "generators: a fraction needs at least one, such as `d = a * b * c`"
    elif kind == "full" and generators:
        yield 'generators: a whole design has none; write `design = "fraction"`'
    elif len(found.get("factors", ())) > 1:
        try:
            design_of(tuple(found["factors"]), generators)
        except UsageError as error:
            yield _told("generators" if generators else "factors", error)


def _values(found: Mapping[str, Any]) -> Iterator[str]:
    """Values that the built-in memory does not take, with the first cell that has each."""
    preset = _preset(found)
    if preset is None:
        return
    design = design_of(tuple(found["factors"]), found.get("generators", ()))
    told: set[str] = set()
    for on in design.cells:
        given = in_force(found.get("settings", {}), found["factors"], on)
        own = {k: v for k, v in given.items() if k not in RUN_KEYS and not k.startswith(_TEXT)}
        try:
            resolve(preset, own)
        except UsageError as error:
            fault = _told("", error)
            if fault not in told:
                yield f"cell {folder_name(on)}{fault}"
            told.add(fault)
