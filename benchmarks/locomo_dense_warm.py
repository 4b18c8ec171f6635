"""A second arm of `builtin:dense` over LoCoMo, when the first has filled the cache of vectors.

    .venv/bin/python benchmarks/locomo_dense_warm.py --locomo locomo10.json

Needs `pip install '.[local]'`. The cache is a fresh one in a temporary folder, so the first arm is
always cold, and your own cache is neither used nor filled.
"""

import argparse
import tempfile
from pathlib import Path

from measure import UNITS, Cost, cells, cost, memruler, print_machine, table


def main() -> None:
    """Run the cold arm once and the warm one several times; print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--locomo", type=Path, required=True, help="the file locomo10.json")
    parser.add_argument("--warm", type=int, default=3, help="how many warm arms")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        program = memruler()

        def arm(stem: str, timeline: str) -> Cost:
            words: list[str | Path] = [program, "retrieval", "locomo", "--path", options.locomo]
            words += ["--system", "builtin:dense", "--limit", "20", "--timeline", timeline]
            return cost(
                [*words, "--out", scratch / "runs", "--stem", stem],
                env={"MEMRULER_CACHE": str(scratch / "cache")},
            )

        print_machine()
        # A second arm differs in something: here in the timeline, which leaves the texts alone.
        arms = [("cold", arm("cold", "anchored"))]
        arms += [(f"warm {n}", arm(f"warm-{n}", "now")) for n in range(1, options.warm + 1)]
    rows = [[name, *cells(spent)] for name, spent in arms]
    print(table(["arm", *UNITS], rows))


if __name__ == "__main__":
    main()
