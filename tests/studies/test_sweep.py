import re
import shutil

import msgspec
import pytest

from memruler.compare.refusal import Incomparable
from memruler.errors import FormatError, Interrupted, Refusal, UsageError
from memruler.report.write import write_report
from memruler.scoring.from_run import traced_from_run
from memruler.scoring.open_target import open_targets
from memruler.scoring.traced import score_traced
from memruler.store.folder import RunFolder
from memruler.studies import cell_run
from memruler.studies.sweep import sweep
from memruler.studies.sweep_read import read_sweep

SPEC = """
out = "runs"
system = "builtin:derived"
limit = 20
cutoffs = [5, 20]
[corpus]
name = "synthetic"
instances = 1
[sweep]
facts = [0, 3]
"""
FOLDERS = ["facts=0", "facts=3"]


def run(folder, text=SPEC, tick=lambda *_: None):
    (folder / "spec.toml").write_text(text, encoding="utf-8")
    spec = read_sweep(folder / "spec.toml")
    return sweep(spec, folder, folder / spec.out, report=write_report, tick=tick)


def changed(*changes):
    text = SPEC
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    return folder, run(folder)


def started(folder):
    return {
        path.name: msgspec.json.decode((path / "manifest.json").read_bytes())["started"]
        for path in (folder / "runs").iterdir()
    }


def test_every_cell_is_a_finished_run_scored_under_every_target(finished):
    folder, found = finished
    assert [cell.folder for cell in found.cells] == FOLDERS
    assert [cell.values for cell in found.cells] == [{"facts": "0"}, {"facts": "3"}]
    assert all((folder / "runs" / name / "report.json").exists() for name in FOLDERS)
    side = found.sensitivity
    assert (side.systems, side.targets) == (tuple(FOLDERS), ("raw", "source", "canonical"))
    assert (side.metric, side.k, side.rule, side.level) == ("ndcg", 20, "anchor", "turn")
    assert side.headline.choices[0].target == "raw"
    assert found.degraded == ()


def test_the_means_are_those_of_the_run_folders_by_hand(finished):
    folder, found = finished
    targets = open_targets("raw,source,canonical")
    scored = [
        score_traced(traced_from_run(folder / "runs" / name, targets), (5, 20), "anchor")
        for name in FOLDERS
    ]
    both = scored[0].shared() & scored[1].shared()
    assert found.sensitivity.queries == both.sum() > 0
    for choice in found.sensitivity.headline.choices:
        means = {
            name: float(one.by_target[choice.target].values["ndcg", 20][both].mean())
            for name, one in zip(FOLDERS, scored, strict=True)
        }
        assert choice.means == pytest.approx(means, abs=1e-12)
        assert choice.value == max(choice.means.values())
        assert choice.winners == tuple(n for n in FOLDERS if choice.means[n] == choice.value)


def test_the_items_of_a_cell_by_kind(finished):
    none, three = finished[1].cells
    assert "fact" not in none.kinds
    assert three.kinds["fact"] > 0
    assert three.kinds["turn"] == none.kinds["turn"] > 0
    for cell in (none, three):
        assert sum(cell.kinds.values()) == cell.stored


def test_finished_cells_are_kept_and_give_the_same(finished, copied):
    before = started(copied)
    assert run(copied) == finished[1]
    assert started(copied) == before


def test_another_question_measures_nothing_anew(copied, finished):
    before = started(copied)
    found = run(
        copied,
        changed(
            ("cutoffs = [5, 20]", 'cutoffs = [3, 10]\nmetric = "mrr@3"\ncredit = "id"'),
            ("out =", 'targets = ["raw", "kind:fact+summary"]\nlevel = "session"\nout ='),
        ),
    )
    side = found.sensitivity
    assert side.targets == ("raw", "kind:fact+summary")
    assert (side.metric, side.k, side.rule, side.level) == ("mrr", 3, "id", "session")
    assert started(copied) == before
    assert run(copied).sensitivity == finished[1].sensitivity


def test_an_interrupted_sweep_goes_on(copied, finished):
    shutil.rmtree(copied / "runs" / "facts=3")
    before = started(copied)

    def stop(phase, *_):
        if phase == "determinism":
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="repeat the same command"):
        run(copied, tick=stop)
    assert run(copied) == finished[1]
    after = started(copied)
    assert {name: after[name] for name in before} == before


