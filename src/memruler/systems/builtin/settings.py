"""Every term of the built-in memory as a setting, and the four presets."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta
from msgspec.inspect import BoolType, FloatType, IntType, LiteralType, NoneType, UnionType

from memruler.errors import UsageError
from memruler.plugins import did_you_mean
from memruler.systems.arguments import check_typed

__all__ = ["MOST_HITS", "PRESETS", "Settings", "known_settings", "resolve", "value_of"]

MOST_HITS = 1_000_000_000
"""Largest number of hits, of items, or of any count here; SQLite holds 64 bits."""

Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Rate = Annotated[float, Meta(ge=0.0, le=1000.0)]
Count = Annotated[int, Meta(ge=1, le=MOST_HITS)]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What one built-in memory does. Every term is off unless its preset says otherwise.

    Attributes:
        retrieval: `lexical` (FTS5, BM25), `dense` (exact cosine), `hybrid` (both, fused).
        stop_words: Leave function words out of a lexical query.
        rrf_k: The constant of reciprocal-rank fusion.
        rrf_depth: How deep each ranking is read for the fusion; None for all of it.
        embedder: Name of the embedder.
        decay: Multiply a relevance by `exp(-rate * age_days)`.
        decay_rate: That rate, per day.
        decay_tags: Tag to a rate that replaces `decay_rate`; of several tags the lowest counts.
        decay_floor: The decay factor is never below this.
        decay_cap: And never above this; at 1 an item dated after the question gains nothing.
        importance: Multiply a relevance by `0.7 + 0.3 * importance`.
        importance_default: The importance of an item that carries none.
        round_digits: Round a score to so many decimals before sorting; None for no rounding.
        mmr: Re-rank the returned window by maximal marginal relevance.
        mmr_lambda: Weight of relevance there; the rest is the weight of diversity.
        dedup_prefix: Refuse a text whose lower-cased beginning is stored already.
        dedup_prefix_chars: How many characters that beginning has.
        dedup_cosine: Refuse a text whose cosine to a stored one is at least this; None for off.
        capacity: Most items stored at once; None for no limit.
    """

    retrieval: Literal["lexical", "dense", "hybrid"]
    stop_words: bool = True
    rrf_k: Annotated[int, Meta(ge=0, le=1_000_000)] = 60
    rrf_depth: Count | None = None
    embedder: str = "minilm"
    decay: bool = False
    decay_rate: Rate = 0.03
    decay_tags: dict[str, Rate] = {}
    decay_floor: Share = 0.0
    decay_cap: Annotated[float, Meta(ge=0.0, le=1_000_000.0)] = 1.0
    importance: bool = False
    importance_default: Share = 0.5
    round_digits: Annotated[int, Meta(ge=0, le=15)] | None = None
    mmr: bool = False
    mmr_lambda: Share = 0.6
    dedup_prefix: bool = False
    dedup_prefix_chars: Count = 80
    dedup_cosine: Share | None = None
    capacity: Count | None = None

    @property
    def lexical(self) -> bool:
        """Whether words are searched."""
        return self.retrieval != "dense"

    @property
    def dense(self) -> bool:
        """Whether vectors are searched."""
        return self.retrieval != "lexical"

    @property
    def production(self) -> bool:
        """Whether a relevance is changed before it is sorted by."""
        return self.decay or self.importance or self.round_digits is not None


PRESETS: dict[str, dict[str, Any]] = {
    "lexical": {"retrieval": "lexical"},
    "dense": {"retrieval": "dense"},
    "hybrid": {"retrieval": "hybrid"},
    # The whole production ranking. No capacity: no one number suits every corpus.
    "episodic": {
        "retrieval": "dense",
        "decay": True,
        "importance": True,
        "round_digits": 4,
        "mmr": True,
        "dedup_prefix": True,
        "dedup_cosine": 0.95,
    },
}

_TYPES: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(Settings)}
_TAGS = "decay_tags"

_NEEDS: dict[str, tuple[str, ...]] = {
    "words": ("stop_words",),
    "vectors": ("embedder", "mmr", "dedup_cosine"),
    "words and vectors": ("rrf_k", "rrf_depth"),
    "decay": ("decay_rate", _TAGS, "decay_floor", "decay_cap"),
    "mmr": ("mmr_lambda",),
    "dedup_prefix": ("dedup_prefix_chars",),
    "importance or capacity": ("importance_default",),
}
"""What must be on for a setting to have any effect."""


