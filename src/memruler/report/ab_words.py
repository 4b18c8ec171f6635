"""What an A/B run found, in the words that the terminal and the page share."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from memruler.report import numbers
from memruler.stats.interval import Interval
from memruler.studies.ab_record import Ab, AbLatency, AbMean, AbRun

__all__ = ["Line", "called", "headline", "lines", "notes", "paired", "verdict"]

_VERDICTS = {
    "zero": "EXACTLY ZERO",
    "unchanged": "UNCHANGED",
    "better": "B IS BETTER",
    "worse": "B IS WORSE",
    "unresolved": "UNRESOLVED",
    "refused": "REFUSED",
}
_SMALLEST_MS = 0.0005


class Line(NamedTuple):
    """One line of the table of both sides: what, A, B, B less A, and what it is over."""

    what: str
    a: str
    b: str
    delta: str
    over: str


def verdict(found: Ab) -> str:
    """The verdict in capitals."""
    return _VERDICTS[found.verdict]


def headline(found: Ab) -> str:
    """What the verdict rests on, in one sentence."""
    if found.comparison is not None:
        row = found.comparison.headline
        means = f"{numbers.mean(row.base)} -> {numbers.mean(row.candidate)}"
        moved = f"{row.metric}@{row.k} {means} ({numbers.delta(row.delta)})"
        shared = ", over shared queries only" if found.comparison.shared_only else ""
        same = "; no query differs at any metric, level or depth" if found.verdict == "zero" else ""
        return f"{moved}, {row.level} level, exact{shared}{same}"
    if found.gate is not None:
        gate = found.gate
        spread = "" if gate.interval is None else f", {_interval(gate.interval, numbers.delta)}"
        why = {
            None: "",
            "noise_floor": "; within the noise floor",
            "under_powered": "; too few questions to tell",
        }
        return f"{gate.metric} {numbers.delta(gate.delta)}{spread}{why[gate.why]}"
    return "no difference of means is given, since it would not mean what it looks like"


def called(run: AbRun) -> str:
    """A side with its memory and what the spec sets of it."""
    name = run.system if run.name == run.system else f"{run.name}: {run.system}"
    return " ".join([name, *(f"{key}={word}" for key, word in run.chosen.items())])


def lines(found: Ab) -> Iterator[Line]:
    """Accuracy, latency and context size of both sides."""
    yield from map(_accuracy, found.means)
    a, b = found.a.timing, found.b.timing
    searches = _both(str(a.queries), str(b.queries)) + " searches"
    yield Line("latency p50, ms", _ms(a.p50_ms), _ms(b.p50_ms), "-", searches)
    yield Line("latency p95, ms", _ms(a.p95_ms), _ms(b.p95_ms), "-", searches)
    pairs = found.latency
    median = "-" if pairs.median_ms is None else _moved(pairs.median_ms)
    yield Line("latency, paired median, ms", "-", "-", median, f"{pairs.questions} questions")
    one, other = found.a.context, found.b.context
    asked = _both(str(one.queries), str(other.queries)) + " queries"
    for what, left, right in (
        ("context, characters / 4", one.chars_over_4, other.chars_over_4),
        ("context, tokens", one.tokens, other.tokens),
    ):
        moved = "-" if left is None or right is None else _size(right - left)
        yield Line(what, _tokens(left), _tokens(right), moved, asked)


def paired(found: AbLatency) -> str:
    """The difference of latency, with all that it rests on."""
    if found.median_ms is None:
        return f"none: {found.why}"
    told = (
        f"B less A: median {_moved(found.median_ms)} ms over {found.questions} questions; B slower "
        f"on {found.b_slower}, faster on {found.b_faster}"
    )
    if found.interval is None:
        return f"{told}; no interval: {found.why}"
    spread = found.interval
    tells = (
        "which holds zero: no difference can be told"
        if spread.low <= 0 <= spread.high
        else f"B is {'slower' if spread.low > 0 else 'faster'} in the mean"
    )
    warned = "".join(f"; {warning}" for warning in spread.warnings)
    mean = f"mean {_moved(spread.mean)} ms, {_interval(spread, _moved)}"
    return f"{told}; {mean}, {tells}{warned}"


def notes(found: Ab) -> Iterator[tuple[str, str]]:
    """Labelled sentences that stand below the table."""
    turns, pairs = found.turns, found.latency
    firsts = f"A first in {pairs.a_first} of the pairs, B in {pairs.b_first}"
    yield "A, base", called(found.a)
    yield "B, candidate", called(found.b)
    yield "latency", paired(pairs)
    yield "left out", f"of the paired latency: {numbers.counts(pairs.left_out)}"
    yield "in turns", f"{turns.instances} of {turns.of} instances; {turns.rule}: {firsts}"
    yield "tokens", _both(found.a.context.tokenizer, found.b.context.tokenizer)
    for run in (found.a, found.b):
        if run.errors:
            failed = numbers.counts(run.errors)
            yield f"{run.side.upper()} failed", f"{failed}; in no mean, and misses where padded"
        yield f"{run.side.upper()} again", numbers.determinism(run.determinism)
    for gone in found.comparison.omitted if found.comparison else ():
        depth = "" if gone.k is None else f" k={gone.k}"
        yield "no mean", f"{gone.level} level{depth}: {gone.reason}"
    corpus = found.corpus
    yield "corpus", f"{corpus['name']} {corpus['version']} (sha256 {corpus['sha256'][:12]})"
    yield "population", numbers.population(found.population, found.clusters)
    yield "not measured", numbers.counts(found.population.excluded)
    if found.gate is not None and found.gate.interval is not None:
        yield from (("note", f"the interval: {one}") for one in found.gate.interval.warnings)
    more = found.comparison or found.gate
    for note in (*found.corpus_notes, *found.notes, *(more.notes if more else ())):
        yield "note", note


def _interval(spread: Interval, shown: Callable[[float], str]) -> str:
    ends = f"[{shown(spread.low)}, {shown(spread.high)}]"
    return f"{spread.level * 100:g} % {ends} over {spread.clusters} clusters"


def _accuracy(row: AbMean) -> Line:
    """Means over other queries are never beside each other: then those over all queries are."""
    what = f"{row.metric}@{row.k} {row.level}"
    if row.delta is not None and row.counted is not None:
        a, b, moved = row.a, row.b, numbers.delta(row.delta)
        return Line(what, numbers.mean(a), numbers.mean(b), moved, f"{row.counted}/{row.of}")
    if row.comparable and row.a_counted is not None:
        own = numbers.share(row.a_counted, row.of)
        return Line(what, numbers.mean(row.a), numbers.mean(row.b), "-", own)
    a, b = row.a_padded, row.b_padded
    return Line(what, numbers.mean(a), numbers.mean(b), "-", f"{row.of} padded")


def _both(a: str, b: str) -> str:
    """What holds for both sides, once where it is the same."""
    return a if a == b else f"{a}, {b}"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _moved(value: float) -> str:
    """A difference of milliseconds with its sign; what rounds to zero as a power of ten."""
    if value == 0:
        return "0"
    return f"{value:+.3f}" if abs(value) >= _SMALLEST_MS else f"{value:+.0e}"


def _tokens(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _size(value: float) -> str:
    return "=" if value == 0 else f"{value:+.1f}"
