import json

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memruler.errors import FormatError, Refusal, SystemUnderTestError
from memruler.model.corpus import Evidence, TurnRef
from memruler.replay.run import measure
from memruler.scoring.score import score
from memruler.scoring.timing import timing
from memruler.store.binding import table_digests
from memruler.store.folder import RunFolder
from memruler.store.tables import write_table


@pytest.fixture
def scored(tmp_path, make_plan, make_instance, word_system):
    """Run and score; `prepare` may change instances and system before."""

    def build(instances=None, cutoffs=(1, 2, 3, 9), system=word_system, **settings):
        plan = make_plan(system, instances or [make_instance(0), make_instance(1)], **settings)
        stem = f"r{len(list(tmp_path.iterdir()))}"
        with RunFolder.claim(tmp_path, stem) as folder:
            measure(plan, folder, lambda *_: None)
            summary = score(folder, cutoffs)
        return summary, RunFolder.open(tmp_path / stem)

    return build


def by_depth(summary, level="session", name="all"):
    part = next(s for s in summary.slices if s.name == name)
    return {c.k: c for c in part.cutoffs if c.level == level}


def test_a_perfect_memory_scores_one_at_every_depth(scored):
    summary, _ = scored()
    for level in ("session", "turn"):
        rows = by_depth(summary, level)
        assert rows[1].values["recall_all"] == rows[3].values["recall_all"] == 1.0
        assert rows[2].values["precision"] == 0.5
        assert rows[1].counted == rows[1].of == 6
        assert rows[1].attainable == 6


def test_a_depth_that_no_list_reaches_is_omitted_with_the_reason(scored):
    summary, _ = scored()
    assert 9 not in by_depth(summary)
    reasons = {(o.level, o.k): o.reason for o in summary.omitted}
    assert reasons["session", 9] == "no query found 9 distinct sessions; the most is 4"


def test_a_query_with_a_short_list_leaves_the_denominator(scored, make_instance):
    short, long = make_instance(0, sessions=2, queries=2), make_instance(1, sessions=5, queries=3)
    summary, folder = scored([short, long])
    rows = by_depth(summary)
    assert (rows[2].counted, rows[3].counted) == (5, 3)
    assert rows[2].members != rows[3].members
    table = pq.read_table(folder.path / "scores.parquet").to_pylist()
    cells = [r["recall_all@3"] for r in table if r["level"] == "session"]
    assert cells == [None, None, 1.0, 1.0, 1.0]


def test_categories_macro_and_micro(scored, make_instance):
    one = make_instance(0)

    moved = (Evidence(rule="labels", status="ok", turns=(TurnRef(3, 0),), sessions=(3,)),)
    # The only odd query's gold is moved to where it will never be ranked first.
    queries = tuple(
        msgspec.structs.replace(q, evidence=moved) if q.category == "odd" else q
        for q in one.queries
    )
    summary, _ = scored([msgspec.structs.replace(one, queries=queries)])
    assert by_depth(summary)[1].values["recall_all"] == pytest.approx(2 / 3)
    assert by_depth(summary, name="odd")[1].values["recall_all"] == 0.0
    macro = next(m for m in summary.macro if (m.level, m.k) == ("session", 1))
    assert macro.categories == 2
    assert macro.values["recall_all"] == 0.5


def test_a_failed_search_is_excluded_with_its_message(scored, word_system):
    def fail(request):
        if request.text == "word1":
            raise SystemUnderTestError("gone")

    word_system.on_search = fail
    summary, folder = scored()
    assert summary.population.excluded == {"search_failed": 2}
    rows = by_depth(summary)
    # Raising must not pay: the failed ones are in no mean, and misses over all.
    assert (rows[1].counted, rows[1].of) == (4, 6)
    assert rows[1].values["recall_all"] == 1.0
    assert rows[1].padded["recall_all"] == pytest.approx(4 / 6)
    assert summary.population.measured == 4
    assert summary.population.members == 6
    assert sum(summary.errors.values()) == 2
    # The failed one is no latency, and the first of the category no sample.
    assert (timing(folder).queries, timing(folder).warmup) == (3, 1)


def test_when_every_search_failed_there_is_no_number(scored, make_instance, word_system):
    def fail(_):
        raise SystemUnderTestError("gone")

    word_system.on_search = fail
    with pytest.raises(Refusal, match="2 queries: search_failed"):
        scored([make_instance(0, queries=2)])


def test_hits_without_a_source_never_score_and_are_counted(scored, word_system):
    opened = word_system.open

    def anonymous(namespace):
        memory = opened(namespace)
        search = memory.search

        def without_source(text, k, at):
            ranking = search(text, k, at)
            return type(ranking)(
                tuple(msgspec.structs.replace(h, sources=None) for h in ranking.hits)
            )

        memory.search = without_source
        return memory

    word_system.open = anonymous
    # A zero would say that the memory missed; nothing is known of what it found.
    with pytest.raises(Refusal, match="none of 24 hits names the turn or session"):
        scored()


