"""Every missed item is filed under one stage; the stages by hand, a store for each."""

import pytest

from memruler.errors import FormatError, UsageError
from memruler.model.failures import STAGES
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.scoring.failure_list import failures_of
from memruler.scoring.failures import UNSCORED, file_failures
from memruler.scoring.levels import score_level
from memruler.scoring.load import load
from memruler.store.folder import RunFolder

TURNS = ("a blue car", "the dog barks", "tea at noon", "rain today")


def raw(*turns):
    return [(f"t{turn}", "turn", (turn,), f"Ann: {TURNS[turn]}", None) for turn in turns]


def stage_of(runs, items, ranking, *, gold=(0,), answer="blue", exports=True, **filing):
    """The one query's stage and why, by retrieval alone."""
    one = runs.conversation(0, TURNS, [("Q?", answer, gold, "c")])
    path = runs.run([one], runs.system(items, {"Q?": ranking}, exports=exports))
    found = failures_of(file_failures(path, **filing))
    assert sum(found.all.stages.values()) == found.all.missed == len(found.items)
    return (found.items[0].stage, found.items[0].why) if found.items else None


def test_what_was_found_is_not_missed(failure_runs):
    assert stage_of(failure_runs, raw(0, 1), ["t1", "t0"]) is None


def test_a_refused_turn_is_lost_at_ingest_with_the_stores_reason(failure_runs):
    items = [("t0", "turn", (0,), "Ann: a blue car", "duplicate"), *raw(1)]
    assert stage_of(failure_runs, items, ["t1"]) == ("ingest", "lost: duplicate")


def test_a_turn_that_a_raw_store_does_not_hold_is_lost_at_ingest(failure_runs):
    assert stage_of(failure_runs, raw(1), ["t1"]) == ("ingest", "nothing of it is stored")


def test_an_empty_store_is_lost_at_ingest(failure_runs):
    assert stage_of(failure_runs, [], [])[0] == "ingest"


def test_a_transformed_store_without_a_form_of_it_lost_it_at_extraction(failure_runs):
    items = [("f1", "fact", (1,), "a dog barks", None)]
    assert stage_of(failure_runs, items, ["f1"])[0] == "extraction"


def test_a_form_of_it_in_the_store_is_a_matter_of_ranking(failure_runs):
    items = [("f0", "fact", (0,), "blue", None), ("f1", "fact", (1,), "dog", None)]
    assert stage_of(failure_runs, items, ["f1"])[0] == "ranking"


def test_any_form_counts_as_found(failure_runs):
    items = [*raw(0), ("s", "summary", (0, 1, 2), "in short", None)]
    assert stage_of(failure_runs, items, ["s"]) is None


@pytest.mark.parametrize(
    ("more", "stage"),
    [
        ([], "ranking"),  # nodes alone: no store with edges
        ([("e", "edge", (1, 2), "x", None)], "graph"),
        ([("p", "path", (2,), "x", None)], "graph"),
        ([("e", "edge", (0, 1), "x", None)], "ranking"),  # an edge comes from it
        ([("e", "edge", (1, 2), "x", "evicted")], "ranking"),  # the edge is not there
    ],
)
def test_a_node_that_no_edge_comes_with_is_lost_in_the_graph(failure_runs, more, stage):
    items = [("n0", "node", (0,), "car", None), ("n1", "node", (1,), "dog", None), *more]
    assert stage_of(failure_runs, items, ["n1"])[0] == stage


def test_the_rank_beyond_k_is_told(failure_runs):
    found = stage_of(failure_runs, raw(0, 1, 2), ["t1", "t2", "t0"], k=2)
    assert found == ("ranking", "stored, and at rank 3: k is 2")
    assert stage_of(failure_runs, raw(0, 1), ["t1"]) == (
        "ranking",
        "stored, and not among the hits",
    )


def test_a_store_that_does_not_tell_what_it_holds_leaves_it_open(failure_runs):
    found = stage_of(failure_runs, raw(0, 1), ["t1"], exports=False)
    assert found == ("unknown", "the system does not tell what it stores")


def test_forms_without_a_source_leave_it_open(failure_runs):
    items = [("f1", "fact", (1,), "dog", None), ("x", "fact", (), "who knows", None)]
    found = stage_of(failure_runs, items, ["f1"])
    assert found == ("unknown", "the store holds forms of which no source is known")


