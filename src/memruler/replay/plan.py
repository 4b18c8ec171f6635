"""From what a person typed to everything that a run needs."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from memruler.corpora.registry import open_corpus
from memruler.errors import UsageError
from memruler.model.corpus import Corpus, CorpusInfo, Population
from memruler.model.system import MemorySystem
from memruler.replay.forms import TURNS_ONLY, check_forms, parse_forms
from memruler.replay.inputs import TextForm
from memruler.replay.settings import RunSettings
from memruler.systems.registry import open_system

__all__ = [
    "Plan",
    "PlanSpec",
    "choose_population",
    "parse_assignments",
    "parse_text_form",
    "plan_run",
]

_TEXT = "text."


class PlanSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a person typed, enough to open the same plan in another process.

    Attributes:
        corpus: Registry name of the corpus.
        path: Its file, where it is not a cached or bundled one.
        system: `builtin:...`, a plug-in's name, or `file.py:Class`.
        assignments: `key=value` words: `text.*` for the text form, the rest for the system.
        population: Name of the population; None for the corpus's default.
        settings: Fields of `RunSettings` by name (timeline, limit, ...); `forms` as text.
        typed: Names of those of `settings`, and `system`, that the person gave.
    """

    corpus: str
    path: str | None = None
    system: str = "builtin:lexical"
    assignments: tuple[str, ...] = ()
    population: str | None = None
    settings: dict[str, Any] = {}
    typed: tuple[str, ...] = ()


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is ready to begin.

    Attributes:
        chosen: Settings that the person set, by dotted key.
        defaulted: Settings left at their default, by dotted key.
        spec: What it was made from; None for one made of live objects.
    """

    corpus: Corpus
    system: MemorySystem
    settings: RunSettings
    chosen: dict[str, Any]
    defaulted: dict[str, Any]
    spec: PlanSpec | None = None


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


def plan_run(spec: PlanSpec) -> Plan:
    """Open the corpus and the system and settle every setting.

    Raises:
        UsageError: A name or value is unknown.
        CorpusError: The corpus cannot be opened.
        InstrumentError: A part that the system needs (an embedder) cannot be loaded.
    """
    given = parse_assignments(spec.assignments)
    form = {k.removeprefix(_TEXT): v for k, v in given.items() if k.startswith(_TEXT)}
    own = {k: v for k, v in given.items() if not k.startswith(_TEXT)}
    text = parse_text_form(form)
    forms = parse_forms(spec.settings.get("forms", ",".join(TURNS_ONLY)))
    corpus = open_corpus(spec.corpus, None if spec.path is None else Path(spec.path))
    check_forms(corpus.info, forms, spec.settings.get("granularity", "turn"))
    population = choose_population(corpus.info, spec.population)
    opened = open_system(spec.system, own)
    settings = {**spec.settings, "forms": forms}
    run = RunSettings(population=population, text=text, **settings)
    sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for key, value, typed in _settings(run, spec, form):
        sides[0 if typed else 1][key] = value
    return Plan(
        corpus=corpus,
        system=opened.system,
        settings=run,
        chosen={**sides[0], **opened.chosen},
        defaulted={**sides[1], **opened.defaulted},
        spec=spec,
    )


def _settings(
    run: RunSettings, spec: PlanSpec, form: Mapping[str, str]
) -> Iterator[tuple[str, Any, bool]]:
    """The run's own settings: dotted key, value in force, and whether the person gave it."""
    yield "system", spec.system, "system" in spec.typed
    yield "population", run.population.name, spec.population is not None
    for field in TextForm.__struct_fields__:
        yield _TEXT + field, getattr(run.text, field), field in form
    for name in RunSettings.__struct_fields__:
        if name not in {"population", "text"}:
            value = getattr(run, name)
            yield name, ",".join(value) if name == "forms" else value, name in spec.typed
