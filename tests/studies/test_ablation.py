import shutil

import msgspec
import pytest

from memruler.compare.refusal import Incomparable
from memruler.errors import FormatError, Interrupted, Refusal, UsageError
from memruler.report.write import write_report
from memruler.store.folder import RunFolder
from memruler.studies import cell_run
from memruler.studies.ablation import ablate
from memruler.studies.ablation_read import read_spec

SPEC = """
out = "runs"
system = "builtin:dense"
limit = 5
metrics = [{ level = "turn", metric = "recall_all@5" }, { level = "turn", metric = "mrr@1" }]
[corpus]
name = "synthetic"
instances = 1
[settings]
embedder = "toy"
[factors.rounding]
off = { round_digits = "none" }
on = { round_digits = 1 }
[factors.speaker]
off = { text.speaker = false }
on = { text.speaker = true }
"""
FOLDERS = ["all-off", "rounding", "speaker", "rounding+speaker"]


def run(folder, text=SPEC, tick=lambda *_: None):
    (folder / "spec.toml").write_text(text, encoding="utf-8")
    spec = read_spec(folder / "spec.toml")
    return ablate(spec, folder, folder / spec.out, report=write_report, tick=tick)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ablation")
    return folder, run(folder)


def started(folder):
    return {
        path.name: msgspec.json.decode((path / "manifest.json").read_bytes())["started"]
        for path in (folder / "runs").iterdir()
    }


def test_every_cell_is_a_finished_run(finished):
    folder, found = finished
    assert [cell.folder for cell in found.cells] == FOLDERS
    assert all((folder / "runs" / name / "report.json").exists() for name in FOLDERS)
    one = found.attributions[0]
    summary = msgspec.json.decode((folder / "runs" / "speaker" / "summary.json").read_bytes())
    (cutoff,) = (c for c in summary["slices"][0]["cutoffs"] if (c["level"], c["k"]) == ("turn", 5))
    assert one.values[2] == pytest.approx(cutoff["values"]["recall_all"], abs=1e-15)
    assert sum(f.share for f in one.factors) == pytest.approx(one.total.delta, abs=1e-15)
    assert found.degraded  # the toy embedder
    assert all(cell.embedded == found.cells[0].embedded > 0 for cell in found.cells)


def test_finished_cells_are_kept_and_give_the_same(finished, copied):
    before = started(copied)
    assert run(copied) == finished[1]
    assert started(copied) == before


def test_another_metric_measures_nothing_anew(copied):
    before = started(copied)
    found = run(copied, SPEC.replace("recall_all@5", "ndcg@3"))
    assert [one.metric for one in found.attributions] == ["ndcg", "mrr"]
    assert started(copied) == before
    # The depth of the first call is still there.
    found = run(copied)
    assert found.attributions[0].k == 5


def test_an_interrupted_ablation_goes_on(copied, finished):
    shutil.rmtree(copied / "runs" / "speaker")
    before = started(copied)

    def stop(phase, *_):
        if phase == "determinism":
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="repeat the same command"):
        run(copied, tick=stop)
    assert run(copied) == finished[1]
    after = started(copied)
    assert {name: after[name] for name in before} == before


def test_cells_of_another_spec_are_refused(copied):
    with pytest.raises(UsageError, match=r"cell all-off: .* another retrieval") as caught:
        run(copied, SPEC.replace("limit = 5", "limit = 6"))
    assert "remove the folder all-off" in caught.value.hint
    assert "--stem" not in caught.value.hint


@pytest.mark.parametrize("name", ["trace.parquet", "scores.parquet"])
def test_a_damaged_cell_is_refused(copied, name):
    path = copied / "runs" / "rounding" / name
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(FormatError):
        run(copied)


def test_a_damaged_summary_is_refused(copied):
    (copied / "runs" / "rounding" / "summary.json").write_text("{", encoding="utf-8")
    with pytest.raises(FormatError, match="cell rounding: summary") as caught:
        run(copied)
    assert "remove the folder rounding" in caught.value.hint


def test_a_folder_of_something_else_is_refused(copied):
    shutil.rmtree(copied / "runs" / "all-off")
    (copied / "runs" / "all-off").mkdir()
    (copied / "runs" / "all-off" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="holds no run"):
        run(copied)
    assert (copied / "runs" / "all-off" / "notes.txt").read_text(encoding="utf-8") == "mine"


def change(folder, name, edit):
    with RunFolder.claim(folder / "runs", name) as claimed:
        claimed.write_manifest(edit(claimed.manifest()))


@pytest.fixture
def trusting(monkeypatch):
    """Keep whatever is finished: the comparison itself must see what is wrong with it."""
    monkeypatch.setattr(cell_run, "require_same_run", lambda *_: None)


@pytest.mark.usefixtures("trusting")
def test_a_cell_that_is_a_draw_is_refused(copied):
    def draw(manifest):
        measured = msgspec.structs.replace(manifest.determinism, identical=0)
        return msgspec.structs.replace(manifest, determinism=measured)

    change(copied, "speaker", draw)
    with pytest.raises(Incomparable, match="the candidate is not deterministic"):
        run(copied)


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize(
    ("part", "code"), [("retrieval", "undeclared"), ("corpus", "corpus"), ("ruler", "ruler")]
)
def test_a_cell_that_differs_in_something_else_is_refused(copied, part, code):
    def other(manifest):
        changed = {**manifest.fingerprint[part], "extra": 1}
        return msgspec.structs.replace(
            manifest, fingerprint={**manifest.fingerprint, part: changed}
        )

    change(copied, "speaker", other)
    with pytest.raises(Incomparable) as caught:
        run(copied)
    assert [reason.code for reason in caught.value.record.reasons] == [code]
    assert "--changed" not in caught.value.hint


@pytest.mark.usefixtures("trusting")
def test_a_factor_that_changes_nothing_is_refused(copied):
    def same(manifest):
        parts = manifest.fingerprint
        off = {**parts["ingest"], "text": {**parts["ingest"]["text"], "speaker": False}}
        return msgspec.structs.replace(manifest, fingerprint={**parts, "ingest": off})

    change(copied, "speaker", same)
    with pytest.raises(Incomparable, match="speaker was declared") as caught:
        run(copied)
    assert "give the factor settings that differ" in caught.value.hint


@pytest.mark.usefixtures("trusting")
def test_cells_measured_with_other_packages_carry_a_note(copied):
    change(copied, "speaker", lambda m: msgspec.structs.replace(m, packages={"numpy": "1"}))
    assert "the cells were not all measured with the same packages" in run(copied).notes


def test_uneven_metrics_are_refused_together(copied):
    text = SPEC.replace(
        "metrics = [",
        'metrics = [{ level = "session", metric = "mrr@5" },'
        '{ level = "session", metric = "recall_all@5" },',
    )
    with pytest.raises(Refusal) as caught:
        run(copied, text)
    assert [reason.partition(":")[0] for reason in caught.value.reasons] == [
        "session mrr@5",
        "session recall_all@5",
    ]


def test_a_corpus_without_a_measurable_query_is_refused_before_anything_is_written(tmp_path):
    text = SPEC.replace('"synthetic"', '"jsonl"\npath = "none.jsonl"')
    with pytest.raises(Exception, match="no such file"):
        run(tmp_path, text)
    assert not (tmp_path / "runs").exists()
