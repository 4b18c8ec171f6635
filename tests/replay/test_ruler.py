"""What the ruler's digest covers: what shapes a retrieval run, and nothing of the second ruler."""

import shutil
from pathlib import Path

import pytest

import memruler
from memruler.replay import provenance


@pytest.fixture
def copy(tmp_path, monkeypatch):
    root = tmp_path / "memruler"
    shutil.copytree(Path(memruler.__file__).parent, root, ignore=shutil.ignore_patterns("*.pyc"))
    monkeypatch.setattr(provenance, "_ROOT", root)
    provenance._source_digest.cache_clear()
    yield root
    provenance._source_digest.cache_clear()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("scoring/score.py", True),
        ("scoring/graded.py", True),
        ("metrics/definitions.py", True),
        ("corpora/locomo.py", True),
        ("scoring/grade.py", False),
        ("scoring/grade_rows.py", False),
        ("scoring/answering.py", False),
        ("scoring/failures.py", False),
        ("scoring/abstention.py", False),
        ("scoring/graders/locomo.py", False),
        ("metrics/answers/words.py", False),
        ("corpora/longmemeval_judge.py", False),
        ("report/view.py", False),
    ],
)
def test_what_it_covers(copy, name, changes):
    before = provenance.ruler()
    with (copy / name).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    provenance._source_digest.cache_clear()
    assert (provenance.ruler() != before) is changes
