"""Rename every gold-bearing id and annotation: what a system sees, and its trace, stay the same."""

import json
import re

import pytest

from memruler.corpora.registry import open_corpus
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.store.folder import RunFolder

SETTINGS = {
    "timeline": "anchored",
    "granularity": "turn",
    "limit": 20,
    "instances": None,
    "queries": None,
    "one_by_one": False,
    "keep": False,
}
SYSTEMS = ["builtin:lexical", "builtin:episodic"]


def seen(tmp_path, corpus, path, system):
    """The bytes of the trace and of the stored forms."""
    stem = f"r{len(list(tmp_path.glob('r*')))}"
    words = [] if system == "builtin:lexical" else ["embedder=toy"]
    spec = PlanSpec(
        corpus=corpus, path=str(path), system=system, assignments=tuple(words), settings=SETTINGS
    )
    plan = plan_run(spec)
    with RunFolder.claim(tmp_path, stem) as folder:
        measure(plan, folder, lambda *_: None)
    return [(tmp_path / stem / f"{n}.parquet").read_bytes() for n in ("trace", "lineage")]


def without_labels(rows):
    """A LongMemEval file whose labels say the opposite, and whose ids say nothing."""
    text = re.sub(
        r"\b(answer|sharegpt|fill|ultrachat|empty|noans)_(?!session_ids)", "zz_", json.dumps(rows)
    )
    changed = json.loads(text)
    for row in changed:
        row["answer"] = "something else"
        row["question_type"] = "multi-session"
        for session in row["haystack_sessions"]:
            for turn in session:
                if "has_answer" in turn:
                    turn["has_answer"] = not turn["has_answer"]
    return changed


@pytest.mark.parametrize("system", SYSTEMS)
def test_longmemeval(shared_samples, tmp_path, system):
    source = shared_samples / "longmemeval" / "longmemeval_s_cleaned.json"
    other = tmp_path / "other.json"
    rows = json.loads(source.read_text(encoding="utf-8"))
    other.write_text(json.dumps(without_labels(rows)), encoding="utf-8")
    first, second = (seen(tmp_path, "longmemeval-s", path, system) for path in (source, other))
    assert first == second


@pytest.mark.parametrize("system", SYSTEMS)
def test_locomo(shared_samples, tmp_path, system):
    source = shared_samples / "locomo" / "locomo10.json"
    rows = json.loads(source.read_text(encoding="utf-8"))
    for row in rows:
        row["sample_id"] = "renamed"
        for key in ("observation", "session_summary", "event_summary"):
            row[key] = {}
        for qa in row["qa"]:
            if qa["category"] != 5:
                qa["answer"], qa["category"] = "something else", 4
                qa["evidence"] = ["D2:1"]
        for name, turns in row["conversation"].items():
            if re.fullmatch(r"session_\d+", name):
                for turn in turns:
                    turn["query"] = "gold words that nobody said"
                    turn["img_url"] = ["http://invalid.example/other.jpg"]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(rows), encoding="utf-8")
    first, second = (seen(tmp_path, "locomo", path, system) for path in (source, other))
    assert first == second


def test_the_samples_do_carry_labels(shared_samples):
    corpus = open_corpus("longmemeval-s", shared_samples / "longmemeval/longmemeval_s_cleaned.json")
    ids = {session.id for instance in corpus for session in instance.sessions}
    assert any(name.startswith("answer_") for name in ids)