@pytest.mark.parametrize(
    ("items", "gold", "stage"),
    [
        # turn 0 was refused, turn 1 is stored: the earliest stage decides.
        ([("t0", "turn", (0,), "x", "full"), *raw(1, 2)], (1, 0), "ingest"),
        # one is found: only the missing one decides.
        ([("t0", "turn", (0,), "x", "full"), *raw(1, 2)], (1, 2), "ranking"),
        # extraction stands before ranking.
        ([("f1", "fact", (1,), "x", None), ("f2", "fact", (2,), "y", None)], (1, 0), "extraction"),
        # what is not known may have been lost before the ranking, and not before the ingest.
        ([("f1", "fact", (1,), "x", None), ("s", "fact", (), "?", None)], (0, 1), "unknown"),
        (
            [
                ("f1", "fact", (1,), "x", "full"),
                ("f2", "fact", (2,), "x", None),
                ("s", "fact", (), "?", None),
            ],
            (0, 1),
            "ingest",
        ),
    ],
)
def test_of_several_missing_turns_the_earliest_stage_decides(failure_runs, items, gold, stage):
    ranking = [name for name, _, turns, _, why in items if why is None and 2 in turns]
    assert stage_of(failure_runs, items, ranking, gold=gold)[0] == stage


def test_where_whole_sessions_are_stored_evidence_is_sessions(failure_runs):
    one = failure_runs.conversation(0, TURNS, [("A?", "b", (0,), "c"), ("B?", "b", (1,), "c")])
    items = [("s0", "session", (0,), "all of it", None), ("s1", "session", (1,), "rest", None)]
    system = failure_runs.system(items, {"A?": ["s1"], "B?": ["s0"]})
    found = failures_of(file_failures(failure_runs.run([one], system, granularity="session")))
    assert (found.level, found.all.scored) == ("session", 2)
    (missed,) = found.items
    assert (missed.id, missed.stage) == ("q0-0", "ranking")
    (part,) = missed.evidence
    assert (part.session, part.turn, part.text) == (0, None, "all of it")


def test_a_deeper_cut_off_than_the_run_is_refused(failure_runs):
    with pytest.raises(UsageError, match="asked for 21 hits"):
        stage_of(failure_runs, raw(0), ["t0"], k=21)


@pytest.fixture
def answered(failure_runs):
    """Files one answered query: what was said, the value, and the store."""

    def build(items, ranking, *, gold=(0,), answer="blue", said="red", value=0.0, **kinds):
        runs = failure_runs
        one = runs.conversation(0, TURNS, [("Q?", answer, gold, "c")])
        exports = kinds.get("exports", True)
        path = runs.run([one], runs.system(items, {"Q?": ranking}, exports=exports))
        runs.answer(path, {"Q?": said}, kind=kinds.get("kind", "extractive"))
        runs.grade(path, {"Q?": value}, metric=kinds.get("metric", "accuracy"))
        return failures_of(
            file_failures(
                path,
                answered=True,
                below=kinds.get("below"),
                corpus=kinds.get("corpus", lambda _: None)(one),
            )
        )

    return build


def only(found):
    (one,) = found.items
    return one.stage


def test_with_the_answer_in_the_context_it_is_the_readers(answered):
    found = answered(raw(0), ["t0"])
    assert only(found) == "reader"
    assert (found.items[0].gold_in_context, found.items[0].answer) == (True, "red")
    assert (found.ruler, found.metric, found.grader) == ("answers", "accuracy", "test:exact")


def test_beyond_what_the_reader_was_given_it_is_the_rankings(answered):
    found = answered(raw(0, 1, 2), ["t1", "t2", "t0"])  # it was given two
    assert only(found) == "ranking"
    assert found.items[0].why == "stored, and at rank 3: k is 2"


FACT = ("f0", "fact", (0,), "she has a car", None)


def test_a_form_without_the_words_that_the_turn_has_is_compression(answered):
    assert only(answered([FACT, *raw(0)], ["f0"])) == "compression"


def test_words_that_stand_nowhere_are_nobodys(answered):
    assert only(answered([FACT, *raw(0)], ["f0"], answer="two wheels")) == "not_verbatim"


