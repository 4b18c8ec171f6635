import io
import json

import jsonschema
import pytest
from rich.console import Console

from memruler.compare.sensitivity import sensitivity
from memruler.compare.target_card import target_card
from memruler.compare.target_scores import target_scores
from memruler.report import targets_words as words
from memruler.report.document import encode
from memruler.report.markdown_targets import card_lines, markdown_targets, score_lines
from memruler.report.schemas import schema
from memruler.report.terminal_target_scores import render_target_scores
from memruler.report.terminal_targets import render_card, render_targets

HOSTILE = "sys\x1b[31m|`<b>[x](y)"
GOLD = {"raw": [[1]], "source": [[1, 2]], "canonical": [[2]]}
BARE = {"raw": [[1]], "source": [[1]], "canonical": [[]]}


def page(render, found):
    out = io.StringIO()
    render(found, Console(file=out, width=80, highlight=False, markup=False, emoji=False))
    text = out.getvalue()
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    return text


def flat(text):
    """The page without its line ends, to look for sentences that wrap."""
    return " ".join(text.split())


@pytest.fixture
def systems(make_scored):
    def queries(*rankings):
        return [
            {"ranking": ranking, "gold": gold, "category": category}
            for ranking, gold, category in zip(
                rankings, (GOLD, GOLD, BARE), ("hop\x07", "one", "one"), strict=True
            )
        ]

    return [
        make_scored(HOSTILE, queries([1, 9, 8, 2], [1, 9, 2, 7], [1, 9])),
        make_scored("facts", queries([2, 9, 1], [2, 9, 8, 1], [9, 1])),
    ]


def test_the_headline_comes_first_and_names_target_and_rule(systems):
    text = page(render_targets, sensitivity(systems))
    first, second = text.splitlines()[:2]
    assert first == "TARGETS: who wins on ndcg@4 depends on the target"
    assert second.startswith("credit rule anchor, level turn, 2 systems; winners over the 2 of 3")
    assert "changed: raw sys\\x1b[31m|`<b>[x](y), source" in flat(text)
    for told in ("target card of", "by query type", "by depth", "r2", "mean over categories"):
        assert told in text


def test_a_page_of_one_system_names_no_winner(systems):
    text = page(render_targets, sensitivity(systems[:1]))
    assert text.startswith("TARGETS: from raw to canonical, nDCG changes on 100.0 % of 2 queries")
    assert "(* wins)" not in text
    assert "who wins" not in text


def test_both_populations_stand_on_the_page_of_scores(systems):
    text = page(render_target_scores, target_scores(systems[0]))
    assert "each target over the queries that it serves" in text
    assert "over the 2 queries that every target serves" in text
    assert "serves 2/3 queries and 2/3 gold anchors with 2 eligible items" in flat(text)
    assert "not scored: 1 no_eligible_item" in flat(text)


def test_equal_populations_are_said_once(make_scored):
    text = page(
        render_target_scores, target_scores(make_scored("s", [{"ranking": [1], "gold": GOLD}]))
    )
    assert "every target serves the same 1 queries" in text
    assert "over the 1 queries that every target serves" not in text


def test_nothing_to_serve_is_a_dash_and_no_number(make_scored):
    text = page(
        render_target_scores, target_scores(make_scored("s", [{"ranking": [1], "gold": BARE}]))
    )
    rows = [line.split() for line in text.splitlines() if line.split()[:2] == ["canonical", "-"]]
    assert rows
    assert all(set(row[1:]) == {"-"} for row in rows)


def test_the_card_stands_alone_too(systems):
    card = target_card(systems[0])
    text = flat(page(render_card, card))
    assert "per anchor (the published rule)" in text
    assert "no credit here was judged" in text
    assert "queries with one: raw 0, source 0, canonical 0" in text


def test_markdown_is_whole_and_harmless(systems):
    found = sensitivity(systems)
    text = markdown_targets(found)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "<b>" not in text.replace("`` sys\\x1b[31m", "")
    for one in found.recommendations:
        assert f"`{words.metric_name(one.metric, one.k)}`" in text
    for card in found.cards:
        for statement in card.statements:
            assert statement.point in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows
    assert all(line.endswith("|") for line in rows)


def test_a_card_is_a_part_of_any_page(systems):
    lines = list(card_lines(target_card(systems[1]), level=3))
    assert lines[0] == "### Target card of `facts`"
    assert any(line.startswith("| credit |") for line in lines)


@pytest.mark.parametrize("name", ["target-scores.schema.json", "sensitivity.schema.json"])
def test_what_is_printed_fits_its_schema(systems, name):
    found = sensitivity(systems) if name.startswith("sens") else target_scores(systems[0])
    data = encode(found)
    assert data.isascii()
    jsonschema.validate(
        json.loads(data), json.loads(schema(name)), cls=jsonschema.Draft202012Validator
    )


def test_many_systems_that_tie_do_not_fill_the_page(make_scored):
    query = {"ranking": [1, 2], "gold": GOLD}
    found = sensitivity([make_scored(f"s{at}", [query]) for at in range(30)])
    assert words.tied(found.systems) == "s0 = s1 = s2 = 27 more"
    text = page(render_targets, found)
    assert "... and 6 more (--json)" in text


