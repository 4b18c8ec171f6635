import msgspec
import pytest
from rich.console import Console

from memruler.compare.gate import Gate
from memruler.compare.record import Difference
from memruler.model.run import Determinism
from memruler.model.summary import ContextSize, PopulationCounts, Timing
from memruler.report.ab_words import headline, lines, paired, verdict
from memruler.report.document import encode
from memruler.report.markdown_ab import markdown_ab
from memruler.report.terminal_ab import render_ab
from memruler.stats.interval import Interval
from memruler.studies.ab_record import Ab, AbLatency, AbMean, AbRun, AbTurns, Undecided
from memruler.studies.ab_spec import AbSide, AbSpec
from memruler.studies.spec_base import CorpusPart


def interval(low, high, mean=0.0, warnings=()):
    return Interval(
        mean=mean,
        low=low,
        high=high,
        n=9,
        clusters=3,
        level=0.95,
        method="exact",
        resamples=None,
        seed=None,
        low_error=0.0,
        high_error=0.0,
        warnings=warnings,
    )


def latency(**changes):
    found = AbLatency(
        questions=9,
        median_ms=0.25,
        b_slower=6,
        b_faster=3,
        interval=interval(-0.5, 0.75, 0.125),
        why=None,
        left_out={"warm-up": 2, "failed in A": 1},
        a_first=5,
        b_first=4,
    )
    return msgspec.structs.replace(found, **changes)


def side(name, text):
    return AbRun(
        side=name,
        name=text,
        system="builtin:lexical",
        version=text,
        chosen={"words": "true", text: text},
        timing=Timing(
            mean_ms=1.0, p50_ms=1.25, p95_ms=3.5, queries=9, basis=text, ingest_turns_per_s=None
        ),
        context=ContextSize(
            queries=9, chars_over_4=100.0 if name == "a" else 90.5, tokens=None, tokenizer=text
        ),
        errors={text: 1} if name == "a" else {},
        determinism=Determinism(instances=1, queries=2, identical=2, of=9, other_process=True),
        warnings=(),
        degraded=(),
    )


def gated(outcome, low, high, delta):
    return Gate(
        base="a",
        candidate="b",
        ruler="interval",
        outcome=outcome,
        why="noise_floor" if outcome == "unresolved" else None,
        metric="session:recall_all@5",
        cluster="conversation",
        delta=delta,
        wins=1,
        ties=1,
        losses=1,
        counted=3,
        absent={},
        interval=interval(low, high, delta, ("few of them",)),
        threshold=0.0,
        band=0.04,
        changed=tuple(Difference(key=f"system.k{at}", base=1, candidate=2) for at in range(9)),
        degraded=(),
        notes=("a note of the gate",),
    )


def mean(**changes):
    found = AbMean(
        level="turn",
        k=5,
        metric="recall_all",
        a=0.5,
        b=0.75,
        delta=0.25,
        counted=8,
        comparable=True,
        a_counted=8,
        b_counted=8,
        of=9,
        a_padded=0.4,
        b_padded=0.6,
    )
    return msgspec.structs.replace(found, **changes)


def found(text="plain", **changes):
    told = Ab(
        verdict="unresolved",
        spec=AbSpec(
            out="runs",
            corpus=CorpusPart(name="synthetic"),
            a=AbSide(system="builtin:lexical"),
            b=AbSide(system="builtin:lexical"),
        ),
        comparison=None,
        gate=gated("unresolved", -0.25, 0.5, 0.125),
        refused=None,
        a=side("a", text),
        b=side("b", text),
        means=(mean(),),
        latency=latency(),
        turns=AbTurns(instances=2, of=3, rule="A first at noon"),
        corpus={"name": text, "version": text, "sha256": "c" * 64},
        population=PopulationCounts(
            name=text,
            rule=text,
            corpus_queries=9,
            members=9,
            measured=9,
            partial_gold=0,
            excluded={text: 1},
            digest="d" * 64,
        ),
        clusters=3,
        notes=(text,),
        corpus_notes=(text,),
        degraded=(),
    )
    return msgspec.structs.replace(told, **changes)