def test_evidence_that_is_not_in_the_run_leaves_it_open(answered):
    assert only(answered([FACT], ["f0"])) == "unknown"


class OneInstance:
    def __init__(self, one, sha256="0" * 64):
        self.one = one
        self.info = type("Info", (), {"sha256": sha256, "name": "tiny"})()

    def __iter__(self):
        return iter([self.one])


def test_the_corpus_tells_the_evidence_that_the_run_lacks(answered):
    found = answered([FACT], ["f0"], corpus=OneInstance)
    assert only(found) == "compression"
    assert found.items[0].evidence[0].text == "Ann: a blue car"
    assert only(answered([FACT], ["f0"], answer="wheel", corpus=OneInstance)) == "not_verbatim"


def test_another_corpus_is_refused(answered):
    with pytest.raises(UsageError, match="not the one of the run"):
        answered([FACT], ["f0"], corpus=lambda one: OneInstance(one, "1" * 64))


def test_a_wrong_answer_to_what_has_none_is_the_readers(answered):
    found = answered(raw(0), ["t0"], gold=None, answer=None)
    why = "there is no answer, and the grader saw no refusal"
    assert (only(found), found.items[0].why) == ("reader", why)


def test_an_answer_without_words_cannot_be_looked_for(answered):
    assert only(answered(raw(0), ["t0"], answer=" ?! ")) == "unknown"


def test_a_hit_without_a_text_leaves_it_open_unless_another_has_the_words(answered):
    silent = ("f0", "fact", (0,), None, None)
    found = answered([silent, *raw(1)], ["f0", "t1"], exports=False)
    assert (only(found), found.items[0].why) == ("unknown", "the text of a hit is not known")
    assert found.items[0].gold_in_context is None
    assert only(answered([silent, *raw(0)], ["f0", "t0"], exports=False)) == "reader"


@pytest.mark.parametrize(("fit", "k", "told"), [(1, 2, 1), (None, 2, 0), (1, 1, 0)])
def test_a_full_context_is_not_blamed_on_the_ranking_without_a_word(failure_runs, fit, k, told):
    one = failure_runs.conversation(0, TURNS, [("Q?", "blue", (0,), "c")])
    path = failure_runs.run([one], failure_runs.system(raw(0, 1), {"Q?": ["t1", "t0"]}))
    failure_runs.answer(path, {"Q?": "red"}, k=k, fit=fit)
    failure_runs.grade(path, {"Q?": 0.0})
    found = failures_of(file_failures(path, answered=True))
    notes = [note for note in found.notes if "the context was full" in note]
    assert len(notes) == told
    assert all(note.startswith("ranking holds 1 gold turns") for note in notes)


@pytest.mark.parametrize("kind", ["system", "file"])
def test_where_the_context_is_not_known_the_hits_stand_for_it(answered, kind):
    found = answered(raw(0, 1, 2), ["t1", "t2", "t0"], kind=kind)
    assert only(found) == "reader"
    assert "is not known" in found.notes[0]


@pytest.mark.parametrize(
    ("value", "metric", "below", "missed"),
    [
        (1.0, "accuracy", None, 0),
        (0.0, "accuracy", None, 1),
        ([1.0, 0.0, 1.0], "accuracy", None, 0),
        ([1.0, 0.0], "accuracy", None, 1),  # no majority says right
        ([0.0, None, 1.0, 1.0], "accuracy", None, 0),  # an absent draw is no wrong one
        (0.49, "f1", None, 1),
        (0.5, "f1", None, 0),
        (0.5, "f1", 0.6, 1),
        (0.9, "accuracy", 1.0, 1),
    ],
)
def test_when_an_answer_is_missed(answered, value, metric, below, missed):
    found = answered(raw(0), ["t0"], value=value, metric=metric, below=below)
    assert (found.all.missed, found.all.scored) == (missed, 1)
    if metric == "f1":
        assert found.rule == f"missed: f1 below {below or 0.5:g}, a threshold"


def test_of_several_draws_a_missed_one_is_shown(failure_runs):
    runs = failure_runs
    one = runs.conversation(0, TURNS, [("Q?", "blue", (0,), "c")])
    path = runs.run([one], runs.system(raw(0), {"Q?": ["t0"]}))
    runs.answer(path, {"Q?": ["blue", "red", "green"]})
    runs.grade(path, {("Q?", 0): 1.0, ("Q?", 1): 0.0, ("Q?", 2): 0.0})
    (item,) = failures_of(file_failures(path, answered=True)).items
    assert (item.answer, item.value) == ("red", pytest.approx(1 / 3))


