"""Every recipe that comes with memruler can be read, and is told in the documentation."""

from importlib.resources import files
from pathlib import Path

import pytest

from memruler.systems.registry import open_system

RECIPES = sorted(
    name.name.removesuffix(".toml")
    for name in files("memruler.systems.recipes").iterdir()
    if name.name.endswith(".toml")
)
PAGE = Path(__file__).parents[3] / "docs" / "remote.md"


def test_there_are_recipes():
    assert len(RECIPES) > 5


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_read_without_its_server(name, monkeypatch):
    monkeypatch.setenv("SUPERMEMORY_API_KEY", "a-key-that-is-none")
    opened = open_system(f"recipe:{name}", {}).system
    assert opened.outlives() is (name == "supermemory")  # all others start a server of their own


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_told_in_the_documentation(name):
    assert f"| `{name}` |" in PAGE.read_text(encoding="utf-8")
