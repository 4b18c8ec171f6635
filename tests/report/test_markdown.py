import msgspec
import pytest
from markdown_it import MarkdownIt

from memruler.model.summary import Omitted
from memruler.report.markdown import markdown_comparison, markdown_run

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
FORBIDDEN = {"html_block", "html_inline", "link_open", "image", "fence", "code_block"}


def kinds(page):
    tokens = READER.parse(page)
    return {t.type for t in tokens} | {c.type for t in tokens for c in t.children or ()}


def headings(page):
    tokens = READER.parse(page)
    return [tokens[i + 1].content for i, t in enumerate(tokens) if t.type == "heading_open"]


def squares(page):
    """Every table row has as many cells as its head."""
    widths = []
    for token in READER.parse(page):
        if token.type == "table_open":
            widths.append([])
        elif token.type == "tr_open":
            widths[-1].append(0)
        elif token.type in {"td_open", "th_open"}:
            widths[-1][-1] += 1
    return bool(widths) and all(len(set(rows)) == 1 and len(rows) > 1 for rows in widths)


@pytest.fixture
def hostile_run(make_document, queries_a, hostile):
    document = make_document(
        tuple(q._replace(category=hostile, instance=hostile) for q in queries_a),
        changes={"system.name": hostile, "system.settings.mmr": hostile},
        fields={
            "warnings": (hostile, hostile),
            "corpus_notes": (hostile,),
            "degraded": (hostile,),
            "chosen": {hostile: hostile},
            "defaulted": {hostile: hostile},
            "machine": {hostile: hostile},
            "packages": {hostile: hostile},
        },
    )
    summary = msgspec.structs.replace(
        document.summary,
        errors={hostile: 2},
        omitted=(Omitted(level="turn", k=3, reason=hostile),),
    )
    return msgspec.structs.replace(document, summary=summary)


def test_hostile_text_stays_text_in_a_run(hostile_run, make_document):
    page = markdown_run(hostile_run)
    assert not kinds(page) & FORBIDDEN
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert squares(page)
    assert "{{ 7*7 }}" not in page
    assert "49" not in [cell.strip() for cell in page.split("|")]
    plain = {h for h in headings(markdown_run(make_document())) if "level" not in h}
    assert {h for h in headings(page) if "level" not in h} - plain == {"Left out"}


def test_hostile_text_stays_text_in_a_comparison(make_comparison, hostile):
    fields = {"warnings": (hostile,), "degraded": (hostile,), "corpus_notes": (hostile,)}
    page = markdown_comparison(
        make_comparison(hostile, fields=fields, changes={"system.name": hostile})
    )
    assert not kinds(page) & FORBIDDEN
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert squares(page)


def test_a_run_carries_its_whole_provenance(make_document):
    document = make_document(
        fields={"warnings": ("decay is off",), "corpus_notes": ("synthetic data",)},
        cutoffs=(1, 3, 5, 9),
    )
    page = markdown_run(document)
    manifest, summary = document.manifest, document.summary
    assert squares(page)
    for wanted in (
        "c" * 64,  # the corpus
        "local-file",
        "b" * 40,  # the commit
        "| memruler dirty | `false` |",
        "| machine cores | `2` |",
        "| package numpy | `2.4.6` |",
        "| `limit` | `20` |",
        '| `timeline` | `"anchored"` |',
        "| unanswerable | 1 |",
        "50 items, none refused or evicted",
        "about 321.5 tokens (characters / 4)",
        "mean 2.00 ms",
        "3 of 3 queries ranked identically",
        "10.0 to 20.5 days",
        "- decay is off",
        "- synthetic data",
        "| session | 9 | no list is so long |",
        summary.population.digest,
        manifest.started.isoformat(),
    ):
        assert wanted in page, wanted
    chosen, defaulted = page.index("### Settings chosen"), page.index("### Settings left")
    assert chosen < page.index("| `limit`") < defaulted < page.index("| `timeline`")


