"""Two systems' times on the terminal: two verdicts, then what they rest on."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from memruler.compare.timed import SideUse, TimeComparison
from memruler.errors import printable
from memruler.model.timed import TimedSide
from memruler.report.layout import banner, facts, numeric_table, stdout_console, unpadded
from memruler.stats.noise import NoisyDelta

__all__ = ["print_time", "render_time"]

_STYLES = {"better": "bold green", "worse": "bold red", "inconclusive": "bold"}
_LARGE = 1000


def print_time(comparison: TimeComparison) -> None:
    """Print a comparison of times to stdout."""
    with unpadded(stdout_console()) as console:
        render_time(comparison, console)


def render_time(comparison: TimeComparison, console: Console) -> None:
    """Print a comparison of times.

    Args:
        comparison: What to print.
        console: Where to print; 80 columns suffice.
    """
    if comparison.degraded:
        banner(console, "DEGRADED: do not trust these numbers", comparison.degraded)
    if comparison.own_band:
        console.print(
            Text("OWN BAND: both sides are the same system, so any verdict is a false alarm")
        )
        console.print()
    table = numeric_table(["", ""], ["base", "candidate", "difference", "in %", "band +/-", "in %"])
    for name, unit, found in (
        ("search", "ms", comparison.search),
        ("ingest", "turns/s", comparison.ingest),
    ):
        table.add_row(
            Text(f"{found.verdict.upper()}", style=_STYLES[found.verdict]),
            f"{name}\n{unit}",
            _value(found.base),
            _value(found.candidate),
            _signed(found.delta),
            _percent(found.relative, "+.1f"),
            _value(found.band),
            _percent(found.band / found.base if found.base else None, ".1f"),
        )
    console.print(table)
    console.print()
    facts(console, _facts(comparison))


def _value(number: float) -> str:
    """Four digits that count, without an exponent where it can be helped."""
    return f"{number:,.0f}" if abs(number) >= _LARGE else f"{number:.4g}"


def _signed(number: float) -> str:
    return f"{'+' if number > 0 else ''}{_value(number)}"


def _percent(share: float | None, form: str) -> str:
    return "-" if share is None else f"{100 * share:{form}}"


def _facts(comparison: TimeComparison) -> Iterator[tuple[str, str]]:
    timed, search, ingest = comparison.measured, comparison.search, comparison.ingest
    yield "base", _named(timed.base)
    yield "candidate", _named(timed.candidate)
    corpus = timed.corpus
    size = f"{timed.instances} instances, {timed.turns:,} turns, {timed.queries:,} queries"
    pinned = f"{corpus['name']} {corpus['version']} (sha256 {corpus['sha256'][:12]})"
    yield "corpus", f"{pinned}: {size}, {timed.limit} hits asked for"
    order = f"{search.rounds} rounds of base, candidate, candidate, base and the reverse in turn"
    thrown = f"{search.warmup} round{'s' * (search.warmup != 1)} of warm-up thrown away"
    passes = f"{comparison.base.passes} passes a side; {thrown}"
    yield "measured", f"{order}: {passes}"
    yield "values", "medians of a pass's queries, of a side's passes, of the rounds' differences"
    yield "band", "two sigma of the difference if nothing differed, from the base against itself"
    yield "sigma", f"of one pass: {_sigma(search, 'ms')}; {_sigma(ingest, 'turns/s')}"
    yield "base use", _use(comparison.base, timed.base, timed.queries)
    yield "cand use", _use(comparison.candidate, timed.candidate, timed.queries)
    yield "garbage", timed.garbage
    yield "stores", timed.stores
    for what, found in (("search", search), ("ingest", ingest)):
        for warning in found.warnings:
            yield "warning", f"{what}: {warning}"
    for note in comparison.notes:
        yield "note", note


def _named(side: TimedSide) -> str:
    identity = side.identity
    chosen = "".join(f", {key}={value}" for key, value in side.chosen.items())
    return f"{printable(side.name)} {identity.version} (digest {identity.digest[:12]}{chosen})"


def _sigma(found: NoisyDelta, unit: str) -> str:
    return f"base {_value(found.sigma)}, candidate {_value(found.candidate_sigma)} {unit}"


def _use(use: SideUse, side: TimedSide, queries: int) -> str:
    hits = f"{use.hits / (use.passes * queries):.1f} hits a query"
    if use.ingest_embedded is None or use.search_embedded is None:
        known = "not known" if side.checked else "nothing"
        return f"{hits}; embedded: {known}"
    writing = f"{use.ingest_embedded:,} texts while writing ({use.ingest_cached:,} from the cache)"
    asking = f"{use.search_embedded:,} while searching ({use.search_cached:,} from the cache)"
    return f"{hits}; embedded {writing} and {asking}"
