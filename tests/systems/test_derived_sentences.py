from hypothesis import given
from hypothesis import strategies as st

from memruler.model.system import TurnInput
from memruler.systems.derived.sentences import LONGEST_CLAUSE, clauses, sentences, windows
from memruler.systems.derived.speech import LONGEST_UNIT, Line, lines

WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            ["and", "it", "but", "I", "so", "because", ";", "-", "—", ",", ".", "?", "Dr.", "2."]
        ),
        st.text(min_size=1, max_size=12),
    ),
    max_size=40,
).map(lambda parts: " ".join(" ".join(parts).split()))


def split(text):
    return list(sentences(text))


def test_sentences():
    assert split("Hey Mel! Good to see you... How are you? fine") == [
        "Hey Mel!",
        "Good to see you...",
        "How are you?",
        "fine",
    ]
    assert split("") == []
    assert split('She said "go!" Then she left.') == ['She said "go!"', "Then she left."]
    assert split("我去了公园。很好\uff01") == ["我去了公园。", "很好\uff01"]


def test_a_dot_that_ends_no_sentence():
    whole = "I saw Dr. Smith and J. Doe (St. Mary, e.g. there) at 3.30 p.m. on site.com"
    assert split(whole) == [whole]
    assert split("2. Bake it. 3. Eat it.") == ["2. Bake it.", "3. Eat it."]
    assert split("So did I. You too.") == ["So did I.", "You too."]
    assert split("We sold it for 100000. Good.") == ["We sold it for 100000.", "Good."]


def test_clauses():
    assert clauses("I went to a support group yesterday and it was so powerful.") == [
        "I went to a support group yesterday",
        "it was so powerful.",
    ]
    assert clauses("I stayed home today, because my dog was ill; she sleeps well now") == [
        "I stayed home today",
        "because my dog was ill",
        "she sleeps well now",
    ]
    assert clauses("I painted it myself - So, we all like it") == [
        "I painted it myself",
        "we all like it",
    ]


def test_what_is_no_clause_stays_with_its_neighbour():
    for whole in (
        "We like apples and pears",
        "Really, but we like it",  # two words before, then three
        "We like it a lot, and so",
        "Last weekend my partner and I went hiking",
        "Yesterday, after the long ride home, we slept",
    ):
        assert clauses(whole) == [whole]


def test_a_long_clause_is_cut_at_spaces():
    pieces = windows("word " * 200)
    assert " ".join(pieces) == ("word " * 200).strip()
    assert max(map(len, pieces)) <= LONGEST_CLAUSE
    assert all(piece.split() == ["word"] * len(piece.split()) for piece in pieces)
    assert windows("x" * 700) == ["x" * 300, "x" * 300, "x" * 100]
    assert windows("") == []


@given(WORDS)
def test_sentences_hold_every_word(text):
    assert "".join(split(text)).replace(" ", "") == text.replace(" ", "")


@given(WORDS)
def test_clauses_are_pieces_in_order(text):
    for sentence in split(text):
        start = 0
        for clause in clauses(sentence):
            assert 0 < len(clause) <= LONGEST_CLAUSE
            start = sentence.index(clause, start) + len(clause)


def heard(text, speaker="Ann", **facts):
    return list(lines(TurnInput(key="k", text=text, speaker=speaker, **facts)))


def test_the_heads_of_the_text_form(turns):
    at = turns.at
    assert heard("Ann: hi  there\n\n you: two") == [
        Line("", "Ann: ", "hi there"),
        Line("", "Ann: ", "you: two"),
    ]
    assert heard("hi") == heard("Ann: hi") == [Line("", "Ann: ", "hi")]
    assert heard("[2024-01-01] Ann: hi", time=at) == [Line("[2024-01-01] ", "Ann: ", "hi")]
    # Only the day of the turn itself is a head.
    assert heard("[2024-01-02] Ann: hi", time=at) == [Line("", "Ann: ", "[2024-01-02] Ann: hi")]
    assert heard("Ann: ") == heard("") == heard(" \n\t\n") == []


def test_a_name_is_one_short_line():
    (line,) = heard("Ann\n Lee: hi", "Ann\n Lee")
    assert line == Line("", "Ann Lee: ", "hi")
    (line,) = heard("hi", "A" * 10_000)
    assert line.speaker == "A" * 100 + ": "


def test_a_whole_session_names_its_speakers(turns):
    text = "[2024-01-01] Ann: hi\nyou all\nBob Lee: yes\n12: no"
    assert heard(text, "", time=turns.at) == [
        Line("[2024-01-01] ", "Ann: ", "hi"),
        Line("[2024-01-01] ", "Ann: ", "you all"),
        Line("[2024-01-01] ", "Bob Lee: ", "yes"),
        Line("[2024-01-01] ", "Bob Lee: ", "12: no"),
    ]
    assert heard("just a text", "") == [Line("", "", "just a text")]


def test_no_more_of_a_unit_is_read_than_its_bound():
    (line,) = heard("x" * (LONGEST_UNIT + 5))
    assert len(line.words) == LONGEST_UNIT
