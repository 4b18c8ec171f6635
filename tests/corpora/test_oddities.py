"""What is odd and not wrong is counted and told, and nothing else is."""

from datetime import datetime

import pytest

from memruler.cli.corpora import command
from memruler.corpora.oddities import LONG_TEXT, Observed
from memruler.corpora.registry import open_corpus
from memruler.model.corpus import Session, Turn


@pytest.fixture
def notes(make_instance):
    """The notes on a corpus whose only instance has these sessions and was asked on 1 June."""

    class Fake:
        info = None

        def __init__(self, instance):
            self.instance = instance

        def __iter__(self):
            yield self.instance

    def build(*sessions, asked=datetime(2024, 6, 1)):
        import msgspec  # noqa: PLC0415 - one fixture needs it

        instance = make_instance(0)
        queries = tuple(msgspec.structs.replace(q, time=asked) for q in instance.queries)
        instance = msgspec.structs.replace(instance, sessions=sessions, queries=queries)
        observed = Observed(Fake(instance))
        assert list(observed) == [instance]
        assert list(observed) == [instance]  # a second reading does not count twice
        return observed.notes()

    return build


def session(position=0, *texts, **fields):
    turns = tuple(Turn(position=n, speaker="A", text=text) for n, text in enumerate(texts))
    return Session(position=position, turns=turns, **fields)


def test_nothing_is_odd_about_the_bundled_corpus():
    observed = Observed(open_corpus("synthetic"))
    assert sum(1 for _ in observed) == 4
    assert observed.notes() == ()


def test_sessions_without_turns(notes):
    (note,) = notes(session(0, "a"), session(1), session(2))
    assert note.startswith("2 sessions without a turn")
    assert note.endswith("(the first: instance inst-0, session 1)")


def test_sessions_after_their_question(notes):
    times = [datetime(2024, 5, 31), datetime(2024, 6, 1), datetime(2024, 6, 2), None]
    sessions = [session(n, "a", time=time) for n, time in enumerate(times)]
    (note,) = notes(*sessions)
    assert note.startswith("1 session dated after a question of their instance")
    assert "session 2)" in note
    assert notes(*sessions, asked=None) == ()


def test_repeated_session_ids(notes):
    (note,) = notes(session(0, "a", id="x"), session(1, "b", id="x"), session(2, "c"))
    assert note.startswith("1 session with an id that another one")


@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("x" * LONG_TEXT, False),
        ("x" * (LONG_TEXT + 1), True),
        ("\u00e9" * (LONG_TEXT // 2), False),
        ("\u00e9" * (LONG_TEXT // 2 + 1), True),
    ],
    ids=["at", "over", "at in two bytes", "over in two bytes"],
)
def test_long_texts(notes, text, long):
    found = notes(session(0, "a", text))
    assert bool(found) is long
    if long:
        assert found[0].startswith("1 text of more than 1,000,000 bytes")
        assert found[0].endswith("session 0, turn 1)")


def test_the_verb_tells_them_and_ends_well(shared_samples):
    from click.testing import CliRunner  # noqa: PLC0415 - one test needs it

    path = shared_samples / "longmemeval" / "longmemeval_s_cleaned.json"
    result = CliRunner().invoke(command, ["check", str(path)])
    assert result.exit_code == 0
    told = [line for line in result.stdout.splitlines() if line.startswith("note: ")]
    assert [line.split()[3] for line in told] == ["without", "dated", "with"]