def test_an_unasked_target_is_named(make_scored):
    two = {"raw": [[1]], "source": [[1]]}
    scored = make_scored(
        "s", [{"ranking": [1], "gold": two}], unserved={"canonical": "it does not tell"}
    )
    assert "it does not tell" in flat(page(render_targets, sensitivity([scored])))
    assert "not canonical it does not tell" in flat(
        page(render_target_scores, target_scores(scored))
    )


def test_the_gap_that_decides_and_unequal_anchors_stand_beside_the_headline(make_scored):
    whole = {"ranking": [3, 9, 1], "gold": {"raw": [[1], [2]], "canonical": [[3], [4]]}}
    less = {"ranking": [1, 3], "gold": {"raw": [[1], [2]], "canonical": [[3], []]}}
    found = sensitivity([make_scored("wide", [whole]), make_scored("lean", [less])])
    text = flat(page(render_targets, found))
    gap = min(choice.gap for choice in found.headline.choices)
    assert f"smallest gap that decides: +{gap:.4f}, for lean under canonical" in text
    loud = "NOT THE SAME ANCHORS under canonical: of 2, 2 in wide and 1 in lean have an eligible"
    assert text.index("ndcg@4 over the shared queries") < text.index(loud)
    assert text.index(loud) < text.index("who wins, metric by metric")
    assert (
        "dropped are misses all 2 anchors, the dropped ones counted as misses (1 queries)" in text
    )
    assert "only the 1 anchors that every target keeps in every system" in text
    assert "under raw" not in " ".join(words.anchor_words(found))
    markdown = markdown_targets(found)
    assert loud in markdown
    assert "## Winners by dropped are misses" in markdown


def test_many_systems_with_unequal_anchors_are_a_range(make_scored):
    def query(kept):
        anchors = [[3 + at] if at < kept else [] for at in range(5)]
        return {"ranking": [3, 1], "gold": {"raw": [[1]] * 5, "canonical": anchors}}

    found = sensitivity([make_scored(f"s{at}", [query(at)]) for at in range(1, 6)])
    (told,) = words.anchor_words(found)
    assert "of 5, from 1 in s1 to 5 in s5 have an eligible item" in told


def test_a_query_that_counts_once_for_each_system_is_called_so(systems):
    text = page(render_targets, sensitivity(systems))
    assert "query x" in text
    assert "of 11 metric x depth" in flat(text)
    assert "query x" not in page(render_targets, sensitivity(systems[:1]))
    assert "query x system" in markdown_targets(sensitivity(systems))


def test_a_tie_is_no_winner(make_scored):
    query = {"ranking": [1, 2], "gold": GOLD}
    found = sensitivity([make_scored(name, [query]) for name in "ab"])
    text = flat(page(render_targets, found))
    assert text.startswith("TARGETS: the same systems tie on ndcg@4 under every target")
    assert "same under all none a tie under all ndcg@2" in text
    assert "smallest gap that decides" not in text
    assert "a = b tie (" in text


def test_the_population_is_those_that_may_be_scored(make_scored):
    out = {"ranking": [1], "gold": GOLD, "reason": "unanswerable", "category": "trick"}
    found = target_scores(make_scored("s", [{"ranking": [1], "gold": GOLD, "category": "a"}, out]))
    assert (found.queries, found.counted, found.targets[0].counted) == (2, 1, 1)
    text = flat(page(render_target_scores, found))
    assert "all: 1 queries that may be scored, of 2 given" in text
    assert "serves 1/1 queries" in text
    assert "trick" not in text
    assert "Population all: 1 queries that may be scored, of 2 given." in list(score_lines(found))


def test_under_rule_id_items_are_what_is_counted(make_scored):
    query = {"ranking": [1, 2], "gold": {"raw": [[1]], "source": [[1, 2, 3]]}}
    scored = make_scored("s", [query], rule="id")
    found = target_scores(scored)
    assert (found.targets[1].anchors, found.targets[1].own.anchors) == (1, 3)
    text = page(render_target_scores, found)
    assert "items" in text.split("each target over the queries that it serves")[1].splitlines()[2]
    card = flat(page(render_card, target_card(scored)))
    assert "count nowhere: denominators are eligible items" in card


def test_tables_of_a_card_say_what_they_are_and_at_which_k(systems):
    text = "\n".join(card_lines(target_card(systems[0])))
    assert "What each target admits, at every k:" in text
    assert "whose value changes, k = 4:" in text
    assert "What the values rest on, credit rule anchor, level turn:" in text


def test_queries_that_a_target_cannot_serve_are_named(make_scored):
    gone = {"ranking": [1], "gold": {"raw": [[1]], "canonical": [[]]}}
    query = {"ranking": [1, 2], "gold": {"raw": [[1]], "canonical": [[2]]}}
    found = sensitivity([make_scored(f"s{at}", [query, gone]) for at in range(5)])
    told = words.recount_words(found, found.recounts[0])
    assert "0 for what canonical cannot serve: 1 queries of s0" in told
    assert told.endswith("1 queries of s2 and of 2 more systems")
