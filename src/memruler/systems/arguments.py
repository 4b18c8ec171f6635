"""Settings of a foreign class: read from the signature of its constructor."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from memruler.errors import SystemUnderTestError, UsageError
from memruler.plugins import did_you_mean
from memruler.systems.plain import Unfit, plain

__all__ = ["check_typed", "constructor_arguments"]

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
        What to call it with, and what is left to its defaults, in plain form.

    Raises:
        UsageError: An unknown setting, one that is missing, or a value of the wrong type or that
            a manifest cannot hold.
        SystemUnderTestError: A manifest cannot hold a default.
    """
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        parameters = inspect.signature(lambda: None).parameters
    named = {name: p for name, p in parameters.items() if p.kind in _NAMED}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    chosen: dict[str, Any] = {}
    for name, text in given.items():
        check_typed(name, text)
        if name in named:
            chosen[name] = _fit(_value(named[name], text), name, text)
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
    return chosen, {n: _default(p, where) for n, p in named.items() if n not in chosen}


def check_typed(name: str, text: str) -> None:
    """Refuse a setting whose name or value is no text at all.

    Raises:
        UsageError: Either holds half a surrogate pair, as bytes that are no UTF-8 become.
    """
    _fit(name, name, text)
    _fit(text, name, text)


def _fit(value: Any, name: str, text: str) -> Any:
    try:
        return plain(value)
    except Unfit as error:
        raise UsageError(
            f"a manifest cannot hold this value: {error}",
            where=f"{name}={text}",
            hint="type a finite number or a text in UTF-8",
        ) from error


def _value(parameter: inspect.Parameter, text: str) -> Any:
    """Convert by annotation, else by the type of the default, else leave the text as it is.

    An annotation is read as text: it may be a string, and evaluating it could run anything.
    """
    annotation: Any = parameter.annotation
    default = parameter.default
    # By identity: the equality of an array, for one, is no truth value.
    if annotation is parameter.empty and default is not parameter.empty and default is not None:
        annotation = type(default)
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


def _default(parameter: inspect.Parameter, where: str) -> Any:
    try:
        return plain(parameter.default, mark=True)
    except Unfit as error:
        raise SystemUnderTestError(
            f"a manifest cannot hold the default of {parameter.name}: {error}",
            where=where,
            hint="give it another default; None can stand for no limit",
        ) from error
