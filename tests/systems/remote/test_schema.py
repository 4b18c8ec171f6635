"""The published schema of a memory's file is that of its record, and fits every recipe."""

import json
import tomllib
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from memruler.systems.remote.schema import system_schema

DOCS = Path(__file__).parents[3] / "docs"
COMMAND = (
    'python -c "from pathlib import Path; from memruler.systems.remote.schema import '
    "system_schema; Path('docs/schema/system.schema.json').write_bytes(system_schema())\""
)
RECIPES = [one for one in files("memruler.systems.recipes").iterdir() if one.suffix == ".toml"]


def check(data):
    jsonschema.validate(data, json.loads(system_schema()), cls=jsonschema.Draft202012Validator)


def test_the_published_schema_is_that_of_the_record():
    assert (DOCS / "schema" / "system.schema.json").read_bytes() == system_schema(), COMMAND
    assert COMMAND in (DOCS / "remote.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda one: one.name)
def test_every_recipe_fits(recipe):
    check(tomllib.loads(recipe.read_text(encoding="utf-8")))


@pytest.mark.parametrize("extra", [{"serch": {}}, {"name": 3}, {"capabilities": {"fast": True}}])
def test_what_the_record_refuses_does_not_fit(extra):
    sound = tomllib.loads(RECIPES[0].read_text(encoding="utf-8"))
    check(sound)
    with pytest.raises(jsonschema.ValidationError):
        check({**sound, **extra})