def resolve(
    preset: str,
    given: Mapping[str, str],
    *,
    name: str | None = None,
    words_and_vectors: str = "use builtin:hybrid",
) -> tuple[Settings, dict[str, Any], dict[str, Any]]:
    """The settings in force: the preset's, overridden by what a person set.

    Args:
        preset: Name of a preset.
        given: Setting to its value as typed; `decay_tags.TAG` sets the rate of one tag.
        name: What the person calls the memory; None for `builtin:PRESET`.
        words_and_vectors: How to have both searched.

    Returns:
        The settings; those that the person set; the others. Both by dotted key, with the value
        in force.

    Raises:
        UsageError: An unknown preset or setting, a value of the wrong type or out of range, or
            a setting that could have no effect beside the others.
    """
    if preset not in PRESETS:
        raise UsageError(
            f"unknown preset builtin:{preset}",
            hint=did_you_mean(preset, PRESETS, prefix="builtin:"),
        )
    chosen = {name: _value(name, text) for name, text in given.items()}
    tags = {name.removeprefix(f"{_TAGS}."): rate for name, rate in chosen.items() if "." in name}
    plain = {name: value for name, value in chosen.items() if "." not in name}
    settings = Settings(**{**PRESETS[preset], **plain, **({_TAGS: tags} if tags else {})})
    _refuse_another_retrieval(preset, settings)
    _refuse_contradictions(
        name or f"builtin:{preset}", settings, chosen, words_and_vectors=words_and_vectors
    )
    defaulted = {
        name: value
        for name, value in msgspec.structs.asdict(settings).items()
        if name not in chosen and not (name == _TAGS and tags)
    }
    return settings, chosen, defaulted


def known_settings() -> list[str]:
    """The names of all settings, with `TAG` standing for any tag."""
    return [f"{_TAGS}.TAG" if key == _TAGS else key for key in _TYPES]


def _value(name: str, text: str) -> Any:
    check_typed(name, text)
    group, dot, tag = name.partition(".")
    if (group == _TAGS) != bool(dot and tag) or (dot and group != _TAGS) or group not in _TYPES:
        hint = did_you_mean(name, known_settings())
        raise UsageError("unknown setting of the built-in memory", where=name, hint=hint)
    return value_of(name, text, Rate if dot else _TYPES[name])


def value_of(name: str, text: str, kind: Any) -> Any:
    """A setting's value as typed, in its type.

    Raises:
        UsageError: It is none of the values that the type allows.
    """
    check_typed(name, text)
    word = "null" if text.lower() == "none" and kind is not str else text
    try:
        return msgspec.convert(word, kind, strict=False)
    except msgspec.ValidationError:
        raise UsageError(f"{name} is {_range(kind)}", where=f"{name}={text}") from None


def _range(kind: Any) -> str:
    """The values a type allows, in words."""
    info = msgspec.inspect.type_info(kind)
    members = info.types if isinstance(info, UnionType) else (info,)
    return " or ".join(sorted(map(_one_range, members), key="none".__eq__))


def _one_range(info: msgspec.inspect.Type) -> str:
    match info:
        case NoneType():
            return "none"
        case BoolType():
            return "true or false"
        case LiteralType(values=values):
            return " or ".join(map(str, values))
        case IntType(ge=low, le=high):
            return f"a whole number from {low} to {high}"
        case FloatType(ge=low, le=high):
            return f"a number from {low:g} to {high:g}"
    return "a text"


def _refuse_another_retrieval(preset: str, settings: Settings) -> None:
    if preset in {"lexical", "dense", "hybrid"} and settings.retrieval != preset:
        raise UsageError(
            f"builtin:{preset} is {preset} retrieval",
            where=f"retrieval={settings.retrieval}",
            hint=f"use builtin:{settings.retrieval}",
        )


def _refuse_contradictions(
    name: str, settings: Settings, chosen: Mapping[str, Any], *, words_and_vectors: str
) -> None:
    """A setting that changes nothing would be believed to have been measured."""
    if settings.decay_cap < settings.decay_floor:
        raise UsageError("decay_cap is below decay_floor", where=f"{settings.decay_cap:g}")
    on = {
        "words": settings.lexical,
        "vectors": settings.dense,
        "words and vectors": settings.lexical and settings.dense,
        "decay": settings.decay,
        "mmr": settings.mmr,
        "dedup_prefix": settings.dedup_prefix,
        "importance or capacity": settings.importance or settings.capacity is not None,
    }
    off = {"mmr": False, "dedup_cosine": None}
    for need, names in _NEEDS.items():
        for setting in names:
            set_here = [key for key in chosen if key.partition(".")[0] == setting]
            if on[need] or not set_here or chosen[set_here[0]] == off.get(setting, UNSET):
                continue
            raise UsageError(
                f"{set_here[0]} has no effect here: it needs {need}",
                where=name,
                hint=_remedy(need, words_and_vectors),
            )


def _remedy(need: str, words_and_vectors: str) -> str:
    if need in {"decay", "mmr", "dedup_prefix"}:
        return f"also set {need}=true, or leave it out"
    return (
        "leave it out" if need.startswith("importance") else f"{words_and_vectors}, or leave it out"
    )
