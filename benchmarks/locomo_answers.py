"""Answers and grades of all of LoCoMo without a model: what they cost, and the F1 they give.

    .venv/bin/python benchmarks/locomo_answers.py --locomo locomo10.json

Needs `pip install '.[nltk]'` for the peer: the published scoring restated with nltk, one answer
after the other, over the same answers. `start` is a program that imports pyarrow and ends.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from measure import UNITS, cells, cost, memruler, print_machine, table

PEER = """
import json, re, string, sys
from collections import Counter
from pathlib import Path
import pyarrow.parquet as pq
from nltk.stem import PorterStemmer
run, name, out = map(Path, sys.argv[1:])
stem = PorterStemmer().stem
def words(text):
    text = text.replace(",", "").lower()
    text = "".join(c for c in text if c not in string.punctuation)
    return [stem(w) for w in re.sub(r"\\b(a|an|the|and)\\b", " ", text).split()]
def f1(said, gold):
    said, gold = words(said), words(gold)
    same = sum((Counter(said) & Counter(gold)).values())
    return 2 * same / (len(said) + len(gold)) if same else 0.0
queries = pq.read_table(run / "queries.parquet", columns=["category", "answer"]).to_pylist()
said = pq.read_table(run / "answers" / name / "answers.parquet", columns=["text"]).to_pylist()
found = {}
for query, answer in zip(queries, said, strict=True):
    text, gold, kind = answer["text"], query["answer"] or "", query["category"]
    if kind == "adversarial":
        low = text.lower()
        score = float("not mentioned" in low or "no information available" in low)
    elif kind == "multi-hop":
        parts = [p.strip() for p in text.split(",")]
        wanted = [p.strip() for p in gold.split(",")]
        score = sum(max(f1(p, one) for p in parts) for one in wanted) / len(wanted)
    else:
        score = f1(text, gold.split(";")[0].strip() if kind == "open-domain" else gold)
    found.setdefault(kind, []).append(score)
means = {kind: sum(scores) / len(scores) for kind, scores in sorted(found.items())}
out.write_text(json.dumps(means))
"""


def main() -> None:
    """Measure a run, answer and grade it, and print costs and the official F1 by category."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--locomo", type=Path, required=True, help="the file locomo10.json")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    program = memruler()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        words: list[str | Path] = [program, "retrieval", "locomo", "--path", options.locomo]
        words += ["--set", "text.date=true", "--out", scratch, "--stem", "run"]
        run, means = scratch / "run", scratch / "means.json"
        print_machine()
        rows = [["retrieval", *cells(cost(words))]]
        grade: list[str | Path] = [program, "grade", run, "--grader", "locomo:official-nltk"]
        for _ in range(options.rounds):
            rows += [
                ["start", *cells(cost([sys.executable, "-c", "import pyarrow.parquet"]))],
                ["answer", *cells(cost([program, "answer", run]))],
                ["grade", *cells(cost(grade))],
                ["peer", *cells(cost([sys.executable, "-c", PEER, run, "extractive", means]))],
            ]
        print(table(["step", *UNITS], rows))
        graded = run / "answers" / "extractive" / "grades" / "locomo-official-nltk"
        slices = json.loads((graded / "summary.json").read_text())["slices"]
        peer = json.loads(means.read_text())
        for one in slices:
            name, mean = str(one["name"]), one["mean"]
            print(f"{name:12} {mean:.10f} {peer.get(name, mean):.10f} over {one['scored']}")


if __name__ == "__main__":
    main()
