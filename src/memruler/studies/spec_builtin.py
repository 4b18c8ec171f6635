"""What the settings of a built-in memory may be; a foreign one judges its own when it is opened."""

from collections.abc import Mapping

from memruler.systems.builtin.settings import PRESETS, known_settings
from memruler.systems.builtin.settings import resolve as resolve_preset
from memruler.systems.derived.settings import NAME as DERIVED
from memruler.systems.derived.settings import known as known_derived
from memruler.systems.derived.settings import resolve as resolve_derived
from memruler.systems.registry import BUILTIN

__all__ = ["BUILTINS", "require_settings", "settings_of"]

BUILTINS = (*map(BUILTIN.__add__, PRESETS), DERIVED)
"""Names of the built-in memories."""


def settings_of(system: str) -> list[str] | None:
    """Names of the settings of a built-in memory, `decay_tags.TAG` for any tag; None for others."""
    if system not in BUILTINS:
        return None
    return known_derived() if system == DERIVED else known_settings()


def require_settings(system: str, given: Mapping[str, str]) -> None:
    """Have a built-in memory judge its settings; nothing is opened.

    Args:
        system: One of `BUILTINS`.
        given: Setting to its value as typed.

    Raises:
        UsageError: One is unknown, out of range or without effect.
    """
    if system == DERIVED:
        resolve_derived(given)
    else:
        resolve_preset(system.removeprefix(BUILTIN), given)
