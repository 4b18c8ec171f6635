"""What recency decay and score rounding each do to retrieval: six arms over LoCoMo.

    .venv/bin/python benchmarks/decay_by_rounding.py --locomo PATH

`builtin:episodic` without MMR and without duplicate refusal, on each timeline, with the score
rounded to four decimals before sorting and unrounded. Everything here is exact: no arm is a draw.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from measure import memruler, table

PLAIN = ("mmr=false", "dedup_prefix=false", "dedup_cosine=none")
TIMELINES = ("now", "anchored", "literal")
ROUNDING = ("4", "none")


def arm(locomo: Path, out: Path, timeline: str, digits: str) -> Any:
    """The summary of one run."""
    stem = f"{timeline}-{digits}"
    words = [str(memruler()), "retrieval", "locomo", "--path", str(locomo)]
    words += ["--system", "builtin:episodic", "--timeline", timeline, "--limit", "20"]
    for setting in (*PLAIN, f"round_digits={digits}"):
        words += ["--set", setting]
    subprocess.run([*words, "--out", str(out), "--stem", stem], check=True, capture_output=True)
    return json.loads((out / stem / "summary.json").read_bytes())


def row(timeline: str, digits: str, summary: Any) -> list[str]:
    """Means with their denominators; `-` where no query's list is that long."""
    means = {(c["level"], c["k"]): c for c in summary["slices"][0]["cutoffs"]}
    of = summary["population"]["measured"]

    def mean(level: str, k: int) -> str:
        cutoff = means.get((level, k))
        return f"{cutoff['values']['recall_all']:.4f}" if cutoff else "-"

    seen = [means.get(("session", k), {"counted": 0})["counted"] for k in (5, 10)]
    rounded = "unrounded" if digits == "none" else f"{digits} decimals"
    return [
        timeline,
        rounded,
        *(mean("session", k) for k in (1, 3, 5, 10)),
        mean("turn", 5),
        *(f"{number}/{of}" for number in seen),
    ]


def main() -> None:
    """Run the six arms and print their table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--locomo", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row(timeline, digits, arm(options.locomo, Path(folder), timeline, digits))
            for timeline in TIMELINES
            for digits in ROUNDING
        ]
    head = ["timeline", "score", *(f"session @{k}" for k in (1, 3, 5, 10)), "turn @5"]
    print(table([*head, ">= 5 sessions", ">= 10 sessions"], rows))


if __name__ == "__main__":
    main()
