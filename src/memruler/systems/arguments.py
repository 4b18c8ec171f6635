"""Settings of a foreign class: read from the signature of its constructor."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from memruler.errors import UsageError
from memruler.plugins import did_you_mean

__all__ = ["constructor_arguments"]

# In this order the first that fits is taken: `int | str` reads `5` as a number.
_SIMPLE: dict[str, Any] = {"bool": bool, "int": int, "float": float, "str": str}
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def constructor_arguments(
    factory: Callable[..., Any], given: Mapping[str, str], where: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments that a person set, converted, and the defaults of the others.

    Args:
        factory: A class, or a function that makes a system.
        given: Setting to its value as typed.
        where: The class, for messages.

    Returns:
        What to call it with, and what is left to its defaults.

    Raises:
        UsageError: An unknown setting, a value of the wrong type, or one that is missing.
    """
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        parameters = inspect.signature(lambda: None).parameters
    named = {name: p for name, p in parameters.items() if p.kind in _NAMED}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    chosen: dict[str, Any] = {}
    for name, text in given.items():
        if name in named:
            chosen[name] = _value(named[name], text)
        elif takes_any:
            chosen[name] = text
        else:
            hint = did_you_mean(name, named) if named else "it takes no settings"
            raise UsageError(f"{where} has no setting {name}", hint=hint)
    missing = [n for n, p in named.items() if p.default is p.empty and n not in chosen]
    if missing:
        raise UsageError(
            f"{where} needs the setting {', '.join(missing)}", hint=f"add --set {missing[0]}=VALUE"
        )
    return chosen, {n: _plain(p.default) for n, p in named.items() if n not in chosen}


def _value(parameter: inspect.Parameter, text: str) -> Any:
    """Convert by annotation, else by the type of the default, else leave the text as it is.

    An annotation is read as text: it may be a string, and evaluating it could run anything.
    """
    annotation: Any = parameter.annotation
    if annotation is parameter.empty and parameter.default not in (parameter.empty, None):
        annotation = type(parameter.default)
    words = set(re.findall(r"\w+", _text(annotation)))
    if words & {"None", "NoneType", "Optional"} and text.lower() in {"none", "null"}:
        return None
    kinds = [kind for name, kind in _SIMPLE.items() if name in words]
    for kind in kinds:
        try:
            return msgspec.convert(text, kind, strict=False)
        except msgspec.ValidationError:
            continue
    if kinds:
        names = " or ".join(kind.__name__ for kind in kinds)
        raise UsageError(f"{parameter.name} takes a value of type {names}", where=text)
    return text


def _text(annotation: Any) -> str:
    # A class says `<class 'int'>` of itself, a union `int | None`, a string what was written.
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _plain(default: Any) -> Any:
    """A default in a form that a manifest can hold."""
    try:
        return msgspec.to_builtins(default)
    except TypeError:
        return repr(default)
