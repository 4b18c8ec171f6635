"""The page of a folder of answers: who, how many, what it cost, and what is next; 80 columns."""

import io
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from memruler.model.answers import AnswersManifest, InstrumentIdentity, Usage
from memruler.report.terminal_answers import render_answers

MODEL = InstrumentIdentity(
    kind="openai-chat",
    model="m",
    served="m-2026\x1b[2J",
    host="h:1",
    prompt="reader:brief",
    prompt_sha256="abcdef0123",
    settings={"temperature": 0.0, "seed": 5, "k": 3, "context_chars": 9000},
    honoured={"seed": "no (1 of 2 repeats differ)"},
)
MADE = AnswersManifest(
    version=1,
    name="my answers",
    run="r",
    run_tables={},
    run_fingerprint={},
    reader=MODEL,
    repeats=3,
    k=3,
    counts={"queries": 1986, "answered": 1900, "empty": 80, "failed": 6},
    usage=Usage(requests=1000, reused=986, prompt_tokens=2_000_000, completion_tokens=5, cost=1.25),
    usage_total=Usage(requests=1986, uncounted=4, cost=None),
    started=datetime(2026, 1, 1),
    finished=datetime(2026, 1, 1),
    warnings=("w " * 60,),
)


def printed(made, path="runs/my run/answers/my answers"):
    out = io.StringIO()
    render_answers(made, Path(path), Console(file=out, width=80, highlight=False, markup=False))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in out.getvalue()
    return " ".join(out.getvalue().split())


def test_a_model():
    text = printed(MADE)
    assert "1,900 answered, 80 empty, 6 without an answer, of 1,986 queries, 3 times each" in text
    assert "reader m-2026\\x1b[2J @ h:1, reader:brief, abcdef01" in text
    assert "given the first 3 hits of each query, at most 9,000 characters" in text
    assert "temperature 0.0 sent; honoured: unknown" in text
    assert "seed 5 sent; honoured: no (1 of 2 repeats differ)" in text
    assert "asked 1,000 requests now, 986 replies from before" in text
    assert "now 2,000,000 tokens sent, 5 said; 1.2500 USD" in text
    assert "in all tokens are not known (4 replies uncounted); no price given" in text
    assert "next memruler grade 'runs/my run' --answers 'my answers'" in text


def test_what_is_degraded_stands_first():
    text = printed(msgspec.structs.replace(MADE, degraded=("a toy embedder",)))
    assert text.startswith("DEGRADED: these answers must not be trusted a toy embedder")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("extractive", "extractive: a rule without a model, abcdef01"),
        ("system", "the memory itself: mem"),
        ("file", "not known: the file reader:brief, abcdef01"),
    ],
)
def test_other_sources_have_no_cost(kind, said):
    reader = InstrumentIdentity(
        kind=kind,
        prompt="reader:brief",
        prompt_sha256="abcdef0123",
        settings={"system": {"name": "mem"}},
    )
    text = printed(msgspec.structs.replace(MADE, reader=reader, k=None, repeats=1))
    assert f"reader {said}" in text
    assert "tokens" not in text
    assert "given" not in text
