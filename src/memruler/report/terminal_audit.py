"""An audit on the terminal: what was drawn, what a judge did, and what the labels say."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from memruler.errors import printable
from memruler.report import numbers
from memruler.report.layout import facts, heading, numeric_table, stdout_console, unpadded
from memruler.stats.agreement_record import Agreement
from memruler.studies.audit_record import (
    Audit,
    AuditNotes,
    AuditSlice,
    JustifiedShare,
    Rater,
    Sampled,
    WeightedShare,
)

__all__ = ["print_audit", "print_sampled", "render_audit", "render_sampled"]

_NONE = "-"
_MIXED = 2
"""Columns that a row may mix; finer ones are in the JSON only, since they would fill pages."""
_COLUMNS = {
    "corpus": "data set",
    "run": "run",
    "target": "target",
    "category": "category",
    "gains": "gains",
}
_JUSTIFIED = "95 % intervals resample whole queries"


def print_audit(found: Audit) -> None:
    """Print an audit to stdout."""
    with unpadded(stdout_console()) as console:
        render_audit(found, console)


def print_sampled(notes: AuditNotes) -> None:
    """Print what was drawn to stdout."""
    with unpadded(stdout_console()) as console:
        render_sampled(notes, console)


def render_sampled(notes: AuditNotes, console: Console) -> None:
    """Print what was drawn.

    Args:
        notes: Of the file of cases.
        console: Where to print; 80 columns suffice.
    """
    for drawn in notes.sampled:
        line = Text(f"{_number(drawn)} cases", style="bold")
        console.print(line.append(f" of {_pool(drawn)}, {_where(drawn)}", style="not bold"))
        strata = (f"{name} {chosen}/{of}" for name, (of, chosen) in drawn.strata.items())
        lines = [("category", ", ".join(strata))]
        if drawn.without:
            lines.append(("none of", ", ".join(drawn.without)))
        facts(console, [*lines, *_gaps(drawn)])


def render_audit(found: Audit, console: Console) -> None:
    """Print an audit.

    Args:
        found: It.
        console: Where to print; 80 columns suffice.
    """
    whole = found.slices[0]
    eligible = any(drawn.drawn_from == "contested" for drawn in found.sampled)
    what = "contested items" if eligible else "relaxed credit"
    line = Text(f"{what} justified: ", style="bold")
    line.append(f"{_percent(whole.supports.value)} supports, ")
    line.append(f"{_percent(whole.supports_or_partial.value)} supports or partial")
    line.append(f"\nof {whole.supports.of} decided pairs of {whole.pairs}", style="not bold")
    if (one := whole.supports.weighted) and (other := whole.supports_or_partial.weighted):
        said = f"; weighted by category {_percent(one.value)} and {_percent(other.value)}"
        line.append(said, style="not bold")
    several = len({drawn.run for drawn in found.sampled}) > 1
    for drawn in found.sampled:
        name = f"{drawn.run}, {drawn.target}" if several else drawn.target
        line.append(f"\n{printable(name)}: {_gain(drawn)}", style="not bold")
    console.print(line)
    heading(console, "Justified, by majority")
    _shares(found, console)
    weighted = [part for part in found.slices if _reweighted(part)]
    if weighted:
        heading(console, "Weighted by category: estimates for all that were drawn from")
        _estimates(weighted, console)
    console.print()
    facts(console, [*_decided(whole), *_basis(found), *_not_shown(found)])
    heading(console, "Raters")
    _raters(found, console)
    if found.rater_pairs:
        heading(console, "Agreement")
        _agreements(found, console)
    more = [(f"drawn, {drawn.target}", _how(drawn)) for drawn in found.sampled]
    more += [("ignored", ", ".join(found.ignored))] if found.ignored else []
    more += [("note", note) for note in found.notes]
    if more:
        console.print()
        facts(console, more)


def _shares(found: Audit, console: Console) -> None:
    # Rows only where they are more than pairs: columns are scarce.
    twice = any(part.cases > part.pairs for part in found.slices)
    heads = ["pairs", "queries", "decided", "supports", "or partial"]
    table = numeric_table([""], ["rows", *heads] if twice else heads)
    for part in found.slices:
        if len(part.by) > _MIXED:
            continue
        table.add_row(
            _name(part),
            *([str(part.cases)] if twice else []),
            str(part.pairs),
            str(part.queries),
            str(part.supports.of),
            _share(part.supports),
            _share(part.supports_or_partial),
        )
    console.print(table)


def _name(part: AuditSlice) -> str:
    """What the cases of a slice have in common; `gains` says yes or no, which needs its column."""
    named = {**part.by}
    if "gains" in named:
        named["gains"] = "gain" if named["gains"] == "yes" else "gain nothing"
    return printable(", ".join(named.values()) or "all")


def _reweighted(part: AuditSlice) -> bool:
    """Whether weights change a share: not where its cases all weigh the same."""
    share = part.supports
    return len(part.by) <= _MIXED and share.weighted is not None and "category" not in part.by


def _estimates(parts: Sequence[AuditSlice], console: Console) -> None:
    table = numeric_table([""], ["supports", "or partial"])
    for part in parts:
        shares = (part.supports.weighted, part.supports_or_partial.weighted)
        table.add_row(_name(part), *("" if one is None else _share(one) for one in shares))
    console.print(table)


def _share(share: JustifiedShare | WeightedShare) -> str:
    if share.low is None or share.high is None:
        return _percent(share.value)
    return f"{_percent(share.value)}\n{100 * share.low:.1f}..{100 * share.high:.1f}"


def _percent(value: float | None) -> str:
    return _NONE if value is None else f"{100 * value:.1f} %"


def _decided(whole: AuditSlice) -> Iterator[tuple[str, str]]:
    labels = ", ".join(f"{number} {label}" for label, number in whole.majority.items())
    yield "majority", f"{labels}; {whole.ties} tied; {whole.unlabelled} without a label"
    if whole.supports.no_weights:
        yield "weights", f"none: {whole.supports.no_weights}"


def _basis(found: Audit) -> Iterator[tuple[str, str]]:
    """What the intervals rest on; said once where several rest on the same."""
    yield "intervals", _JUSTIFIED
    shares = [one for part in found.slices for one in (part.supports, part.supports_or_partial)]
    if any(one.method == "wilson" for one in shares):
        yield (
            "",
            "where every decided pair says the same: Wilson's, with each query as one trial",
        )
    yield from dict.fromkeys(("warning", text) for one in shares[:2] for text in one.warnings)
    small = sum(bool(part.supports.warnings) for part in found.slices[1:])
    if small:
        yield "warning", f"{small} of {len(found.slices) - 1} slices have few queries: too narrow"


def _not_shown(found: Audit) -> Iterator[tuple[str, str]]:
    """Slices that have no row, with the reason."""
    held = ", ".join(f"{_COLUMNS[name]} {one}" for name, one in found.same.items())
    if held:
        yield "no slices", f"by what all cases share: {held}"
    finer = [part for part in found.slices if len(part.by) > _MIXED]
    if finer:
        names = list(dict.fromkeys(_COLUMNS[name] for part in finer for name in part.by))
        what = f"{len(finer)} slices of three or more of {', '.join(names)}"
        yield "in --json", f"{what}: too many for a page"


def _raters(found: Audit, console: Console) -> None:
    heads = ["cases", "blank", "supports", "partial", "does not"]
    table = numeric_table(["", ""], heads)
    for rater in found.raters:
        counts = [str(number) for number in rater.labels.values()]
        table.add_row(rater.name, _judge(rater), str(rater.labelled), str(rater.blank), *counts)
    console.print(table)


def _judge(rater: Rater) -> str:
    if rater.judge is None:
        apart = f", {rater.apart} pairs labelled in two ways" if rater.apart else ""
        return ("blind" if rater.blind else "not blind") + apart
    judge = rater.judge
    said = f"{judge.served or judge.model} @ {judge.host}, prompt {judge.prompt_sha256[:8]}"
    return printable(said)


def _agreements(found: Audit, console: Console) -> None:
    table = numeric_table([""], ["pairs", "agree", "95 %", "kappa", "95 %"])
    for pair in found.rater_pairs:
        table.add_row(
            f"{pair.first}, {pair.second}",
            str(pair.pairs),
            *_measured(pair.agreement),
            *_measured(pair.kappa),
        )
    if len(found.rater_pairs) > 1:  # of two raters, the row above says it
        number = _NONE if found.fleiss is None else str(found.fleiss.n)
        row = (*_measured(found.agreement), *_measured(found.fleiss))
        table.add_row("all (Fleiss)", number, *row)
    console.print(table)
    reasons = [(f"{pair.first}, {pair.second}", pair.reason) for pair in found.rater_pairs]
    told = [(who, reason) for who, reason in (*reasons, ("all", found.no_agreement)) if reason]
    if told:
        facts(console, told)


def _measured(found: Agreement | None) -> tuple[str, str]:
    if found is None or found.value is None:
        return _NONE, _NONE
    return f"{found.value:.3f}", f"{numbers.mean(found.low)}..{numbers.mean(found.high)}"


def _where(drawn: Sampled) -> str:
    return (
        f"{drawn.target} against {drawn.against} at {drawn.level} level in the first {drawn.k}, "
        f"{drawn.queries} queries"
    )


def _how(drawn: Sampled) -> str:
    number, pool = _number(drawn), _pool(drawn)
    return f"{number} of {pool} in {drawn.run} ({_where(drawn)}), seed {drawn.seed}"


def _number(drawn: Sampled) -> int:
    return sum(chosen for _, chosen in drawn.strata.values())


def _pool(drawn: Sampled) -> str:
    if drawn.drawn_from == "contested":
        return f"{drawn.contested} contested items ({drawn.gaining} gain credit)"
    return f"{drawn.gaining} items that gain credit ({drawn.contested} are contested)"


def _gain(drawn: Sampled) -> str:
    return f"of {drawn.contested} contested items {drawn.gaining} gain credit (rule {drawn.rule})"


def _gaps(drawn: Sampled) -> Iterator[tuple[str, str]]:
    for number, what in (
        (drawn.no_evidence, "without evidence: its text is not in the store"),
        (drawn.no_item, "whose item has no known text: nobody can label them"),
        (drawn.cut, "with a text that is too long for a cell, and cut"),
    ):
        if number:
            yield "warning", f"{number} cases {what}"
