"""Small files of rankings and targets."""

import gzip
import json
from pathlib import Path

import pytest

RANKED = [
    {"query_id": "q1", "category": "one", "cluster": "talk", "ranked": ["a", "x", "fa"]},
    {"query_id": "q2", "category": "two", "cluster": "talk", "ranked": ["x", "b"]},
    {"query_id": "q3", "category": "one", "cluster": "other", "ranked": []},
]
MAPPING = [
    {
        "query_id": "q1",
        "groups": [
            {"anchor": 4, "raw": ["a"], "canonical": ["fa", "fb"]},
            {"anchor": "b", "raw": ["b"], "canonical": []},
        ],
    },
    {"query_id": "q2", "groups": [{"anchor": 1, "raw": ["b"], "canonical": ["fb"]}]},
    {"query_id": "q3", "groups": [{"anchor": 1, "raw": ["a"]}]},
]


def lines_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def put(tmp_path):
    """Write rows (or bytes) as a file of lines."""

    def write(name: str, rows) -> Path:
        data = rows if isinstance(rows, bytes) else lines_of(rows)
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def ranked_rows():
    return json.loads(json.dumps(RANKED))


@pytest.fixture
def mapping_rows():
    return json.loads(json.dumps(MAPPING))


@pytest.fixture
def hit_rows(ranked_rows):
    """The same rankings, one hit a line; a query without hits has none."""
    return [
        {
            "query_id": row["query_id"],
            "retrieved_id": item,
            "rank": rank,
            "score": rank / 10,
            "category": row["category"],
            "cluster": row["cluster"],
        }
        for row in ranked_rows
        for rank, item in enumerate(row["ranked"], 1)
    ]
