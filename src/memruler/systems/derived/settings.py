"""Which forms a derived memory stores, beside the settings of the memory that searches them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memruler.errors import UsageError
from memruler.plugins import did_you_mean
from memruler.systems.builtin.settings import Settings, known_settings, value_of
from memruler.systems.builtin.settings import resolve as resolve_builtin

__all__ = ["MOST_FACTS", "NAME", "DerivedSettings", "Stored", "known", "resolve"]

NAME = "builtin:derived"

MOST_FACTS = 8
"""Facts of one unit."""

_RANKING, _RETRIEVAL = "ranking", "retrieval"


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """The forms that are stored.

    Attributes:
        raw: Every unit verbatim.
        facts: Most facts made of one unit.
        timeline: The dated statements of every unit.
        summaries: One extractive summary of each session.
    """

    raw: bool = True
    facts: Annotated[int, Meta(ge=0, le=MOST_FACTS)] = 5
    timeline: bool = True
    summaries: bool = True


class DerivedSettings(msgspec.Struct, frozen=True):
    """Everything that a derived memory is set to: what is stored, and how it is searched."""

    stored: Stored
    search: Settings

    def named(self) -> dict[str, Any]:
        """Every setting by the name that a person sets it by."""
        search = msgspec.structs.asdict(self.search)
        ranking = search.pop(_RETRIEVAL)
        return {**msgspec.structs.asdict(self.stored), _RANKING: ranking, **search}


_OWN: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(Stored)}
_OWN[_RANKING] = Literal["lexical", "dense", "hybrid"]
_NAMES = {*_OWN, *Settings.__struct_fields__} - {_RETRIEVAL}


def known() -> list[str]:
    """The names of all settings, with `TAG` standing for any tag."""
    return [*_OWN, *[name for name in known_settings() if name != _RETRIEVAL]]


def resolve(given: Mapping[str, str]) -> tuple[DerivedSettings, dict[str, Any], dict[str, Any]]:
    """The settings in force.

    Args:
        given: Setting to its value as typed; beside those of `Stored` there is `ranking`
            (`lexical`, `dense` or `hybrid`), and what that built-in memory can be set to.

    Returns:
        The settings; those that the person set; the others. Both by dotted key, with the value
        in force.

    Raises:
        UsageError: An unknown setting, a value of the wrong type or out of range, a setting that
            could have no effect beside the others, or nothing is left to be stored.
    """
    for key in given:
        if key.partition(".")[0] not in _NAMES:
            hint = f"set {_RANKING}" if key == _RETRIEVAL else did_you_mean(key, known())
            raise UsageError(f"unknown setting of {NAME}", where=key, hint=hint)
    own = {key: value_of(key, given[key], kind) for key, kind in _OWN.items() if key in given}
    ranking = own.get(_RANKING, "lexical")
    search, chosen, defaulted = resolve_builtin(
        ranking,
        {key: text for key, text in given.items() if key not in own},
        name=NAME,
        words_and_vectors=f"set {_RANKING}=hybrid",
    )
    stored = Stored(**{key: value for key, value in own.items() if key != _RANKING})
    if not any(msgspec.structs.asdict(stored).values()):
        raise UsageError(
            "nothing is left to be stored", where=NAME, hint="leave one of the forms on"
        )
    untouched = {**msgspec.structs.asdict(stored), _RANKING: ranking, **defaulted}
    left = {key: value for key, value in untouched.items() if key not in {*own, _RETRIEVAL}}
    return DerivedSettings(stored, search), {**own, **chosen}, left