def test_progress_names_every_cell(copied):
    told = []
    run(copied, tick=lambda *words: told.append(words))
    assert told == [
        ("cell facts=0", 0, 2),
        ("cell facts=3", 1, 2),
        ("scoring under every target", 0, 0),
    ]


def test_cells_of_another_spec_are_refused(copied):
    with pytest.raises(UsageError, match=r"cell facts=0: .* another retrieval") as caught:
        run(copied, changed(("limit = 20", "limit = 21")))
    assert "remove the folder facts=0" in caught.value.hint


@pytest.mark.parametrize("name", ["trace.parquet", "lineage.parquet", "scores.parquet"])
def test_a_damaged_cell_is_refused(copied, name):
    path = copied / "runs" / "facts=3" / name
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(FormatError):
        run(copied)


def test_a_wrong_target_is_told_before_anything_is_measured(tmp_path):
    with pytest.raises(UsageError, match="unknown target 'sorce'"):
        run(tmp_path, changed(("out =", 'targets = ["raw", "sorce"]\nout =')))
    assert not (tmp_path / "runs").exists()


def test_a_target_of_ones_own_is_found_beside_the_spec(copied):
    (copied / "mine.py").write_text(
        "class Half:\n"
        "    name = 'half'\n"
        "    def grade(self, form, session, turn):\n"
        "        return 0.5 if form.kind == 'fact' else 1.0\n",
        encoding="utf-8",
    )
    found = run(copied, changed(("out =", 'targets = ["raw", "mine.py:Half"]\nout =')))
    assert found.sensitivity.targets == ("raw", "half")


@pytest.mark.parametrize(
    "pair",
    [
        '"kind:fact+summary", "kind:summary+fact"',
        '"mine.py:Half", "./mine.py:Half"',
    ],
)
def test_two_ways_to_write_one_target_are_one_target(copied, pair):
    """Or the sweep would say that nothing depends on it."""
    (copied / "mine.py").write_text(
        'class Half:\n    name = "half"\n    def grade(self, form, session, turn):\n'
        "        return 0.5\n",
        encoding="utf-8",
    )
    with pytest.raises(UsageError, match="is asked for twice"):
        run(copied, changed(("out =", f"targets = [{pair}]\nout =")))


def test_a_cell_that_another_process_writes_to_is_waited_for(copied):
    """It must not be removed."""
    with (
        RunFolder.claim(copied / "runs", FOLDERS[1]),
        pytest.raises(UsageError, match="another process is writing") as failed,
    ):
        run(copied)
    assert failed.value.hint == "wait for it, or choose another `out`"


def test_queries_that_no_target_serves_everywhere_are_refused(copied):
    with pytest.raises(Refusal, match="is served by every target") as caught:
        run(copied, changed(("out =", 'targets = ["raw", "kind:fact"]\nout =')))
    assert caught.value.exit_code == 4
    assert re.search(r"facts=0: raw serves [1-9]\d*, kind:fact serves 0;", caught.value.reasons[1])
    assert "--target" not in caught.value.hint


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

    change(copied, "facts=3", draw)
    with pytest.raises(Incomparable, match="the candidate is not deterministic"):
        run(copied)


@pytest.mark.usefixtures("trusting")
def test_a_cell_that_differs_in_something_else_is_refused(copied):
    def other(manifest):
        parts = manifest.fingerprint
        deeper = {**parts["retrieval"], "limit": 21}
        return msgspec.structs.replace(manifest, fingerprint={**parts, "retrieval": deeper})

    change(copied, "facts=3", other)
    with pytest.raises(Incomparable, match=r"retrieval\.limit differs") as caught:
        run(copied)
    assert "only what the spec sets apart may differ" in caught.value.hint


@pytest.mark.usefixtures("trusting")
def test_cells_that_are_the_same_are_refused(copied):
    def same(manifest):
        parts = manifest.fingerprint
        settings = {**parts["system"]["settings"], "facts": 0}
        system = {**parts["system"], "settings": settings}
        return msgspec.structs.replace(manifest, fingerprint={**parts, "system": system})

    change(copied, "facts=3", same)
    with pytest.raises(Incomparable, match="facts was declared") as caught:
        run(copied)
    assert "two cells come to the same settings" in caught.value.hint


@pytest.mark.usefixtures("trusting")
def test_cells_measured_with_other_packages_carry_a_note(copied):
    change(copied, "facts=3", lambda m: msgspec.structs.replace(m, packages={"numpy": "1"}))
    assert "the cells were not all measured with the same packages" in run(copied).notes
