"""Servers of others, unmodified, measured by their recipes where they are installed."""

import json
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="servers are started on POSIX only"),
]


@pytest.mark.parametrize(
    ("recipe", "program", "least"),
    [
        # It looks for the whole question as a literal text, and finds none.
        ("server-memory", "mcp-server-memory", None),
        ("server-memory-words", "mcp-server-memory", 0.3),
        ("mcp-memory-service", "memory", 0.1),
    ],
)
def test_a_recipe_measures_the_real_server(tmp_path, recipe, program, least):
    name = f"MEMRULER_TEST_{recipe.removesuffix('-words').replace('-', '_').upper()}"
    found = os.environ.get(name) or shutil.which(program)
    if found is None or (program == "memory" and name not in os.environ):
        pytest.skip(f"needs {program}; {name} says where it is")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "memruler", "retrieval", "synthetic", "--instances", "1"),
            *("--queries", "8", "-k", "1,5", "--limit", "10", "--out", str(tmp_path)),
            *("--stem", "run", "--system", f"recipe:{recipe}", "--set", f"program={found}"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    assert [w for w in report["manifest"]["warnings"] if "may not be gone" in w] == []
    assert least is None or float(done.stdout.split()[1]) >= least
    assert (tmp_path / "run" / "logs").is_dir()
