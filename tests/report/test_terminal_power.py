import io

import numpy as np
import pytest
from rich.console import Console

from memruler.report.terminal_power import render_power
from memruler.studies.power import Pilot, study

RNG = np.random.default_rng(1)
REPEATED = RNG.normal(0, 0.1, (60, 1)) + RNG.normal(0, 0.2, (60, 3))


def page(deltas, metric, effect, clusters=None):
    pilot = Pilot(
        base="a [bold]name[/bold]" + "x" * 100,
        candidate="b\x1b[31m",
        metric=metric,
        cluster="conversation" if clusters is not None else None,
        deltas=deltas,
        clusters=clusters,
        deterministic=False,
    )
    out = io.StringIO()
    console = Console(file=out, width=80, highlight=False, markup=False, emoji=False)
    render_power(study(pilot, effect=effect, simulations=200), console)
    return out.getvalue()


@pytest.mark.parametrize("clusters", [None, np.arange(60) // 2], ids=["alone", "clustered"])
def test_repeats_fit_80_columns(clusters):
    text = page(REPEATED, "recall_all@5", 0.05, clusters)
    assert max(map(len, text.splitlines())) <= 80
    assert "size needed, by repeats" in text
    assert "share that repeats remove" in text
    assert "what differs between items dominates" in " ".join(text.split())
    assert "\x1b[31m" not in text


def test_a_share_is_in_points_and_another_metric_as_it_is():
    assert "5 pp needs" in page(REPEATED, "recall_all@5", 0.05)
    text = page(REPEATED * 100, "latency_ms", 12.5)
    assert "12.5 needs" in text
    assert " pp" not in text


def test_without_repeats_the_reason_stands_there():
    text = " ".join(page(REPEATED[:, 0], "recall_all@5", 0.05).split())
    assert "nothing can be said about repeats" in text
    assert "every difference moved by the same amount" in text
