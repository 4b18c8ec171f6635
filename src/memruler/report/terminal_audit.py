"""An audit on the terminal: what was drawn, what a judge did, and what the labels say."""

from collections.abc import Iterator

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
)

__all__ = ["print_audit", "print_sampled", "render_audit", "render_sampled"]

_NONE = "-"
_MIXED = 2
"""Columns that a row may mix; finer ones are in the JSON only, since they would fill pages."""
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
        number = sum(chosen for _, chosen in drawn.strata.values())
        console.print(
            Text(f"{number} cases", style="bold").append(
                f" of {drawn.contested} contested credits, {_where(drawn)}", style="not bold"
            )
        )
        strata = (f"{name} {chosen}/{of}" for name, (of, chosen) in drawn.strata.items())
        facts(console, [("category", ", ".join(strata)), *_gaps(drawn)])


def render_audit(found: Audit, console: Console) -> None:
    """Print an audit.

    Args:
        found: It.
        console: Where to print; 80 columns suffice.
    """
    whole = found.slices[0]
    line = Text("relaxed credit justified: ", style="bold")
    line.append(f"{_percent(whole.supports.value)} supports, ")
    line.append(f"{_percent(whole.supports_or_partial.value)} supports or partial")
    decided = whole.supports.of
    line.append(f"\nof {decided} decided cases of {whole.cases}", style="not bold")
    console.print(line)
    heading(console, "Credit justified, by majority")
    _shares(found, console)
    console.print()
    facts(console, [*_decided(whole), *_basis(found)])
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
    heads = ["cases", "pairs", "queries", "decided", "supports", "or partial"]
    table = numeric_table([""], heads)
    for part in found.slices:
        if len(part.by) > _MIXED:
            continue
        table.add_row(
            printable(", ".join(part.by.values()) or "all"),
            str(part.cases),
            str(part.pairs),
            str(part.queries),
            str(part.supports.of),
            _share(part.supports),
            _share(part.supports_or_partial),
        )
    console.print(table)


def _share(share: JustifiedShare) -> str:
    if share.low is None or share.high is None:
        return _percent(share.value)
    return f"{_percent(share.value)}\n{100 * share.low:.1f}..{100 * share.high:.1f}"


def _percent(value: float | None) -> str:
    return _NONE if value is None else f"{100 * value:.1f} %"


def _decided(whole: AuditSlice) -> Iterator[tuple[str, str]]:
    labels = ", ".join(f"{number} {label}" for label, number in whole.majority.items())
    yield "majority", f"{labels}; {whole.ties} tied; {whole.unlabelled} without a label"


def _basis(found: Audit) -> Iterator[tuple[str, str]]:
    """What the intervals rest on; said once where several rest on the same."""
    yield "intervals", _JUSTIFIED
    shares = [one for part in found.slices for one in (part.supports, part.supports_or_partial)]
    if any(one.method == "wilson" for one in shares):
        yield (
            "",
            "where every decided case says the same: Wilson's, with each query as one trial",
        )
    yield from dict.fromkeys(("warning", text) for one in shares[:2] for text in one.warnings)
    small = sum(bool(part.supports.warnings) for part in found.slices[1:])
    if small:
        yield "warning", f"{small} of {len(found.slices) - 1} slices have few queries: too narrow"
    if any(len(part.by) > _MIXED for part in found.slices):
        yield "more", "slices of data set, target and category at once are in --json"


def _raters(found: Audit, console: Console) -> None:
    heads = ["labelled", "blank", "supports", "partial", "does not"]
    table = numeric_table(["", ""], heads)
    for rater in found.raters:
        counts = [str(number) for number in rater.labels.values()]
        table.add_row(rater.name, _judge(rater), str(rater.labelled), str(rater.blank), *counts)
    console.print(table)


def _judge(rater: Rater) -> str:
    if rater.judge is None:
        return ""
    judge = rater.judge
    said = f"{judge.served or judge.model} @ {judge.host}, prompt {judge.prompt_sha256[:8]}"
    return printable(said)


def _agreements(found: Audit, console: Console) -> None:
    table = numeric_table([""], ["cases", "agree", "95 %", "kappa", "95 %"])
    for pair in found.rater_pairs:
        table.add_row(
            f"{pair.first}, {pair.second}",
            str(pair.cases),
            *_measured(pair.agreement),
            *_measured(pair.kappa),
        )
    if len(found.rater_pairs) > 1:  # of two raters, the row above says it
        cases = _NONE if found.fleiss is None else str(found.fleiss.n)
        row = (*_measured(found.agreement), *_measured(found.fleiss))
        table.add_row("all (Fleiss)", cases, *row)
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
    number = sum(chosen for _, chosen in drawn.strata.values())
    return (
        f"{number} of {drawn.contested} contested credits of {drawn.run} ({_where(drawn)}), "
        f"seed {drawn.seed}"
    )


def _gaps(drawn: Sampled) -> Iterator[tuple[str, str]]:
    for number, what in (
        (drawn.no_evidence, "without evidence: its text is not in the store"),
        (drawn.no_item, "whose item has no known text: nobody can label them"),
        (drawn.cut, "with a text that is too long for a cell, and cut"),
    ):
        if number:
            yield "warning", f"{number} cases {what}"
