"""What stands beside the means of a grading, in words that the terminal and the page share."""

from collections.abc import Iterator

from memruler.model.answers import InstrumentIdentity, Usage
from memruler.report import numbers
from memruler.scoring.grade_record import GradeSummary, JudgeFlips, ParserCounts

__all__ = ["facts_of", "headline", "instrument_words", "published", "usage_words"]

_DIGITS = 12


def headline(found: GradeSummary) -> str:
    """The mean of all with its denominators, and whether it may be called an accuracy."""
    whole = found.slices[0]
    kind = "word overlap, " if found.metric == "f1" else ""
    what = "" if found.accuracy else f"; {kind}not an accuracy"
    if found.sample is not None:
        return f"a sample, for agreement only: {whole.scored} of {whole.items} scored{what}"
    if whole.mean is None:
        return f"nothing is scored of {whole.items} items{what}"
    interval = (
        ""
        if whole.interval is None
        else f", 95 % {numbers.mean(whole.interval.low)} to {numbers.mean(whole.interval.high)}"
    )
    return f"{numbers.mean(whole.mean)}{interval} over {whole.scored} of {whole.items} items{what}"


def instrument_words(identity: InstrumentIdentity) -> str:
    """Who it is, in a line: model, as it is served, where, and its prompt."""
    if identity.kind != "openai-chat":
        return f"{identity.kind} ({identity.prompt}, {identity.prompt_sha256[:_DIGITS]})"
    served = identity.served
    name = str(identity.model)
    if served not in {None, name}:
        name += f" (served as {served})"
    settings = ", ".join(
        f"{key} {value}" for key, value in identity.settings.items() if value is not None
    )
    honoured = ", ".join(f"{key} {value}" for key, value in identity.honoured.items())
    told = [f"at {identity.host}", settings, f"honoured: {honoured}" if honoured else ""]
    return f"{name} {'; '.join(part for part in told if part)}"


def usage_words(usage: Usage) -> str:
    """What it cost: requests, tokens where they were counted, and money where there are prices."""
    told = f"{usage.requests} requests, {usage.reused} from kept replies"
    if usage.prompt_tokens is not None and usage.completion_tokens is not None:
        told += f"; {usage.prompt_tokens} tokens sent, {usage.completion_tokens} said"
    if usage.uncounted:
        told += f"; {usage.uncounted} requests without a count of tokens"
    if usage.cost is not None:
        told += f"; {usage.cost:.4f} {usage.currency}"
    return told


def published(found: GradeSummary) -> Iterator[tuple[str, str]]:
    """The lines of the data set's own print, but for those that a slice says alike."""
    said = {(one.name, one.mean, one.scored, one.items) for one in found.slices}
    for line in found.official:
        if (line.name, line.value, line.of, line.items) in said and line.note is None:
            continue
        told = f"{numbers.mean(line.value)} ({numbers.share(line.of, line.items)})"
        if line.of != line.items:
            told += f"; {numbers.mean(line.floor)} with the missing as wrong"
        yield line.name, told if line.note is None else f"{told}; {line.note}"


def facts_of(found: GradeSummary) -> Iterator[tuple[str, str]]:
    """Everything else that a reader of the means must know."""
    whole = found.slices[0]
    for reason, times in whole.unscored.items():
        yield "no value", f"{times} {'time' if times == 1 else 'times'}: {reason}"
    if whole.labels:
        yield "labels", numbers.counts(whole.labels)
    for name, detail in whole.details.items():
        yield "beside it", f"{name}: mean {numbers.mean(detail.mean)} over {detail.of} gradings"
    yield from _judge_facts(found)
    yield "reader", instrument_words(found.reader)
    yield "grader", f"{found.grader} ({found.grader_sha256[:_DIGITS]})"
    yield from _interval_facts(found)
    if found.repeats > 1:
        yield "repeats", f"{found.repeats} draws of the reader; majority of labels, or mean"
    if found.sample is not None:
        drawn = f"{found.sample['number']} of {found.sample['of']} answers"
        yield "sample", f"{drawn}, seed {found.sample['seed']}, by {found.sample['by']}"
    for note in found.notes:
        yield "note", note


def _judge_facts(found: GradeSummary) -> Iterator[tuple[str, str]]:
    if found.judge is not None:
        yield "judge", instrument_words(found.judge)
    if found.parser is not None:
        yield "parser", _parser(found.parser)
    if found.flips is not None:
        yield "judge's flips", _flips(found.flips)


def _parser(one: ParserCounts) -> str:
    more = one.apart - one.undecided - one.higher
    told = f"a stricter reading of the same replies differs in {numbers.share(one.apart, one.of)}"
    return f"{told}: undecided {one.undecided}, less right {one.higher}, more right {more}"


def _flips(one: JudgeFlips) -> str:
    told = f"asked {one.draws} times: {numbers.share(one.flipped, one.of)} answers got different"
    return f"{told} verdicts, {one.ties} of them no majority (counted as wrong)"


def _interval_facts(found: GradeSummary) -> Iterator[tuple[str, str]]:
    interval = found.slices[0].interval
    if interval is None:
        return
    yield "clusters", f"{interval.clusters} ({found.cluster})"
    for warning in interval.warnings:
        yield "warning", warning
