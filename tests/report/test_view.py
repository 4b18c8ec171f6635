from memruler.report.view import ceilings, floors


def test_a_ceiling_stands_where_gold_exceeds_the_window(make_document):
    summary = make_document().summary
    # One of four queries has two gold ids.
    assert ceilings(summary, "session") == {1: 3 / 4}
    assert ceilings(summary, "turn") == {1: 3 / 4}


def test_a_ceiling_is_over_the_counted_queries(make_document, queries_a):
    short = (*queries_a[:2], queries_a[2]._replace(gold=4), queries_a[3]._replace(session=".."))
    summary = make_document((*short, queries_a[4])).summary
    assert ceilings(summary, "session") == {1: 3 / 4, 3: 2 / 3}


def test_a_floor_counts_short_lists_as_misses(make_document, queries_a):
    short = (
        queries_a[0]._replace(session=".x"),
        *queries_a[1:3],
        queries_a[3]._replace(session=""),
    )
    summary = make_document((*short, queries_a[4])).summary
    # All of 4 measured; the list that ends at 2 keeps its hit at 3 and 5.
    assert floors(summary, "session") == {1: 1 / 4, 3: 2 / 4, 5: 3 / 4}
    assert floors(summary, "turn") == {}


def test_without_any_cut_off_there_is_neither(make_document, queries_a):
    summary = make_document(tuple(q._replace(session="", turn="") for q in queries_a)).summary
    assert ceilings(summary, "session") == floors(summary, "session") == {}
