import io
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from memruler.compare.exact import compare
from memruler.compare.record import Reason, Refused
from memruler.compare.refusal import Incomparable
from memruler.model.summary import Cutoff, Omitted
from memruler.report.layout import stdout_console
from memruler.report.terminal import (
    print_comparison,
    print_refusal,
    print_run,
    render_comparison,
    render_refusal,
    render_run,
)

REASON = Reason(code="corpus", what="the corpus differs", hint="measure both over the same one")


def shown(render, record, *rest, **options):
    out = io.StringIO()
    console = Console(file=out, width=80, highlight=False, markup=False, emoji=False)
    render(record, *rest, console, **options)
    return out.getvalue()


def fits(text):
    return all(cell_len(line) <= 80 for line in text.splitlines())


def harmless(text):
    return all(c.isprintable() or c == "\n" for c in text)


@pytest.fixture
def run(make_document):
    return make_document(
        cutoffs=(1, 3, 5, 9),
        fields={"warnings": ("decay is off",), "corpus_notes": ("synthetic data",)},
    )


def test_a_run(run):
    text = shown(render_run, run, Path("runs/base"))
    assert fits(text)
    assert text.startswith(
        "recall_all@5 0.7500  session level, target raw\n"
        "over 4 of 4 measurable queries in 2 clusters"
    )
    lines = [line.split() for line in text.splitlines()]
    assert ["5", "0.7500", "0.7500", "0.7500", "0.2000", "0.6250", "0.6270", "4/4"] in lines
    for wanted in (
        "1 unanswerable",
        "session level k=9: no list is so long",
        "recall_all at the turn level is at most 0.7500 at k=1",
        "50 items, none refused or evicted",
        "decay is off",
        "synthetic data",
        "runs/base",
        "10.0 to 20.5 days",
    ):
        assert wanted in text, wanted


def test_no_mean_without_its_denominators(run):
    text = shown(render_run, run, Path("runs/base"))
    rows = [line for line in text.splitlines() if line[:1].isdigit()]
    assert len(rows) == 6
    assert all(row.rstrip().endswith("4/4") for row in rows)


def test_a_comparison(make_comparison):
    text = shown(render_comparison, make_comparison())
    assert fits(text)
    assert text.startswith(
        "UNCHANGED  recall_all@5 0.7500 -> 0.7500 (=)  session level, target raw, exact"
    )
    assert "better 1, worse 1, the same 2; 4 of 4 measured" in text
    assert "system.settings.decay_rate: 0.03 -> 0.0" in text
    assert "down  conv-1 #1 [single] 1 -> 0 Where did Ada go?" in text
    assert text.index("down  conv-1") < text.index("up    conv-2")


def test_a_comparison_over_shared_queries_says_so_in_every_row(shared_comparison):
    text = shown(render_comparison, shared_comparison)
    assert fits(text)
    lines = [line.split() for line in text.splitlines()]
    assert text.splitlines()[0].rstrip() == (
        "BETTER (shared queries only)  recall_all@5 0.6667 -> 1.0000 (+0.3333)"
    )
    assert "counted    4 in the base, 3 in the candidate, 3 in both" in text
    flat = " ".join(text.split())
    assert "padded 0.5000 -> 1.0000 (+0.5000) over all 4, missing ranks counted as misses" in flat
    assert (
        "floor 0.5000 -> 0.7500 (+0.2500) over all 4, a list shorter than 5 scores 0, whatever it "
        "holds"
    ) in flat
    assert flat.count("0.7500 (+0.2500)") == 1
    at = next(i for i, line in enumerate(lines) if line[:2] == ["5", "base"])
    assert [line[-2:] for line in lines[at : at + 3]] == [
        ["4", "base"],
        ["3", "cand"],
        ["3", "both"],
    ]
    assert ["single", "1.0000", "1.0000", "=", "0", "0", "2", "1", "1", "2"] in lines
    assert ["macro", "mean", "of", "2", "0.7500", "1.0000", "+0.2500", "4", "3", "3"] in lines
    assert "n/N" not in text
    assert "short lists on hard questions" in " ".join(text.split())


def test_large_counts_and_long_names_fit_over_shared_queries(shared_comparison):
    def grow(row):
        name = (
            {"slice": "single-session-preference"} if getattr(row, "slice", "all") != "all" else {}
        )
        return msgspec.structs.replace(
            row, counted=123_456, base_counted=123_457, candidate_counted=123_458, **name
        )

    big = msgspec.structs.replace(
        shared_comparison,
        deltas=tuple(map(grow, shared_comparison.deltas)),
        macro=tuple(map(grow, shared_comparison.macro)),
    )
    text = shown(render_comparison, big)
    assert fits(text)
    assert text.count("123456") == text.count("123457") == text.count("123458") >= 9


def test_a_verdict_that_hangs_on_silence_gives_both_numbers(make_run, queries_a):
    silent = (*queries_a[:2], queries_a[2]._replace(session="x."), *queries_a[3:])
    other = make_run("cand", silent, changes={"system.settings.decay_rate": 0.0})
    with pytest.raises(Incomparable) as caught:
        compare(make_run("base"), other, changed=["decay_rate"], shared=True)
    text = shown(render_refusal, caught.value.record)
    assert fits(text)
    assert "by 0 over the 3 shared queries, but by -0.25 over all 4" in " ".join(text.split())


