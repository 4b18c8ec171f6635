"""A metric's text form is its identity: it prints, parses back, and refuses what it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.metrics import definitions
from memruler.metrics.names import LARGEST_CUTOFF, METRICS, MetricName, parse_cutoffs


@given(st.sampled_from(list(METRICS)), st.integers(1, LARGEST_CUTOFF))
def test_round_trip(metric, k):
    name = MetricName(metric, k)
    assert MetricName.parse(str(name)) == name
    assert str(name) == f"{metric}@{k}"


@given(st.text(max_size=30) | st.from_regex(r"[a-z_]+@\w{1,8}", fullmatch=True))
def test_any_text_is_its_own_form_or_a_usage_error(text):
    try:
        name = MetricName.parse(text)
    except UsageError:
        return
    assert str(name) == text


@pytest.mark.parametrize(
    ("text", "complaint", "hint"),
    [
        ("recal_all@5", "unknown metric 'recal_all'", "did you mean recall_all"),
        ("recall@5", "unknown metric 'recall'", "recall_any"),
        ("NDCG@10", "unknown metric 'NDCG'", "did you mean ndcg?"),
        ("zzz@5", "unknown metric 'zzz'", "known: recall_all, "),
        ("recal_all", "unknown metric 'recal_all'", "did you mean recall_all"),
        ("", "unknown metric ''", "known: "),
        ("@5", "unknown metric ''", "known: "),
        ("ndcg", "no cut-off", "ndcg@5"),
        ("ndcg@", "'' is not a cut-off", "whole number"),
        ("ndcg@0", "'0' is not a cut-off", "from 1"),
        ("ndcg@-1", "'-1' is not a cut-off", "from 1"),
        ("ndcg@05", "'05' is not a cut-off", "whole number"),
        ("ndcg@5.0", "'5.0' is not a cut-off", "whole number"),
        ("ndcg@5@5", "'5@5' is not a cut-off", "whole number"),
        ("ndcg@ 5", "' 5' is not a cut-off", "whole number"),
        ("ndcg@5\n", "is not a cut-off", "whole number"),
        ("ndcg@\u0665", "is not a cut-off", "whole number"),  # an Arabic-Indic five
        ("ndcg@1000001", "'1000001' is not a cut-off", "1000000"),
        ("ndcg@" + "9" * 5000, "is not a cut-off", "1000000"),
    ],
)
def test_what_is_not_a_metric(text, complaint, hint):
    with pytest.raises(UsageError) as caught:
        MetricName.parse(text)
    assert complaint in caught.value.what
    assert hint in caught.value.hint


@pytest.mark.parametrize("k", [0, -1, True, 5.0, LARGEST_CUTOFF + 1])
def test_an_invalid_name_cannot_be_built(k):
    with pytest.raises(UsageError):
        MetricName("ndcg", k)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,3,5,10,20", (1, 3, 5, 10, 20)),
        ("5", (5,)),
        ("20,1,5,1", (1, 5, 20)),
        (" 1 , 3 ", (1, 3)),
    ],
)
def test_cutoffs(text, expected):
    assert parse_cutoffs(text) == expected


@pytest.mark.parametrize("text", ["", ",", "1,", "0", "1,-3", "1;3", "a", "1.5", "9999999", "٣"])
def test_what_is_no_list_of_cutoffs(text):
    with pytest.raises(UsageError, match="is not a cut-off"):
        parse_cutoffs(text)


@given(st.lists(st.integers(1, LARGEST_CUTOFF), min_size=1))
def test_cutoffs_come_out_ascending_and_distinct(ks):
    assert parse_cutoffs(",".join(map(str, ks))) == tuple(sorted(set(ks)))


def test_the_registry_holds_every_definition_under_its_own_name():
    helpers = {"discount", "has_value"}
    assert set(METRICS) == set(definitions.__all__) - helpers
    for name, metric in METRICS.items():
        assert metric.name == name == metric.definition.__name__
        assert metric.description
    assert next(iter(METRICS)) == "recall_all"
    assert [name for name, m in METRICS.items() if m.kind == "pooled"] == ["recall_pooled"]
