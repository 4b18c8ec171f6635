"""Every memory that has a name, without importing one."""

import tomllib

from memruler.errors import MemrulerError, UsageError
from memruler.model.known import KnownSystem
from memruler.store.safe import read_bytes
from memruler.systems.recipes import RECIPE, recipe_path, recipes
from memruler.systems.registry import SYSTEMS

__all__ = ["known_systems"]


def known_systems() -> list[KnownSystem]:
    """Built-in memories, plug-ins and recipes, in this order, each by name."""
    own = SYSTEMS.own()
    found = [
        KnownSystem(name=name, kind="built in" if name in own else "plug-in")
        for name in SYSTEMS.names()
    ]
    return found + [_recipe(name) for name in recipes()]


def _recipe(name: str) -> KnownSystem:
    path, about, broken = recipe_path(RECIPE + name), "", None
    try:
        text = read_bytes(path).decode()
        about = text.partition("\n")[0].lstrip("# ")
        tomllib.loads(text)
    except (MemrulerError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        broken = str(error) if isinstance(error, UsageError) else f"no TOML: {error}"
    return KnownSystem(name=RECIPE + name, kind="recipe", about=about, broken=broken)
