from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.report.figures.words import distinct, folder_names, number, stem_names


@given(st.lists(st.text(max_size=60), max_size=12))
def test_labels_are_short_printable_and_different(names):
    labels = distinct(names)
    assert set(labels) == set(names)
    assert len(set(labels.values())) == len(labels)
    for label in labels.values():
        assert label.isprintable()
        assert 0 < len(label) <= 22 + len(" (12)")


def test_what_is_cut_alike_is_told_apart():
    assert list(distinct(["a" * 30, "a" * 31, "b"]).values()) == [
        "a" * 21 + "…",
        "a" * 21 + "… (2)",
        "b",
    ]
    assert distinct([""]) == {"": "(empty)"}
    # A name may look like the mark.
    assert len(set(distinct(["x" * 22, "x" * 23, "x" * 21 + "… (2)"]).values())) == 3


def test_runs_of_one_name_are_two():
    assert stem_names(["r", "r", "r (2)"]) == ["r", "r (2)", "r (2) (2)"]
    assert stem_names(["r", "r"], ["base", "candidate"]) == ["base", "candidate"]
    assert folder_names([Path("a/r"), Path("b/r")]) == ["r", "r (2)"]
    with pytest.raises(ValueError, match="one name a run"):
        stem_names(["r", "r"], ["base"])


def test_thousands():
    assert number(1531) == "1,531"
