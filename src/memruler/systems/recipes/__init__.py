"""TOML files of known memory servers, ready to be measured: `--system recipe:NAME`."""

from pathlib import Path

from memruler.errors import UsageError
from memruler.plugins import did_you_mean

__all__ = ["RECIPE", "recipe_path", "recipes"]

RECIPE = "recipe:"

_FOLDER = Path(__file__).parent


def recipes() -> list[str]:
    """Names of the files, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def recipe_path(name: str) -> Path:
    """The file behind `recipe:NAME`, or the path itself.

    Raises:
        UsageError: There is no such recipe.
    """
    if not name.startswith(RECIPE):
        return Path(name)
    known = recipes()
    wanted = name.removeprefix(RECIPE)
    if wanted not in known:
        raise UsageError(
            "unknown recipe", where=name, hint=did_you_mean(wanted, known, prefix=RECIPE)
        )
    return _FOLDER / f"{wanted}.toml"
