"""What memruler itself costs a query: everything but the memory under test.

    .venv/bin/python benchmarks/overhead.py

The memory does nothing: it keeps the keys of what it was given, and answers each search with the
first twenty, so that the whole process is memruler's own work: reading the corpus, handing over,
timing each search, crediting, scoring at five cut-offs, the second replay that measures
determinism, writing and sealing the run, and its report. Beside it runs the least that could be
done instead: a loop over the same file, which writes one line of JSON a query and scores nothing.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from measure import cost, memruler, print_machine, table

LIMIT = 20
NOTHING = f"""
from memruler.model.system import Hit, Ranking, SystemIdentity

class Nothing:
    def identity(self):
        return SystemIdentity(name="nothing", version="1", digest="")

    def open(self, namespace):
        return Store()


class Store:
    def __init__(self):
        self.keys = []

    def ingest(self, session):
        self.keys += [turn.key for turn in session.turns]

    def settle(self):
        self.ranking = Ranking(
            tuple(Hit(item=key, score=1.0, sources=(key,)) for key in self.keys[:{LIMIT}])
        )

    def search(self, text, k, at):
        return self.ranking

    def close(self):
        pass
"""


def bare(corpus: Path, out: Path) -> None:
    """Read the corpus, take twenty keys for each query, and write them: nothing is scored."""
    with corpus.open(encoding="utf-8") as lines, out.open("w", encoding="utf-8") as found:
        for line in lines:
            instance = json.loads(line)
            keys = [
                f"{session.get('id', at)}:{number}"
                for at, session in enumerate(instance.get("sessions", ()))
                for number, _ in enumerate(session["turns"])
            ][:LIMIT]
            for query in instance.get("queries", ()):
                start = time.perf_counter()
                hits = [{"item": key, "score": 1.0} for key in keys]
                spent = time.perf_counter() - start
                found.write(json.dumps({"query": query.get("id"), "hits": hits, "s": spent}))
                found.write("\n")


def main() -> None:
    """Generate the corpus, run both in turn, print a row a round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare(*options.bare)
        return
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        corpus = scratch / "corpus.jsonl"
        size = ["--instances", str(-(-options.queries // 12)), "--sessions", "12"]
        cost([memruler(), "corpora", "generate", "--out", corpus, *size])
        (scratch / "nothing.py").write_text(NOTHING, encoding="utf-8")
        with corpus.open(encoding="utf-8") as lines:
            queries = sum(len(json.loads(line).get("queries", ())) for line in lines)
        rows = [_round(number, scratch, corpus, queries) for number in range(1, options.rounds + 1)]
    middle = [statistics.median(float(row[column]) for row in rows) for column in range(2, 6)]
    rows.append(["median", str(queries), *(f"{value:.4f}" for value in middle)])
    heads = ["round", "queries", "own ms/query", "CPU ms/query"]
    print(table([*heads, "bare ms/query", "own / bare"], rows))


def _round(number: int, scratch: Path, corpus: Path, queries: int) -> list[str]:
    words: list[str | Path] = [memruler(), "retrieval", "jsonl", "--path", corpus]
    words += ["--system", f"{scratch / 'nothing.py'}:Nothing", "--limit", str(LIMIT)]
    words += ["--one-by-one", "--out", scratch / "runs", "--stem", f"run-{number}"]
    run = cost(words)
    least = cost([sys.executable, __file__, "--bare", corpus, scratch / "bare.jsonl"])
    own, beside = run.wall / queries * 1000, least.wall / queries * 1000
    figures = (own, run.cpu / queries * 1000, beside, own / beside)
    return [str(number), str(queries), *(f"{value:.4f}" for value in figures)]


if __name__ == "__main__":
    main()
