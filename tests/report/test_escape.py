import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memruler.errors import printable
from memruler.report.escape import code, md

# HTML on: what is not escaped would come through.
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ACTIVE = st.text("\\`*_[]{}()<>#+-.!|~$:&@=0123456789 aw\n\t\"'/", max_size=40)


def inline(markdown):
    """Types and text of what a reader sees in one line."""
    tokens = READER.parse(markdown)
    leaves = [leaf for token in tokens for leaf in token.children or ()]
    return (
        [token.type for token in tokens],
        {leaf.type for leaf in leaves},
        "".join(leaf.content for leaf in leaves),
    )


@given(st.text(max_size=60) | ACTIVE)
@example("<script>")
@example("1. one")
@example("- one")
@example("---")
@example("# head")
@example("[a]: http://b")
@example("&lt;")
@example("    indented")
def test_escaped_text_reads_as_the_text_and_nothing_else(text):
    blocks, kinds, seen = inline("x " + str(md(text)))
    assert blocks == ["paragraph_open", "inline", "paragraph_close"]
    # markdown-it keeps escapes apart as their own kind of text.
    assert kinds <= {"text", "text_special"}
    assert seen.split() == f"x {printable(text)}".split()


@given(ACTIVE.filter(str.strip))
def test_it_starts_no_block_at_the_start_of_a_line(text):
    blocks, _, seen = inline(str(md(text.strip())))
    assert blocks == ["paragraph_open", "inline", "paragraph_close"]
    assert seen.split() == printable(text.strip()).split()


@given(st.text(max_size=40) | ACTIVE)
def test_a_code_span_cannot_be_left(text):
    blocks, kinds, _ = inline("x " + str(code(text)))
    assert blocks == ["paragraph_open", "inline", "paragraph_close"]
    assert kinds <= {"text", "text_special", "code_inline"}


@given(st.text(max_size=40) | ACTIVE)
def test_a_table_keeps_its_cells(text):
    page = f"| a | b |\n|---|---|\n| {md(text)} | {code(text)} |\n"
    kinds = [token.type for token in READER.parse(page)]
    assert kinds.count("td_open") == 2
    assert kinds.count("tr_open") == 2


@pytest.mark.parametrize("text", ["http://e.vil", "www.e.vil", "$x$"])
def test_what_only_some_readers_act_on_is_broken_up(text):
    assert text not in str(md(text))


def test_numbers_and_plain_words_stay_readable():
    assert str(md("0.6342 of 12:30, -3")) == "0.6342 of 12:30, -3"
    assert str(code("decay_rate")) == "`decay_rate`"
