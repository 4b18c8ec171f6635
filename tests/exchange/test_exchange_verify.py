import hashlib
import json

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memruler.errors import FormatError, InstrumentError
from memruler.exchange.bundle_record import BundleManifest
from memruler.exchange.export import export
from memruler.exchange.fixtures import fixtures
from memruler.exchange.read import read_traced
from memruler.exchange.verify import verify
from memruler.scoring.traced import score_traced

CASE = (
    b'[{"name":"n","rule":"anchor","ranking":["a"],"anchors":[[{"items":["a","b"]}]],"k":1,'
    b'"expected":%s,"working":""}]'
)


@pytest.fixture
def bundle(tmp_path, put, ranked_rows, mapping_rows):
    traced = read_traced(
        put("t.jsonl", ranked_rows), put("m", mapping_rows), ["raw", "source", "canonical"]
    )
    export(score_traced(traced, (1, 3), "anchor"), None, "bundle", tmp_path / "out")
    return tmp_path / "out"


def _alter(bundle, name, change):
    """Change a file and its checksum, as somebody does who wants another number."""
    path = bundle / name
    change(path)
    manifest = json.loads((bundle / "MANIFEST.json").read_text())
    for file in manifest["files"]:
        if file["path"] == name:
            data = path.read_bytes()
            file |= {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    (bundle / "MANIFEST.json").write_text(json.dumps(manifest))


def _failed(found):
    return [check.name for check in found.checks if check.passed is False]


def test_a_sound_bundle_verifies(bundle):
    found = verify(bundle)
    assert found.passed
    assert [check.name for check in found.checks] == [
        "checksums",
        "files",
        "scores",
        "summary",
        "manifest",
        "fixtures",
    ]
    manifest = msgspec.json.decode((bundle / "MANIFEST.json").read_bytes(), type=BundleManifest)
    assert (manifest.targets, manifest.cutoffs) == (("raw", "source", "canonical"), (1, 3))
    assert (manifest.queries, manifest.rankings, manifest.level) == (3, 3, "turn")
    assert {file.path for file in manifest.files} == {
        path.relative_to(bundle).as_posix()
        for path in bundle.rglob("*")
        if path.is_file() and path.name != "MANIFEST.json"
    }


@pytest.mark.parametrize("name", ["trace.parquet", "README.md", "fixtures/credit.json"])
def test_one_changed_byte_shows(bundle, name):
    data = bytearray((bundle / name).read_bytes())
    data[len(data) // 2] ^= 1
    (bundle / name).write_bytes(data)
    found = verify(bundle)
    assert _failed(found) == ["checksums"]
    assert name in found.checks[0].what
    assert [check.passed for check in found.checks[2:]] == [None] * 4


def test_a_missing_file_and_a_link_show(bundle, tmp_path):
    (bundle / "README.md").rename(tmp_path / "elsewhere")
    assert _failed(verify(bundle)) == ["checksums"]
    (bundle / "README.md").symlink_to(tmp_path / "elsewhere")
    assert _failed(verify(bundle)) == ["checksums"]


def test_a_file_that_nobody_vouches_for_shows(bundle):
    (bundle / "fixtures" / "more.json").write_text("{}")
    found = verify(bundle)
    assert _failed(found) == ["files"]
    assert "fixtures/more.json" in found.checks[1].what


def test_the_smallest_difference_of_a_value_shows(bundle):
    def nudge(path):
        table = pq.read_table(path)
        at = table.schema.get_field_index("ndcg@3")
        values = table.column("ndcg@3").to_pylist()
        first = next(n for n, value in enumerate(values) if value)
        values[first] = values[first] * (1 + 2**-52)
        pq.write_table(table.set_column(at, "ndcg@3", pa.array(values)), path)

    _alter(bundle, "scores.parquet", nudge)
    found = verify(bundle)
    assert _failed(found) == ["scores"]
    assert found.checks[2].what == "values differ in ndcg@3"


def test_rankings_that_were_improved_show(bundle):
    def better(path):
        table = pq.read_table(path)
        rows = table.to_pylist()
        rows[1]["ranked"].reverse()
        pq.write_table(pa.Table.from_pylist(rows, table.schema), path)

    _alter(bundle, "trace.parquet", better)
    assert _failed(verify(bundle)) == ["scores", "summary"]


def test_a_rounded_mean_shows(bundle):
    def rounded(path):
        text = json.loads(path.read_text())
        text["targets"][0]["depths"][0]["ndcg"] = 0.5
        path.write_text(json.dumps(text))

    _alter(bundle, "summary.json", rounded)
    assert _failed(verify(bundle)) == ["summary"]


def test_fixtures_are_worked_out_anew(bundle):
    def other(path):
        cases = json.loads(path.read_text())
        cases[6]["expected"]["ndcg"] = 1.0
        path.write_text(json.dumps(cases))

    _alter(bundle, "fixtures/credit.json", other)
    found = verify(bundle)
    assert _failed(found) == ["fixtures"]
    assert "under 1" in found.checks[5].what


@pytest.mark.parametrize(
    "text",
    [
        b"[]",
        b"not json",
        b'[{"name":"n","rule":"anchor","ranking":[],"anchors":[],"k":1,"expected":{},"working":""}]',
        CASE % b"{}",
        CASE.replace(b"anchor", b"id", 1) % b'{"ndcg":1.0}',
        b"[" * 100_000,
    ],
)
def test_fixtures_that_make_no_sense_do_not_pass(bundle, text):
    _alter(bundle, "fixtures/credit.json", lambda path: path.write_bytes(text))
    assert _failed(verify(bundle)) == ["fixtures"]


@pytest.mark.parametrize("name", ["trace.parquet", "targets.parquet", "scores.parquet"])
def test_tables_that_are_none_do_not_pass(bundle, name):
    _alter(bundle, name, lambda path: path.write_bytes(b"PAR1 nothing of the kind PAR1"))
    assert "scores" in _failed(verify(bundle))


@pytest.mark.parametrize(
    "name",
    ["../out/README.md", "/etc/passwd", "a/../README.md", "C:/x", "a\\b", "", ".", "./README.md"],
)
def test_a_path_that_leaves_the_folder_is_refused(bundle, name):
    manifest = json.loads((bundle / "MANIFEST.json").read_text())
    manifest["files"].append({"path": name, "sha256": "0" * 64, "bytes": 0})
    (bundle / "MANIFEST.json").write_text(json.dumps(manifest))
    with pytest.raises(FormatError, match="outside of the bundle"):
        verify(bundle)


def test_a_folder_that_is_a_link_inside_is_not_followed(bundle, tmp_path):
    (bundle / "fixtures").rename(tmp_path / "moved")
    (bundle / "fixtures").symlink_to(tmp_path / "moved")
    assert "checksums" in _failed(verify(bundle))


def test_a_newer_schema_is_refused(bundle):
    manifest = json.loads((bundle / "MANIFEST.json").read_text())
    manifest = {"schema_version": 2, "files": manifest["files"]}
    (bundle / "MANIFEST.json").write_text(json.dumps(manifest))
    with pytest.raises(FormatError, match="schema version 2, this memruler knows 1"):
        verify(bundle)


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"[1]", b"\xff", b"{" * 100_000, b'{"schema_version": 1}']
)
def test_a_manifest_that_is_none_is_refused(bundle, text):
    (bundle / "MANIFEST.json").write_bytes(text)
    with pytest.raises(FormatError, match="manifest cannot be read"):
        verify(bundle)