def test_hidden_queries_are_counted(make_comparison):
    comparison = make_comparison()
    text = shown(render_comparison, comparison, queries=1)
    assert "... and 1 more: --all-queries" in text
    assert "up    conv-2" not in text
    assert "more" not in shown(render_comparison, comparison, queries=None)


def test_degraded_comes_first(make_document, make_comparison):
    fields = {"degraded": ("toy embedder",)}
    text = shown(render_run, make_document(fields=fields), Path("x"))
    assert text.startswith("DEGRADED")
    assert text.index("toy embedder") < text.index("recall_all")
    text = shown(render_comparison, make_comparison(fields=fields))
    assert text.startswith("DEGRADED")
    assert text.index("toy embedder") < text.index("recall_all")


def test_hostile_text_in_a_run(make_document, queries_a, hostile):
    document = make_document(
        tuple(q._replace(category=hostile, instance=hostile) for q in queries_a),
        changes={"system.name": hostile, "corpus.name": hostile, "corpus.tier": hostile},
        fields={"warnings": (hostile,), "corpus_notes": (hostile,), "degraded": (hostile,)},
    )
    summary = msgspec.structs.replace(
        document.summary,
        errors={hostile: 2},
        omitted=(Omitted(level="turn", k=3, reason=hostile),),
    )
    document = msgspec.structs.replace(document, summary=summary)
    text = shown(render_run, document, Path(hostile))
    assert harmless(text)
    # The path stands by itself and is not broken, so that it can be copied.
    assert fits(text.rpartition("report: ")[0])
    assert "[bold]m[/bold]" in text.replace("\n", "")
    assert ":smile:" in text


def test_hostile_text_in_a_comparison(make_comparison, hostile):
    fields = {"warnings": (hostile,), "degraded": (hostile,), "corpus_notes": (hostile,)}
    comparison = make_comparison(hostile, fields=fields, changes={"system.name": hostile})
    text = shown(render_comparison, comparison, queries=None)
    assert harmless(text)
    assert fits(text)


def test_hostile_text_in_a_refusal(make_run, hostile):
    with pytest.raises(Incomparable) as caught:
        compare(make_run("base"), make_run("cand", changes={"system.name": hostile}))
    text = shown(render_refusal, caught.value.record)
    assert harmless(text)
    assert fits(text)
    assert "--changed system.name" in " ".join(text.split())


def test_a_refusal_gives_a_line_a_reason(make_run):
    changes = {"system.name": "x", "ingest.timeline": "now"}
    with pytest.raises(Incomparable) as caught:
        compare(make_run("base"), make_run("cand", changes=changes, fields={"determinism": None}))
    text = shown(render_refusal, caught.value.record)
    assert fits(text)
    assert sum(line.startswith("-  ") for line in text.splitlines()) == 3 + 2
    assert text.index("what to do") > text.index("determin")


def test_large_counts_and_long_metrics_still_fit(run):
    def grow(cutoff: Cutoff) -> Cutoff:
        return msgspec.structs.replace(cutoff, counted=1_234_567, of=2_345_678)

    whole = run.summary.slices[0]
    slices = (
        msgspec.structs.replace(whole, cutoffs=tuple(map(grow, whole.cutoffs))),
        *run.summary.slices[1:],
    )
    big = msgspec.structs.replace(run, summary=msgspec.structs.replace(run.summary, slices=slices))
    text = shown(render_run, big, Path("x"))
    assert fits(text)
    assert "1234567" in text
    assert "2345678" in text


def test_a_run_without_any_cut_off(make_document, queries_a):
    short = tuple(q._replace(session="", turn="") for q in queries_a)
    text = shown(render_run, make_document(short), Path("x"))
    assert text.startswith("no cut-off could be measured")


def test_a_file_gets_no_padding(run, make_comparison, capsys):
    comparison = make_comparison()
    print_run(run, Path("x"))
    print_comparison(comparison)
    print_refusal(Refused(schema_version=1, base="a", candidate="b", reasons=(REASON,)))
    written = capsys.readouterr()
    lines = [*written.out.splitlines(), *written.err.splitlines()]
    assert [line.rstrip() for line in lines] == lines
    # Nothing but the padding is gone.
    whole = shown(render_run, run, Path("x")) + shown(render_comparison, comparison)
    assert written.out.splitlines() == [line.rstrip() for line in whole.splitlines()]


def test_stdout_gets_no_colour_when_it_is_no_terminal(run, make_comparison, capsys):
    print_run(run, Path("x"))
    print_comparison(make_comparison())
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(("no_color", "coloured"), [(None, True), ("1", False)])
def test_a_terminal_gets_colour_unless_told_not_to(run, monkeypatch, no_color, coloured):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("FORCE_COLOR", "1")
    console = stdout_console()
    console.file = out = io.StringIO()
    degraded = msgspec.structs.replace(
        run, manifest=msgspec.structs.replace(run.manifest, degraded=("toy",))
    )
    render_run(degraded, Path("x"), console)
    assert ("\x1b[1;37;41m" in out.getvalue()) is coloured
    assert console.width == 80