def test_denominators_stand_in_the_row_of_every_mean(make_document):
    page = markdown_run(make_document())
    rows = [line for line in page.splitlines() if "0.7500" in line and line.startswith("|")]
    assert rows
    assert all("| 4 | 4 |" in r or "| 2 | 2 |" in r or "categories" in r for r in rows)


def test_degraded_comes_before_any_number(make_document, make_comparison):
    page = markdown_run(make_document(fields={"degraded": ("toy embedder",)}))
    assert page.index("DEGRADED") < page.index("toy embedder") < page.index("recall_all@5")
    page = markdown_comparison(make_comparison(fields={"degraded": ("toy embedder",)}))
    assert page.index("DEGRADED") < page.index("toy embedder") < page.index("recall_all@5")


def test_a_run_without_any_cut_off_says_so(make_document, queries_a):
    short = tuple(q._replace(session="", turn="") for q in queries_a)
    page = markdown_run(make_document(short))
    assert "No cut-off could be measured" in page
    assert "no list is so long" in page


def test_a_comparison_says_what_it_compared(make_comparison):
    page = markdown_comparison(make_comparison())
    assert squares(page)
    assert (
        "**UNCHANGED**: `recall_all@5` at the session level, target `raw`, 0.7500 → 0.7500 (=)"
        in page
    )
    assert "better 1, worse 1, the same 2" in page
    assert "| `system.settings.decay_rate` | `0.03` | `0.0` |" in page
    assert "| down | conv-1 | 1 | conv-1/1 | single | Where did Ada go? | 1.0000 | 0.0000 |" in page
    assert "no interval" in page


def test_a_comparison_over_shared_queries_counts_three_populations_in_every_row(
    shared_comparison, make_comparison
):
    page = markdown_comparison(shared_comparison)
    assert squares(page)
    assert "**BETTER**, shared queries only: `recall_all@5`" in page
    assert "Padded: 0.5000 → 1.0000 (+0.5000) over all 4, missing ranks counted as misses." in page
    assert (
        "Floor: 0.5000 → 0.7500 (+0.2500) over all 4, a list shorter than 5 scores 0, whatever it "
        "holds. 4 count in the base, 3 in the candidate, 3 in both." in page
    )
    heads = [line for line in page.splitlines() if line.endswith("| of |")]
    assert len(heads) == 5
    assert all("| counted in base | counted in candidate | counted in both |" in h for h in heads)
    assert "| single | 1.0000 | 1.0000 | = | 0 | 0 | 2 | 1 | 1 | 2 |" in page
    assert "| **macro mean** of 2 | 0.7500 | 1.0000 | +0.2500 | | | 4 | 3 | 3 | |" in page
    plain = markdown_comparison(make_comparison())
    assert "shared" not in plain
    assert "Floor" not in plain
    assert "Padded" not in plain
    assert "counted in" not in plain


def test_ceilings_and_floors_stand_below_the_means(make_document, queries_a):
    short = (*queries_a[:3], queries_a[3]._replace(session=".."), queries_a[4])
    page = markdown_run(make_document(short))
    assert squares(page)
    lines = page.splitlines()
    assert [line for line in lines if line.startswith("- Ceiling")] == [
        f"- Ceiling: `recall_all` at the {level} level is at most 0.7500 at k=1; other queries "
        "have more gold than the window holds."
        for level in ("session", "turn")
    ]
    # One query's list ends at rank 2 with its gold found: padded, it keeps what it found.
    start = lines.index(
        "Over all 4 queries, missing ranks and failed searches counted as misses (the convention "
        "of trec_eval):"
    )
    padded = [line.split("|") for line in lines[start + 4 : start + 7]]
    assert [row[1].strip() for row in padded] == ["1", "3", "5"]
    assert all(row[-2].strip() == "4" for row in padded)
    assert not {"html_block", "code_block"} & kinds(page)


def test_queries_beyond_the_limit_are_counted(make_comparison):
    comparison = make_comparison()
    page = markdown_comparison(comparison, queries=1)
    assert "| down |" in page
    assert "| up |" not in page
    assert "And 1 more" in page
    assert "more; " not in markdown_comparison(comparison, queries=None)
