import msgspec
import pytest

from memruler.replay.run import measure
from memruler.report.figures.record import Missing
from memruler.report.figures.target_slopes import target_slopes
from memruler.report.write import write_report
from memruler.scoring.score import score
from memruler.store.folder import RunFolder
from memruler.systems.registry import open_system

METRICS = ("recall_any", "recall_micro", "recall_all", "ndcg")


@pytest.fixture
def reported(tmp_path, make_plan, make_instance):
    def build(name, **settings):
        system = open_system(name, settings).system
        plan = make_plan(system, [make_instance(0), make_instance(1)], limit=9)
        with RunFolder.claim(tmp_path, f"{name}{len(settings)}".replace(":", "-")) as folder:
            measure(plan, folder, lambda *_: None)
            score(folder, (1, 3, 9))
            return write_report(folder)

    return build


def test_numbers_are_those_of_the_report(reported, marks):
    document = reported("builtin:derived", facts="1")
    figure = target_slopes([document])
    scores = document.targets.scores
    # 5 was not asked for, so it is the deepest.
    told = [row[1:] for row in figure.table[1:]]
    expected = [
        [
            one.target,
            "9",
            *(f"{getattr(depth, metric):.4f}" for metric in METRICS),
            str(scores.shared),
        ]
        for one in scores.targets
        for depth in one.shared.depths
        if depth.k == 9
    ]
    assert told == expected
    assert [row[0] for row in told] == ["raw", "source", "canonical"]
    for at, metric in enumerate(METRICS, 1):
        heights = [1 - y / 240 for fill, _, _, y in marks(figure) if fill == f"var(--series-{at})"]
        values = [getattr(o.shared.depths[-1], metric) for o in scores.targets]
        assert heights == pytest.approx(values, abs=1e-4)
    assert f"{scores.shared} of {scores.counted} queries" in figure.caption


def test_a_run_of_what_was_said_has_none(reported):
    document = reported("builtin:lexical")
    assert document.targets is None
    assert target_slopes([document]) is None
    assert target_slopes([]) is None


def test_targets_that_serve_nothing(reported):
    document = reported("builtin:derived", facts="1")
    bare = [
        msgspec.structs.replace(
            one, shared=msgspec.structs.replace(one.shared, queries=0, depths=())
        )
        for one in document.targets.scores.targets
    ]
    part = msgspec.structs.replace(
        document.targets,
        scores=msgspec.structs.replace(document.targets.scores, shared=0, targets=tuple(bare)),
    )
    found = target_slopes([msgspec.structs.replace(document, targets=part)])
    assert isinstance(found, Missing)
    assert "two targets" in found.reason