def test_without_a_value_an_item_is_not_missed_and_is_counted(answered):
    found = answered(raw(0), ["t0"], value=None)
    assert (found.all.missed, found.all.scored, found.all.unscored) == (0, 0, {"no judge": 1})
    found = answered(raw(0), ["t0"], said=None, value=None)
    assert found.all.unscored == {"it broke": 1}


def test_answers_without_grades_say_what_to_do(failure_runs):
    runs = failure_runs
    path = runs.run([runs.conversation(0, TURNS, [("Q?", "b", (0,), "c")])], runs.system([], {}))
    with pytest.raises(UsageError, match="memruler answer RUN"):
        file_failures(path, answered=True)
    runs.answer(path, {"Q?": "x"})
    with pytest.raises(UsageError, match="memruler grade RUN"):
        file_failures(path, answered=True)
    runs.grade(path, {"Q?": 1.0})
    runs.grade(path, {"Q?": 1.0}, name="h")
    with pytest.raises(UsageError, match="name one with --grade: g, h"):
        file_failures(path, answered=True)
    with pytest.raises(UsageError, match="no grading i"):
        file_failures(path, answered=True, grade="i")
    assert file_failures(path, answered=True, grade="h").said.grades.name == "h"
    assert "--answers" in file_failures(path).notes[0]


def test_changed_answers_are_refused(failure_runs):
    runs = failure_runs
    path = runs.run([runs.conversation(0, TURNS, [("Q?", "b", (0,), "c")])], runs.system([], {}))
    runs.answer(path, {"Q?": "x"})
    runs.grade(path, {"Q?": 0.0})
    runs.answer(path, {"Q?": "another"})
    with pytest.raises(FormatError, match="changed since"):
        file_failures(path, answered=True)


def test_filters_choose_what_is_listed_and_change_no_count(failure_runs):
    runs = failure_runs
    queries = [("A?", "x", (0,), "c"), ("B?", "x", (1,), "d"), ("C?", "x", (3,), "d")]
    one = runs.conversation(0, TURNS, [*queries, ("D?", "x", None, "e")])
    filed = file_failures(runs.run([one], runs.system(raw(0, 1, 2), {"A?": ["t2"]})))
    found = failures_of(filed)
    assert [(i.id, i.stage) for i in found.items] == [
        ("q0-0", "ranking"),
        ("q0-1", "ranking"),
        ("q0-2", "ingest"),
    ]
    assert [i.id for i in failures_of(filed, stage="ranking").items] == ["q0-0", "q0-1"]
    assert [i.id for i in failures_of(filed, stage="ranking", category="d").items] == ["q0-1"]
    short = failures_of(filed, category="d", limit=1)
    assert (len(short.items), short.selected, short.all) == (1, 2, found.all)
    assert {c.category: (c.missed, c.scored, c.queries) for c in found.categories} == {
        "c": (1, 1, 1),
        "d": (2, 2, 2),
        "e": (0, 0, 1),
    }
    assert found.all.unscored == {"unanswerable_by_design": 1}
    assert set(found.all.stages) == set(STAGES)
    assert RunFolder.open(filed.folder.path).path == filed.folder.path


def test_missed_without_answers_is_what_strict_recall_misses(locomo_path, tmp_path):
    """On two conversations of LoCoMo: what recall_all@k counts as 0, padded."""
    plan = plan_run(PlanSpec(corpus="locomo", path=str(locomo_path), settings={"instances": 2}))
    with RunFolder.claim(tmp_path, "r") as folder:
        measure(plan, folder, lambda *_: None)
        run = load(folder, "raw")
    for k in (1, 5, 20):
        found = file_failures(tmp_path / "r", k=k)
        level = score_level(run, "turn", (k,))
        aggregate = level.matrix.aggregate("recall_all", k, padded=True)
        scored = int((found.state != UNSCORED).sum())
        missed = int((found.state >= 0).sum())
        assert aggregate.value == pytest.approx(1 - missed / scored)
        assert 0 < missed < scored
