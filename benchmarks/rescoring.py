"""Re-scoring saved rankings under three targets, whole processes, against other scorers.

    python3 -m venv peers && peers/bin/pip install pytrec-eval-terrier ranx orjson
    .venv/bin/python benchmarks/rescoring.py --peers peers/bin/python

100,000 queries of 60 hits, 3 targets, 6 cut-offs, 6 metrics: 108 values a query, from a saved file.
The peers and a plain Python scorer that is called at each cut-off read the rankings as one jsonl.gz
file; memruler reads its sealed run, and in a line of its own the same jsonl.gz file. All count per
id, so that they compute the same: the mean nDCG@10 of each target is printed beside them. `floor`
is a process that decodes the tables of the sealed run that re-scoring needs, and does no more.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Cost, cost, print_machine, table

HERE = Path(__file__).parent
OWN = ("sealed", "floor", "jsonl", "python")
PEERS = ("pytrec", "ranx")


def main() -> None:
    """Make the data unless it is there, run every scorer alternately, print times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--peers", type=Path, help="a Python that has the peers and orjson")
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[*OWN, *PEERS], help="only these scorers")
    parser.add_argument("--data", type=Path, help="folder of the data, kept and reused")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = options.data or Path(folder) / "data"
        if not (data / "run").exists():
            words = [sys.executable, HERE / "rescoring_data.py", data, str(options.queries)]
            subprocess.run(words, check=True)
        pythons = dict.fromkeys(OWN, sys.executable)
        if options.peers:
            pythons |= dict.fromkeys(PEERS, options.peers)
        chosen = [name for name in pythons if not options.only or name in options.only]
        print_machine()
        spent: dict[str, list[Cost]] = {name: [] for name in chosen}
        for _ in range(options.rounds):
            for name in chosen:
                words = [pythons[name], HERE / "rescoring_scorers.py", name, data]
                spent[name].append(cost(words, env={"PYTHONDONTWRITEBYTECODE": ""}))
        print(table(["scorer", *HEADS], [[name, *row(spent, name)] for name in chosen]))
        for name in chosen:
            print(f"{name:8} {(data / name).with_suffix('.mean').read_text().strip()}")


HEADS = ("best s", "median s", "CPU s", "peak MiB", "times sealed", "times jsonl")


def row(spent: dict[str, list[Cost]], name: str) -> list[str]:
    """Times of one scorer, and its ratios to ours in the same round."""
    costs = spent[name]
    walls = sorted(one.wall for one in costs)
    return [
        f"{walls[0]:.2f}",
        f"{walls[len(walls) // 2]:.2f}",
        f"{sorted(one.cpu for one in costs)[len(costs) // 2]:.2f}",
        f"{max(one.peak for one in costs):.0f}",
        *(
            " ".join(
                f"{one.wall / base.wall:.1f}" for one, base in zip(costs, spent[ours], strict=True)
            )
            if ours in spent
            else "-"
            for ours in ("sealed", "jsonl")
        ),
    ]


if __name__ == "__main__":
    main()