def test_a_level_that_no_hit_names_is_left_out(scored, word_system):
    opened = word_system.open

    def by_session(namespace):
        memory = opened(namespace)
        search = memory.search

        def whole_sessions(text, k, at):
            ranking = search(text, k, at)
            return type(ranking)(
                tuple(
                    msgspec.structs.replace(
                        h, sources=tuple(key.partition(".")[0] for key in h.sources)
                    )
                    for h in ranking.hits
                )
            )

        memory.search = whole_sessions
        return memory

    word_system.open = by_session
    summary, _ = scored()
    assert summary.hits.unattributed == {"session": 0, "turn": 24}
    assert {c.level for c in summary.slices[0].cutoffs} == {"session"}
    (gone,) = [o for o in summary.omitted if o.level == "turn"]
    assert gone.k is None
    assert "none of 24 hits names its turn" in gone.reason


def test_session_granularity_has_no_turn_block(scored):
    summary, _ = scored(granularity="session")
    assert {c.level for c in summary.slices[0].cutoffs} == {"session"}
    assert any(o.level == "turn" and o.k is None for o in summary.omitted)


def test_scoring_again_gives_the_same_bytes(scored):
    _, folder = scored()
    names = ("scores.parquet", "summary.json")
    before = [(folder.path / n).read_bytes() for n in names]
    with RunFolder.claim(folder.path.parent, folder.path.name) as again:
        score(again, (1, 2, 3, 9))
    assert before == [(folder.path / n).read_bytes() for n in names]
    assert json.loads(before[1])["population"]["name"] == "answerable"


def test_a_batchless_memory_has_a_latency_for_every_query(scored):
    _, folder = scored()
    measured = timing(folder)
    assert measured.p50_ms is not None
    assert measured.p50_ms <= measured.p95_ms
    assert np.isfinite(measured.mean_ms)
    assert (measured.queries, measured.warmup) == (4, 2)
    assert "the first of each category left out as warm-up: 2" in measured.basis


def test_a_short_list_is_padded_with_misses_over_all(scored, make_instance):
    short, long = make_instance(0, sessions=2, queries=2), make_instance(1, sessions=5, queries=3)
    summary, _ = scored([short, long])
    rows = by_depth(summary)
    # What a short list did find still counts.
    assert rows[3].padded["recall_all"] == 1.0
    assert rows[3].padded["precision"] == pytest.approx(1 / 3)
    assert rows[1].padded == rows[1].values


def test_a_level_without_gold_is_left_out_with_its_reason(scored, make_instance):
    one = make_instance(0)
    turnless = (Evidence(rule="labels", status="ok", sessions=(1,)),)
    queries = tuple(msgspec.structs.replace(q, evidence=turnless) for q in one.queries)
    summary, _ = scored([msgspec.structs.replace(one, queries=queries)])
    assert summary.without_gold == {"turn": 3}
    assert [(o.level, o.k, o.reason) for o in summary.omitted if o.level == "turn"] == [
        ("turn", None, "no measured query has gold at this level")
    ]
    mixed, _ = scored([make_instance(0), msgspec.structs.replace(one, position=1, queries=queries)])
    assert mixed.without_gold == {"turn": 3}
    assert by_depth(mixed, "turn")[1].of == 3


def test_equal_scores_are_counted(scored, word_system):
    opened = word_system.open

    def flat(namespace):
        memory = opened(namespace)
        search = memory.search
        memory.search = lambda text, k, at: type(search(text, k, at))(
            tuple(msgspec.structs.replace(h, score=0.0) for h in search(text, k, at).hits)
        )
        return memory

    assert scored()[0].hits.tied == 0
    word_system.open = flat
    assert scored()[0].hits.tied == 6


def test_context_of_unknown_text_is_no_zero(scored, word_system):
    opened = word_system.open

    def silent(namespace):
        memory = opened(namespace)
        search = memory.search
        memory.search = lambda text, k, at: type(search(text, k, at))(
            tuple(msgspec.structs.replace(h, text=None) for h in search(text, k, at).hits)
        )
        return memory

    word_system.open = silent
    context = scored()[0].context
    assert context.chars_over_4 is None
    assert context.tokens is None
    assert context.queries == 6


@pytest.mark.parametrize("name", ["queries", "lineage", "trace"])
def test_a_table_of_another_run_is_refused(scored, name):
    _, folder = scored()
    _, other = scored(limit=2)
    (folder.path / f"{name}.parquet").write_bytes(
        # The queries of both runs are the same bytes, and rightly pass for one another.
        (other.path / ("trace" if name == "queries" else name)).with_suffix(".parquet").read_bytes()
    )
    with (
        RunFolder.claim(folder.path.parent, folder.path.name) as again,
        pytest.raises(FormatError, match=f"{name}.parquet is not the table"),
    ):
        score(again, (1,))


@pytest.mark.parametrize("row", [-5, 7, 1_000_000])
def test_a_hit_outside_its_instance_is_refused(scored, row):
    _, folder = scored()
    table = pq.read_table(folder.path / "trace.parquet")
    items = [[row, *hits[1:]] for hits in table.column("items").to_pylist()]
    place = table.schema.get_field_index("items")
    table = table.set_column(place, table.field(place), pa.array(items, table.field(place).type))
    with RunFolder.claim(folder.path.parent, folder.path.name) as again:
        write_table(again, "trace", table)
        manifest = again.manifest()
        again.write_manifest(msgspec.structs.replace(manifest, tables=table_digests(again)))
        with pytest.raises(FormatError, match="an item that its instance does not have"):
            score(again, (1,))
