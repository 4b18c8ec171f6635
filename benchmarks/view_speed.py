"""How quick `memruler view` is with many runs, and with one run of many queries.

    .venv/bin/python benchmarks/view_speed.py

The list is asked for while runs are copies of one small run, and is held against a loop that reads
every manifest and summary with Python's json, as a program without an index would. The explorer is
asked for lists and single queries of one large run, and is held against a process that decodes the
tables that hold them. Every request goes through HTTP to a server of its own; the first of each is
told apart from the later ones, which find what is kept.
"""

import argparse
import hashlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

from measure import cost, memruler, print_machine, table

TABLES = """
import sys
import pyarrow.parquet as pq
for name in ("queries", "trace", "lineage"):
    pq.read_table(f"{sys.argv[1]}/{name}.parquet")
"""
CALLS = {
    "first page of the list": "find?limit=50",
    "page 100 of what was missed": "find?limit=50&missed=true&offset=5000",
    "search in all questions": "find?limit=50&text=breakfast",
    "one query in the middle": "detail?row={middle}",
}


def main() -> None:
    """Make the runs, ask, and print times with their ratios to the naive way in the same round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--instances", type=int, default=8334, help="12 queries each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, help="folder of the runs, kept and reused")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = options.data or Path(folder)
        print_machine()
        many_runs(made_many(data / "many", options.runs), options.rounds)
        many_queries(made_large(data / "large", options.instances), options.rounds)


def made_many(root: Path, count: int) -> Path:
    """Copies of one small run; they are whole, since links would be refused."""
    if not root.exists():
        first = root.with_name("first")
        cost([memruler(), "retrieval", "synthetic", "--system", "builtin:lexical",
              "--out", first, "--stem", "run"])  # fmt: skip
        for number in range(count):
            shutil.copytree(first / "run", root / f"run-{number:04d}")
    return root


def made_large(root: Path, instances: int) -> Path:
    """One run with 12 queries an instance."""
    if not root.exists():
        corpus = root.with_name("large.jsonl")
        cost([memruler(), "corpora", "generate", "--out", corpus, "--instances", str(instances)])
        cost([memruler(), "retrieval", "jsonl", "--path", corpus, "--system", "builtin:lexical",
              "--out", root, "--stem", "large"])  # fmt: skip
    return root


def many_runs(root: Path, rounds: int) -> None:
    """The list, cold and warm, against reading everything anew."""
    spent: dict[str, list[float]] = {"naive": [], "first": [], "again": [], "one changed": []}
    for _ in range(rounds):
        spent["naive"].append(timed(lambda: naive(root)))
        with viewer(root) as ask:
            spent["first"].append(timed(lambda: ask("/")))
            spent["again"].append(timed(lambda: ask("/")))
            (next(root.iterdir()) / "manifest.json").touch()
            spent["one changed"].append(timed(lambda: ask("/")))
    runs = len(list(root.iterdir()))
    print(f"list of {runs} runs, {rounds} rounds; naive: json of every manifest and summary\n")
    print(told(spent, "naive") + "\n")


def many_queries(root: Path, rounds: int) -> None:
    """Calls of the explorer, against decoding the tables."""
    (run,) = root.iterdir()
    queries = json.loads((run / "manifest.json").read_text())["counts"]["queries"]
    key = hashlib.sha256(run.name.encode()).hexdigest()[:16]
    calls = {name: call.format(middle=queries // 2) for name, call in CALLS.items()}
    spent: dict[str, list[float]] = {
        name: []
        for name in ("tables", "page", "opening", *calls, *(f"{name}, again" for name in calls))
    }
    for _ in range(rounds):
        spent["tables"].append(cost([sys.executable, "-c", TABLES, run]).wall)
        with viewer(root) as ask:
            ask("/")
            spent["page"].append(timed(lambda: ask(f"/run/{key}")))
            spent["opening"].append(timed(lambda: ask(f"/data/overview?run={key}")))
            for again in ("", ", again"):
                for name, call in calls.items():
                    address = f"/data/{call}&run={key}"
                    spent[name + again].append(timed(lambda: ask(address)))  # noqa: B023
    print(f"explorer of {queries} queries, {rounds} rounds; tables: a process that decodes them\n")
    print(told(spent, "tables"))


@contextmanager
def viewer(root: Path) -> Iterator[Callable[[str], bytes]]:
    """A server of its own, and what asks it for an address."""
    command = [str(memruler()), "view", str(root), "--json"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = child.stdout.readline() if child.stdout else ""
        address = json.loads(line)["url"]
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
        )
        origin, _, token = address.partition("/?")
        # Lets us in on a page that reads no run, so that the list is still to be read.
        opener.open(f"{origin}/assets/page.css?{token}").read()
        yield lambda path: bytes(opener.open(origin + path).read())
    finally:
        child.terminate()
        child.wait()


def naive(root: Path) -> None:
    """Read every manifest and summary."""
    for run in root.iterdir():
        for name in ("manifest.json", "summary.json"):
            json.loads((run / name).read_text())


def timed(do: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def told(spent: dict[str, list[float]], reference: str) -> str:
    """Medians and extremes, with the reference's time over each in the same round."""
    rows = []
    for name, times in spent.items():
        ratios = [base / own for base, own in zip(spent[reference], times, strict=True)]
        rows.append(
            [
                name,
                f"{1000 * statistics.median(times):.1f}",
                f"{1000 * min(times):.1f}",
                f"{1000 * max(times):.1f}",
                f"{statistics.median(ratios):.2f}",
            ]
        )
    return table(["what", "median ms", "least", "most", f"{reference} takes x"], rows)


if __name__ == "__main__":
    main()
