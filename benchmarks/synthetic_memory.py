"""Memory of `builtin:lexical` over synthetic corpora of growing size.

    .venv/bin/python benchmarks/synthetic_memory.py

The largest has the shape of LongMemEval-S: 500 instances of 48 sessions with one question each (its
turns are shorter than the real ones). The peak is that of the whole process: replay goes through a
corpus instance by instance, while scoring holds columns of the whole run.
"""

import argparse
import tempfile
from pathlib import Path

from measure import UNITS, cells, cost, memruler, print_machine, table

SESSIONS = 48


def main() -> None:
    """Generate a corpus of each size, run over it, print a row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--instances", type=int, nargs="+", default=[10, 50, 500])
    parser.add_argument("--queries", type=int, default=1, help="questions asked of an instance")
    options = parser.parse_args()
    print_machine()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        program = memruler()
        for instances in options.instances:
            corpus = scratch / f"corpus-{instances}.jsonl"
            size = ["--instances", str(instances), "--sessions", str(SESSIONS)]
            cost([program, "corpora", "generate", "--out", corpus, *size])
            words: list[str | Path] = [program, "retrieval", "jsonl", "--path", corpus]
            words += ["--system", "builtin:lexical", "--limit", "20"]
            words += ["--queries", str(options.queries)]
            run = cost([*words, "--out", scratch / "runs", "--stem", f"run-{instances}"])
            megabytes = corpus.stat().st_size / 2**20
            rows.append([str(instances), f"{megabytes:.1f}", *cells(run)])
            corpus.unlink()
    print(table(["instances", "corpus MiB", *UNITS], rows))


if __name__ == "__main__":
    main()