def shown(one):
    console = Console(width=80, no_color=True, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        render_ab(one, "runs", console)
    return captured.get()


def flat(text):
    return " ".join(text.split())


def test_the_verdict_comes_first_with_its_interval():
    text = flat(shown(found()))
    assert text.startswith(
        "UNRESOLVED session:recall_all@5 +0.1250, 95 % [-0.2500, +0.5000] over 3"
    )
    assert "within the noise floor" in text
    assert "note the interval: few of them" in text
    assert "note a note of the gate" in text
    assert "and 3 more in ab.md" in text
    assert "system.k8" in markdown_ab(found())


@pytest.mark.parametrize(
    ("name", "words"),
    [("zero", "EXACTLY ZERO"), ("better", "B IS BETTER"), ("worse", "B IS WORSE")],
)
def test_verdicts(name, words):
    assert verdict(found(verdict=name)) == words


def test_a_refusal_gives_its_reasons_and_the_rest_of_the_table():
    undecided = Undecided(reasons=("the lists are too short",), hints=("ask for more",))
    one = found(verdict="refused", gate=None, refused=undecided)
    text = flat(shown(one))
    assert text.startswith("REFUSED no difference of means is given")
    assert "- the lists are too short what to do: - ask for more" in text
    assert "latency p95, ms" in text
    assert "- Instead: ask for more." in markdown_ab(one)


def test_the_triple_of_both_sides():
    rows = {line.what: line[1:] for line in lines(found())}
    assert rows == {
        "recall_all@5 turn": ("0.5000", "0.7500", "+0.2500", "8/9"),
        "latency p50, ms": ("1.250", "1.250", "-", "9 searches"),
        "latency p95, ms": ("3.500", "3.500", "-", "9 searches"),
        "latency, paired median, ms": ("-", "-", "+0.250", "9 questions"),
        "context, characters / 4": ("100.0", "90.5", "-9.5", "9 queries"),
        "context, tokens": ("-", "-", "-", "9 queries"),
    }


@pytest.mark.parametrize(
    ("changes", "cells"),
    [
        ({"delta": 0.0}, ("0.5000", "0.7500", "=", "8/9")),
        ({"delta": None, "counted": None}, ("0.5000", "0.7500", "-", "8/9")),
        (
            {"delta": None, "counted": None, "comparable": False, "b_counted": 3},
            ("0.4000", "0.6000", "-", "9 padded"),
        ),
        (
            {"delta": None, "counted": None, "comparable": False, "b_padded": None},
            ("0.4000", "-", "-", "9 padded"),
        ),
    ],
)
def test_means_over_other_queries_never_stand_beside_each_other(changes, cells):
    first = next(iter(lines(found(means=(mean(**changes),)))))
    assert first[1:] == cells


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "median +0.250 ms over 9 questions; B slower on 6, faster on 3"),
        ({}, "95 % [-0.500, +0.750] over 3 clusters, which holds zero: no difference can be told"),
        ({"interval": interval(0.1, 0.2)}, "B is slower in the mean"),
        ({"interval": interval(-0.2, -0.1)}, "B is faster in the mean"),
        ({"median_ms": -0.00001}, "median -1e-05 ms"),
        ({"median_ms": 0.0}, "median 0 ms"),
        ({"interval": None, "why": "one cluster"}, "; no interval: one cluster"),
        ({"median_ms": None, "why": "nothing in turns"}, "none: nothing in turns"),
        ({"interval": interval(0.1, 0.2, warnings=("too narrow",))}, "; too narrow"),
    ],
)
def test_the_difference_of_latency_in_words(changes, told):
    assert told in paired(latency(**changes))


def test_what_was_left_out_and_how_the_sides_took_turns():
    for page in (flat(shown(found())), markdown_ab(found())):
        assert "of the paired latency: 2 warm-up, 1 failed in A" in page
        assert "2 of 3 instances; A first at noon: A first in 5 of the pairs, B in 4" in page
        assert "words=true" in page
    assert "A failed" in shown(found())
    assert "B failed" not in shown(found())


def test_an_exact_comparison(make_comparison, hostile):
    one = found(verdict="worse", gate=None, comparison=make_comparison(hostile))
    told = headline(one)
    row = one.comparison.headline
    assert told.startswith(f"recall_all@{row.k} {row.base:.4f} -> {row.candidate:.4f} (")
    assert told.endswith("session level, exact")
    assert "no query differs" in headline(msgspec.structs.replace(one, verdict="zero"))
    assert "system.settings.decay_rate: 0.03 -> 0.0" in flat(shown(one))


def test_shared_queries_are_told(shared_comparison):
    one = found(verdict="better", gate=None, comparison=shared_comparison)
    assert "exact, over shared queries only" in headline(one)


def test_hostile_text_is_shown_as_it_is(hostile):
    one = found(text=hostile, degraded=(hostile,))
    assert shown(one).startswith("DEGRADED")
    for page in (shown(one), markdown_ab(one)):
        assert "\x1b" not in page
    assert "<script" not in markdown_ab(one)


def test_it_reads_back():
    assert msgspec.json.decode(encode(found()), type=Ab) == found()


def test_it_fits_80_columns():
    assert max(map(len, shown(found(text="x" * 200)).splitlines())) <= 80
