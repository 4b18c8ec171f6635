"""Every metric, grader and measure has its formula in the documents, and the formulas hold."""

import re
from pathlib import Path

import pytest

from memruler.metrics.credited import CREDIT_METRICS
from memruler.metrics.names import METRICS
from memruler.scoring.graders.registry import grader_names

DOCS = Path(__file__).parents[2] / "docs"


def _page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def _table(page: str, heading: str) -> dict[str, list[str]]:
    """First cell without backticks to the other cells, of the first table below a heading."""
    part = page.partition(f"\n{heading}\n")[2]
    rows = re.search(r"(?:^\|.*\|\n)+", part, re.MULTILINE)
    assert rows, heading
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows[0].splitlines()[2:]]
    return {re.findall(r"`([^`]+)`", row[0] + "``")[0]: row[1:] for row in cells if "`" in row[0]}


def test_every_metric_has_its_formula():
    rows = _table(_page("metrics"), "## Definitions")
    assert [name.removesuffix("@k") for name in rows] == list(METRICS)
    for name, (formula, values, *_) in rows.items():
        assert re.search(r"`[^`]*(found@k|r|DCG@k)[^`]*`", formula), name
        assert values, name


# Ranks 1 to 4 hold: nothing, gold, nothing, gold; there are three gold ids. Worked out by hand.
BY_HAND = {
    "recall_all": 0.0,
    "recall_any": 1.0,
    "recall_micro": 2 / 3,
    "precision": 2 / 4,
    "mrr": 1 / 2,
    # 1/log2(3) + 1/log2(5) over 1 + 1/log2(3) + 1/log2(4)
    "ndcg": 0.4982,
    "recall_pooled": 2 / 3,
}


@pytest.mark.parametrize("name", METRICS)
def test_the_example_of_the_page_is_right(name):
    rank = [False, True, False, True]
    metric = METRICS[name]
    given = ([(rank, 3)], 4) if metric.kind == "pooled" else (rank, 3, 4)
    assert metric.definition(*given) == pytest.approx(BY_HAND[name], abs=5e-5)
    shown = _table(_page("metrics"), "### An example")[f"{name}@4"]
    assert float(shown[-1]) == pytest.approx(BY_HAND[name], abs=5e-5)


@pytest.mark.parametrize("name", [*CREDIT_METRICS, "recall_pooled"])
def test_credit_under_a_target_has_its_formula(name):
    formulas = _page("targets").partition("\n## Credit\n")[2].partition("\n## ")[0]
    assert re.search(
        rf"^(?:.*\s)?{name}(?:@k)? += ", formulas.replace("nDCG", "ndcg"), re.MULTILINE
    )


@pytest.mark.parametrize("name", grader_names())
def test_every_grader_is_told(name):
    assert re.search(rf"^\|[^|]*`{re.escape(name)}`[^|]*\| \S", _page("answers"), re.MULTILINE)


def test_every_metric_is_in_the_glossary_or_beside_its_other_names():
    words = _page("glossary") + _page("metrics")
    assert [name for name in METRICS if f"`{name}" not in words] == []
