import msgspec
from hypothesis import given
from hypothesis import strategies as st

from memruler.replay.run import measure
from memruler.scoring.score import score
from memruler.scoring.slices import slice_name
from memruler.store.folder import RunFolder

NAMES = st.text(max_size=12) | st.integers(0, 4).map(lambda n: "category " * n + "all")


@given(st.sets(NAMES))
def test_no_two_categories_share_a_slice_and_none_takes_that_of_all(names):
    slices = {slice_name(name) for name in names}
    assert len(slices) == len(names)
    assert "all" not in slices


def test_other_categories_keep_their_name():
    assert slice_name("multi-hop") == "multi-hop"
    assert slice_name("overall") == "overall"
    assert slice_name("all") == "category all"


def test_a_category_named_all_gets_a_slice_beside_that_of_every_query(
    tmp_path, make_plan, make_instance, word_system
):
    made = make_instance(0)
    queries = tuple(
        msgspec.structs.replace(q, category="all") if q.category == "even" else q
        for q in made.queries
    )
    plan = make_plan(word_system, [msgspec.structs.replace(made, queries=queries)])
    with RunFolder.claim(tmp_path, "run") as folder:
        measure(plan, folder, lambda *_: None)
        summary = score(folder, (1,))
    assert [(part.name, part.queries) for part in summary.slices] == [
        ("all", 3),
        ("category all", 2),
        ("odd", 1),
    ]
    assert summary.macro[0].categories == 2