def test_a_manifest_that_leaves_out_the_scores_is_refused(bundle):
    manifest = json.loads((bundle / "MANIFEST.json").read_text())
    manifest["files"] = [one for one in manifest["files"] if one["path"] != "scores.parquet"]
    (bundle / "MANIFEST.json").write_text(json.dumps(manifest))
    with pytest.raises(FormatError, match=r"lacks scores\.parquet"):
        verify(bundle)


@pytest.mark.parametrize(
    ("field", "value"),
    [("cutoffs", []), ("cutoffs", [3, 1]), ("cutoffs", [0]), ("targets", ["no"])],
)
def test_settings_that_cannot_be_scored_do_not_pass(bundle, field, value):
    manifest = json.loads((bundle / "MANIFEST.json").read_text())
    manifest[field] = value
    (bundle / "MANIFEST.json").write_text(json.dumps(manifest))
    assert "scores" in _failed(verify(bundle))


@pytest.mark.parametrize(
    ("field", "value"), [("queries", 4), ("rankings", 2), ("anchored", False), ("rule", "id")]
)
def test_a_manifest_that_counts_wrong_shows(bundle, field, value):
    manifest = json.loads((bundle / "MANIFEST.json").read_text())
    manifest[field] = value
    (bundle / "MANIFEST.json").write_text(json.dumps(manifest))
    assert "scores" in _failed(verify(bundle)) or _failed(verify(bundle)) == ["manifest"]


def test_no_bundle_is_told(tmp_path):
    with pytest.raises(FormatError, match="not a bundle"):
        verify(tmp_path)
    with pytest.raises(FormatError, match="not a bundle"):
        verify(tmp_path / "nothing")


def test_the_fixtures_are_what_a_hand_works_out():
    cases = {case.name: case.expected for case in fixtures()}
    shared = cases["one item of two anchors gains once: a perfect list is under 1"]
    assert shared["ndcg"] == pytest.approx(0.613147, abs=1e-6)
    assert (shared["recall_micro"], shared["found"]) == (1.0, 2.0)
    assert cases["the same under the corrected rule"]["ndcg"] == 1.0
    assert cases["the only anchor second"]["ndcg"] == pytest.approx(0.63092975)
    partial = cases["a partial support"]
    assert partial["ndcg"] == pytest.approx(0.5 + 0.5 * 0.63092975)
    assert (partial["mrr"], partial["recall_any"]) == (0.5, 1.0)
    assert cases["two items that support only together"]["mrr"] == pytest.approx(1 / 3)
    assert cases["a cut-off before the anchor"]["recall_any"] == 0.0


def test_scores_that_change_on_the_way_are_not_packed(tmp_path, put, ranked_rows, mapping_rows):
    traced = read_traced(put("t.jsonl", ranked_rows), put("m", mapping_rows), ["raw"])
    scored = score_traced(traced, (3,), "anchor")
    scored.by_target["raw"].values["ndcg", 3][0] += 2**-52
    with pytest.raises(InstrumentError, match="ndcg@3 under raw changes"):
        export(scored, None, "bundle", tmp_path / "out")
    assert not (tmp_path / "out").exists()
