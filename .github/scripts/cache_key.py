"""Names the cache of a baseline's embedder by the model's content, as a step's output `key`.

Usage: cache_key.py BASELINE

A changed model has another key, so that vectors of the old one are never brought back for it. The
cache itself is keyed by content once more: a key that lies costs time, never a number.
"""  # noqa: INP001 - a script

import hashlib
import json
import os
import sys
from pathlib import Path


def key(baseline: Path) -> str:
    """The key of the embedder that the accepted baseline was measured with; `none` without one."""
    try:
        header = json.loads((baseline / "baseline.json").read_bytes())
        embedder = header["manifest"]["fingerprint"]["embedder"]
    except (OSError, ValueError, KeyError, TypeError):
        return "none"  # whatever is wrong with the baseline, the check says it
    return hashlib.sha256(json.dumps(embedder, sort_keys=True).encode()).hexdigest()[:32]


if __name__ == "__main__":
    line = f"key={key(Path(sys.argv[1]))}\n"
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(line)
