"""Which setting a server refuses, by the fields of its answer that are for this."""

from collections.abc import Mapping
from typing import Any

__all__ = ["refused_setting", "without"]

_UNSUPPORTED = {"unsupported_parameter", "unsupported_value", "unknown_parameter"}
_ALWAYS = {"temperature", "seed"}
_WITHOUT = {
    "temperature": "send none (--no-temperature)",
    "seed": "send none: leave --seed out",
    "max_tokens": "name it as the server does: --max-tokens-field max_completion_tokens",
    "max_completion_tokens": "name it as the server does: --max-tokens-field max_tokens",
}


def refused_setting(body: Any, sent: Mapping[str, Any]) -> str | None:
    """The setting that an answer refuses by its name; None where it refuses something else.

    Read are `param` with `code`, as OpenAI's interface has them, and `detail[].loc`, as servers
    built on FastAPI do. The message is not read: it may quote what was asked.

    Args:
        body: The answer, decoded; for OpenAI's interface what stands under `error`.
        sent: The settings that were sent.
    """
    if not isinstance(body, dict):
        return None
    name = body.get("param")
    if isinstance(name, str) and name in sent:
        # A limit may be too large beside this one prompt, which is no word on the setting.
        return name if name in _ALWAYS or body.get("code") in _UNSUPPORTED else None
    details = body.get("detail")
    places = [
        detail.get("loc")
        for detail in (details if isinstance(details, list) else ())
        if isinstance(detail, dict)
    ]
    return next((name for name in sorted(_ALWAYS & set(sent)) if ["body", name] in places), None)


def without(setting: str) -> str:
    """What to do where the server does not take `setting`."""
    return _WITHOUT.get(setting, "leave it out of the extra body")
