"""All of LoCoMo: `builtin:lexical` against `mceval` with its BM25 baseline, as whole processes.

    .venv/bin/python benchmarks/locomo_lexical.py --locomo locomo10.json

The peer (memory-core-eval 0.2.0) is installed from the package index into a virtual environment
of its own, so a network is needed once; --peer keeps and reuses it. The peer reads its data from a
cache folder that is given to it, so it fetches nothing. Both measure the same conversations:
memruler asks all 1,986 questions, the peer the 1,978 whose evidence it can read.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

from measure import Cost, compare, cost, memruler, print_machine

PEER = "memory-core-eval==0.2.0"


def main() -> None:
    """Read the arguments, set the peer up, run both alternately."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--locomo", type=Path, required=True, help="the file locomo10.json")
    parser.add_argument("--peer", type=Path, help="virtual environment of the peer, kept")
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        peer = install_peer(options.peer or scratch / "peer")
        data = scratch / "data"
        data.mkdir()
        shutil.copy(options.locomo, data / "locomo10.json")
        numbers = count()

        def run_peer() -> Cost:
            words: list[str | Path] = [peer, "run", "--adapter", "bm25", "--dataset", "locomo"]
            return cost(
                [*words, "--out-dir", scratch / "results"], env={"MCEVAL_CACHE_DIR": str(data)}
            )

        def run_memruler() -> Cost:
            words: list[str | Path] = [
                memruler(),
                "retrieval",
                "locomo",
                "--path",
                data / "locomo10.json",
            ]
            words += ["--system", "builtin:lexical", "--limit", "20"]
            return cost([*words, "--out", scratch / "runs", "--stem", f"run-{next(numbers)}"])

        print_machine()
        compare(("mceval bm25", run_peer), ("memruler lexical", run_memruler), options.pairs)


def install_peer(folder: Path) -> Path:
    """Make the peer's virtual environment unless it is there; return its program."""
    program = folder / "bin" / "mceval"
    if not program.is_file():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", PEER], check=True)
    return program


if __name__ == "__main__":
    main()
