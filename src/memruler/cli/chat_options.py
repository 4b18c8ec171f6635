"""Options of verbs that ask a chat model, and what they open."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from memruler.cli.parameters import COUNT
from memruler.errors import UsageError

if TYPE_CHECKING:  # at run time only when a verb is called: --help needs no SDK
    from memruler.judges.asking import Asker

__all__ = ["ChatOptions", "chat_options", "open_asker"]


class ChatOptions(NamedTuple):
    """The options of one model, as they were given.

    Attributes:
        endpoint, model: Whom to ask.
        temperature: None where none is sent.
        seed, max_tokens, max_tokens_field, extra_body: See `Chat`; the body as JSON text.
        key_variable: Where the key stands.
        parallel: Requests under way at once.
        price_in, price_out, currency, max_cost, max_total_tokens: See `Budget`.
        draw: Name of a series of requests.
        timeout: Seconds.
    """

    endpoint: str
    model: str
    temperature: float | None
    seed: int | None
    max_tokens: int | None
    max_tokens_field: str
    extra_body: str | None
    key_variable: str
    parallel: int
    price_in: float | None
    price_out: float | None
    currency: str
    max_cost: float | None
    max_total_tokens: int | None
    draw: str
    timeout: float


_AMOUNT = click.FloatRange(min=0)


def _options(prefix: str, max_tokens: int | None) -> dict[str, Callable[[Any], Any]]:
    """Each option by the name of its field."""

    def option(name: str, **more: Any) -> Callable[[Any], Any]:
        shown = more.pop("show_default", more.get("default") is not None)
        return click.option(f"--{prefix}{name}", show_default=shown, **more)

    return {
        "endpoint": option("endpoint", metavar="URL", help="OpenAI-compatible, up to /v1."),
        "model": option("model", metavar="NAME", help="Its name on the server."),
        "temperature": option("temperature", type=click.FloatRange(0, 2), default=0.0),
        "no_temperature": option(
            "no-temperature",
            is_flag=True,
            show_default=False,
            help="Send none, for models that take none.",
        ),
        "seed": option("seed", type=int, help="Sent with every request. [default: none is sent]"),
        "max_tokens": option(
            "max-tokens",
            type=COUNT,
            default=max_tokens,
            help="The most tokens of a reply."
            + ("" if max_tokens else " [default: none is sent, or what the prompt asks for]"),
        ),
        "max_tokens_field": option(
            "max-tokens-field",
            type=click.Choice(["max_tokens", "max_completion_tokens"]),
            default="max_tokens",
            help="The name by which the server knows that limit.",
        ),
        "extra_body": option(
            "extra-body",
            metavar="JSON",
            help="More fields of every request, such as '{\"cache_prompt\": false}'.",
        ),
        "key_variable": option(
            "key-variable",
            metavar="NAME",
            default="OPENAI_API_KEY",
            help="The environment variable that holds the key; without it none is sent.",
        ),
        "parallel": option(
            "parallel", type=click.IntRange(1, 64), default=4, help="Requests under way at once."
        ),
        "price_in": option(
            "price-in", type=_AMOUNT, metavar="PRICE", help="Of a million tokens that are sent."
        ),
        "price_out": option(
            "price-out", type=_AMOUNT, metavar="PRICE", help="Of a million tokens of replies."
        ),
        "currency": option("currency", metavar="NAME", default="USD", help="Of the prices."),
        "max_cost": option(
            "max-cost",
            type=_AMOUNT,
            metavar="AMOUNT",
            help="Stop (exit code 130) before this call costs more. Needs both prices.",
        ),
        "max_total_tokens": option(
            "max-total-tokens",
            type=COUNT,
            help="Stop (exit code 130) before this call uses more, sent and said together.",
        ),
        "draw": option(
            "draw",
            metavar="NAME",
            default="",
            show_default=False,
            help="Another name asks everything anew, instead of using the replies that are kept.",
        ),
        "timeout": option(
            "timeout",
            type=click.FloatRange(1, 86_400),
            metavar="SECONDS",
            default=120.0,
            help="Until a try without an answer is given up.",
        ),
    }


def chat_options(
    prefix: str = "", *, required: bool = True, max_tokens: int | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a verb the options of a chat model, in one argument.

    The verb gets the keyword `chat`, or `<prefix>_chat` with a prefix: a `ChatOptions`, or None
    where no model is named and none is required. May be used several times with other prefixes.

    Args:
        prefix: Before each option: `judge` makes `--judge-endpoint`; empty for none.
        required: Whether a model must be named.
        max_tokens: The default of `--max-tokens`; None to send none.
    """
    dashed = f"{prefix}-" if prefix else ""
    keyword = f"{prefix}_chat" if prefix else "chat"
    options = _options(dashed, max_tokens)

    def decorate(verb: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(verb)
        def packed(*args: Any, **given: Any) -> Any:
            taken = {name: given.pop(f"{dashed}{name}".replace("-", "_")) for name in options}
            return verb(*args, **given, **{keyword: _packed(taken, dashed, required=required)})

        for option in reversed(options.values()):
            option(packed)
        return packed

    return decorate


def _packed(taken: dict[str, Any], dashed: str, *, required: bool) -> ChatOptions | None:
    if not taken["endpoint"] or not taken["model"]:
        context = click.get_current_context()
        names = {name: f"{dashed}{name}".replace("-", "_") for name in taken}
        given = [
            name
            for name, full in names.items()
            if context.get_parameter_source(full) is not ParameterSource.DEFAULT
        ]
        if required or given:
            raise UsageError(
                "no model is named",
                hint=f"give --{dashed}endpoint URL and --{dashed}model NAME",
            )
        return None
    if taken.pop("no_temperature"):
        taken["temperature"] = None
    return ChatOptions(**taken)


def open_asker(options: ChatOptions, *, served: str | None = None) -> "Asker":
    """Open the model with its kept replies and its budget; to be left as a context.

    Args:
        options: Of the verb.
        served: What the server called its model before, where the work is taken up again.

    Raises:
        UsageError: An option has a value that cannot be sent, or a cap lacks what it needs.
        InstrumentError: `memruler[llm]` is not installed, or the kept replies are damaged.
    """
    from memruler.judges.asking import Asker  # noqa: PLC0415 - --help needs none of it
    from memruler.judges.budget import Budget, Prices  # noqa: PLC0415
    from memruler.judges.chat import Chat  # noqa: PLC0415
    from memruler.judges.replies import Replies  # noqa: PLC0415

    chat = Chat(
        options.endpoint,
        options.model,
        temperature=options.temperature,
        seed=options.seed,
        max_tokens=options.max_tokens,
        max_tokens_field=options.max_tokens_field,
        extra=_extra(options.extra_body),
        key_variable=options.key_variable,
        served=served,
        timeout=options.timeout,
    )
    budget = Budget(
        Prices(prompt=options.price_in, completion=options.price_out, currency=options.currency),
        max_cost=options.max_cost,
        max_total_tokens=options.max_total_tokens,
    )
    return Asker(chat, replies=Replies(), budget=budget, draw=options.draw)


def _extra(text: str | None) -> dict[str, Any]:
    import json  # noqa: PLC0415 - as in `open_asker`

    if text is None:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"the extra body is no JSON: {error}", hint='such as {"cache_prompt": false}'
        ) from None
    if not isinstance(found, dict):
        raise UsageError("the extra body is no object", hint='such as {"cache_prompt": false}')
    return found
