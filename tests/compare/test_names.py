"""Runs are called by the folders that a person typed."""

import shutil
from pathlib import Path

import pytest

from memruler.compare.exact import compare
from memruler.compare.load import names
from memruler.compare.refusal import Incomparable

CHANGE = {"system.settings.decay_rate": 0.0}


@pytest.mark.parametrize(
    ("base", "candidate", "called"),
    [
        ("runs/a", "runs/b", ("a", "b")),
        ("old/run", "new/run", ("old/run", "new/run")),
        ("a/", "./b", ("a", "b")),
    ],
)
def test_the_shortest_name_that_tells_them_apart(base, candidate, called):
    assert names(Path(base), Path(candidate)) == called


def test_the_folder_one_is_in_has_a_name(tmp_path, monkeypatch):
    inside = tmp_path / "here"
    (inside / "deeper").mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert names(Path(), Path("deeper")) == ("here", "deeper")
    monkeypatch.chdir(inside / "deeper")
    assert names(Path(".."), Path()) == ("here", "deeper")


@pytest.fixture
def copied(make_run):
    base, other = make_run("base"), make_run("cand", changes=CHANGE)
    copy = base.with_name("copy")
    shutil.copytree(other, copy)
    return base, copy


def test_a_copied_run_is_called_by_its_folder_with_the_stem_beside(copied):
    found = compare(*copied, changed=["decay_rate"])
    assert (found.base.name, found.candidate.name) == ("base", "copy")
    assert (found.base.stem, found.candidate.stem) == ("base", "cand")
    assert "the folder of the candidate was measured as cand" in found.notes
    assert not any("measured as base" in note for note in found.notes)


def test_a_refusal_calls_it_so_too(copied):
    with pytest.raises(Incomparable) as caught:
        compare(*copied)
    assert (caught.value.record.base, caught.value.record.candidate) == ("base", "copy")
