"""What can be wrong with the spec of any study beyond the types of its fields."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, get_args

import msgspec

from memruler.corpora.pins import pin
from memruler.errors import MemrulerError, UsageError
from memruler.plugins import did_you_mean
from memruler.replay.forms import parse_forms
from memruler.replay.inputs import TextForm
from memruler.replay.settings import RunSettings
from memruler.studies.spec_base import RUN_KEYS, StudySpec
from memruler.studies.spec_builtin import BUILTINS, require_settings, settings_of
from memruler.studies.spec_cells import words
from memruler.systems.registry import BUILTIN

__all__ = ["base_faults", "cell_faults", "taken_keys", "told", "value_faults"]

_TEXT = "text."
_TAGS = "decay_tags."


def told(where: str, error: MemrulerError) -> str:
    """An error as a fault: the field in front."""
    what = error.what if error.where is None else f"{error.what} [{error.where}]"
    return f"{where}: {what}" + (f"; {error.hint}" if error.hint else "")


def base_faults(found: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the fields of `StudySpec`.

    Args:
        found: The fields that could be read, and the defaults of those that are not written.
    """
    if "corpus" in found:
        try:
            pin(found["corpus"].name)
        except UsageError as error:
            yield told("corpus.name", error)
    system = str(found.get("system", ""))
    if system.startswith(BUILTIN) and system not in BUILTINS:
        yield f"system: unknown preset {system}; {did_you_mean(system, BUILTINS)}"
    if "forms" in found:
        yield from _forms(found["forms"], "forms")
    for key, word in words(found.get("settings", {})).items():
        where = f"settings.{key}"
        if key in RunSettings.__struct_fields__:
            yield f"{where}: it is no setting of the system; write `{key}` outside of [settings]"
        else:
            yield from _setting(found, key, word, where)


def taken_keys(found: Mapping[str, Any], typed: Collection[str]) -> dict[str, str]:
    """Setting to what sets it in every cell, for people.

    Args:
        found: As in `base_faults`.
        typed: Names of the fields that are written.
    """
    own = dict.fromkeys(words(found.get("settings", {})), "[settings]")
    return own | {key: f"`{key}`" for key in RUN_KEYS if key in typed}


def value_faults(
    found: Mapping[str, Any], key: str, word: str | None, where: str, table: str
) -> Iterator[str]:
    """What is wrong with a value that is not the same in every cell.

    Args:
        found: As in `base_faults`.
        key: The setting.
        word: Its value as a person types it; None if it can be none.
        where: The field, for people.
        table: The table that it stands in, for people.
    """
    fields = {field.name: field.type for field in msgspec.structs.fields(StudySpec)}
    if key == "forms":
        yield from _forms(word or "", where)
    elif key in RUN_KEYS:
        allowed = get_args(fields[key])
        if word not in allowed:
            yield f"{where}: it is {' or '.join(allowed)}"
    elif key in RunSettings.__struct_fields__:
        yield f"{where}: {key} is the same in every cell; write it outside of {table}"
    else:
        yield from _setting(found, key, word, where)


def cell_faults(
    found: Mapping[str, Any], cells: Iterable[tuple[str, Mapping[str, str]]]
) -> Iterator[str]:
    """Values that a built-in memory does not take, with the first cell that has each.

    Args:
        found: As in `base_faults`.
        cells: Name of each cell, and every setting in force in it.
    """
    system = str(found.get("system", ""))
    if system not in BUILTINS:
        return
    said: set[str] = set()
    for name, given in cells:
        own = {k: v for k, v in given.items() if k not in RUN_KEYS and not k.startswith(_TEXT)}
        try:
            require_settings(system, own)
        except UsageError as error:
            fault = told("", error)
            if fault not in said:
                yield f"cell {name}{fault}"
            said.add(fault)


def _forms(text: str, where: str) -> Iterator[str]:
    try:
        parse_forms(text)
    except UsageError as error:
        yield f"{where}: {error.what}" + (f"; {error.hint}" if error.hint else "")


def _setting(found: Mapping[str, Any], key: str, word: str | None, where: str) -> Iterator[str]:
    """Whether a setting is known and can be one; those of a foreign system only itself knows."""
    known = settings_of(str(found.get("system", "")))
    if word is None:
        yield f"{where}: a setting is a text, a finite number, true or false"
    elif key.startswith(_TEXT):
        texts = [_TEXT + name for name in TextForm.__struct_fields__]
        if key not in texts:
            yield f"{where}: no such setting; {did_you_mean(key, texts)}"
        elif word not in {"true", "false"}:
            yield f"{where}: it is true or false"
    elif known is not None and not key.startswith(_TAGS):
        names = [name for name in known if not name.startswith(_TAGS)]
        if key not in names:
            yield f"{where}: no such setting; {did_you_mean(key, names)}"
