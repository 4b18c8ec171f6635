"""From what a person typed to everything that a run needs."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from memruler.corpora.registry import open_corpus
from memruler.errors import UsageError
from memruler.model.corpus import Corpus, CorpusInfo, Population
from memruler.model.system import MemorySystem
from memruler.replay.inputs import TextForm
from memruler.replay.settings import RunSettings
from memruler.systems.registry import open_system

__all__ = ["Plan", "choose_population", "parse_assignments", "parse_text_form", "plan_run"]

_TEXT = "text."


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is ready to begin.

    Attributes:
        chosen: Settings that the person set, by dotted key.
        defaulted: Settings left at their default, by dotted key.
    """

    corpus: Corpus
    system: MemorySystem
    settings: RunSettings
    chosen: dict[str, Any]
    defaulted: dict[str, Any]


def parse_assignments(assignments: Sequence[str]) -> dict[str, str]:
    """Read `key=value` words.

    Raises:
        UsageError: A word has no `=`, an empty key, or a key comes twice.
    """
    found: dict[str, str] = {}
    for word in assignments:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise UsageError("a setting is written KEY=VALUE", where=word)
        if key.strip() in found:
            raise UsageError("a setting is given twice", where=key.strip())
        found[key.strip()] = value.strip()
    return found


def parse_text_form(settings: Mapping[str, str]) -> TextForm:
    """The text form from `text.*` settings, their prefix removed.

    Raises:
        UsageError: An unknown name, or a value that is not `true` or `false`.
    """
    known = TextForm.__struct_fields__
    values: dict[str, bool] = {}
    for key, value in settings.items():
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {_TEXT}{near[0]}?" if near else f"known: {', '.join(known)}"
            raise UsageError(f"unknown setting {_TEXT}{key}", hint=hint)
        if value.lower() not in {"true", "false"}:
            raise UsageError(f"{_TEXT}{key} is true or false", where=value)
        values[key] = value.lower() == "true"
    return TextForm(**values)


def choose_population(info: CorpusInfo, name: str | None) -> Population:
    """The named population of a corpus, its default (the first) without a name.

    Raises:
        UsageError: The corpus has no such population.
    """
    if name is None:
        return info.populations[0]
    for population in info.populations:
        if population.name == name:
            return population
    names = [population.name for population in info.populations]
    near = get_close_matches(name, names, n=1)
    raise UsageError(
        f"{info.name} has no population `{name}`",
        hint=f"did you mean {near[0]}?" if near else f"it has {', '.join(names)}",
    )


def plan_run(
    corpus_name: str,
    path: Path | None,
    system_name: str,
    *,
    assignments: Sequence[str] = (),
    population: str | None = None,
    settings: Mapping[str, Any],
) -> Plan:
    """Open the corpus and the system and settle every setting.

    Args:
        corpus_name: Registry name of the corpus.
        path: Its file, where it is not a cached or bundled one.
        system_name: `builtin:...`, a plug-in's name, or `file.py:Class`.
        assignments: `key=value` words: `text.*` for the text form, the rest for the system.
        population: Name of the population; None for the corpus's default.
        settings: Fields of `RunSettings` in force by name (timeline, limit, ...).

    Raises:
        UsageError: A name or value is unknown.
        CorpusError: The corpus cannot be opened.
        InstrumentError: A part that the system needs (an embedder) cannot be loaded.
    """
    given = parse_assignments(assignments)
    form = {k.removeprefix(_TEXT): v for k, v in given.items() if k.startswith(_TEXT)}
    own = {k: v for k, v in given.items() if not k.startswith(_TEXT)}
    text = parse_text_form(form)
    corpus = open_corpus(corpus_name, path)
    chosen_population = choose_population(corpus.info, population)
    opened = open_system(system_name, own)
    run = RunSettings(population=chosen_population, text=text, **settings)
    chosen, defaulted = _sides(run, form, population)
    return Plan(
        corpus=corpus,
        system=opened.system,
        settings=run,
        chosen={"system": system_name, **chosen, **opened.chosen},
        defaulted={**defaulted, **opened.defaulted},
    )


def _sides(
    run: RunSettings, form: Mapping[str, str], population: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The run's own settings, those that differ from their default apart from the others."""
    defaults = RunSettings(population=run.population)
    chosen: dict[str, Any] = {}
    defaulted: dict[str, Any] = {}
    for name in RunSettings.__struct_fields__:
        value = getattr(run, name)
        if name == "population":
            (chosen if population else defaulted)[name] = value.name
        elif name == "text":
            for field in TextForm.__struct_fields__:
                side = chosen if field in form else defaulted
                side[_TEXT + field] = getattr(value, field)
        else:
            (chosen if value != getattr(defaults, name) else defaulted)[name] = value
    return chosen, defaulted
