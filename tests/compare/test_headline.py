import pytest

from memruler.compare.headline import choose_headline, headline_cell
from memruler.compare.record import Reason
from memruler.errors import UsageError

CELLS = [("session", 1), ("session", 5), ("session", 10), ("turn", 5), ("turn", 20)]


def test_five_at_the_session_level_decides():
    assert headline_cell(CELLS) == ("session", 5)
    assert str(choose_headline(None, CELLS)) == "recall_all@5"


def test_without_a_five_the_deepest_decides():
    assert headline_cell([("session", 1), ("session", 3), ("turn", 5)]) == ("session", 3)


def test_without_sessions_the_turn_level_decides():
    assert headline_cell([("turn", 20), ("turn", 5)]) == ("turn", 5)


def test_a_metric_can_be_asked_for_where_it_is_compared():
    assert str(choose_headline("ndcg@10", CELLS)) == "ndcg@10"
    found = choose_headline("ndcg@20", CELLS)  # compared for turns only
    assert isinstance(found, Reason)
    assert found.code == "metric"
    assert "--metric ndcg@5" in found.hint


def test_no_cut_off_means_no_headline():
    assert isinstance(choose_headline(None, []), Reason)


@pytest.mark.parametrize("asked", ["recal_all@5", "recall_all", "recall_all@0", "recall_pooled@5"])
def test_what_no_query_can_have_is_a_usage_error(asked):
    with pytest.raises(UsageError):
        choose_headline(asked, CELLS)
