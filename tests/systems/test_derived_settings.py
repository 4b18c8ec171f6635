import msgspec
import pytest

from memruler.errors import UsageError
from memruler.systems.builtin.settings import Settings
from memruler.systems.derived.settings import Stored, known, resolve


def said(given):
    with pytest.raises(UsageError) as caught:
        resolve(given)
    return str(caught.value)


def test_the_defaults():
    settings, chosen, defaulted = resolve({})
    assert settings.stored == Stored(raw=True, facts=5, timeline=True, summaries=True)
    assert settings.search == Settings(retrieval="lexical")
    assert chosen == {}
    assert defaulted == settings.named()
    assert "retrieval" not in defaulted
    assert defaulted["ranking"] == "lexical"


def test_what_a_person_sets_is_apart():
    given = {"facts": "8", "ranking": "hybrid", "raw": "false", "rrf_k": "10"}
    given |= {"decay": "true", "decay_tags.work": "0.1"}
    settings, chosen, defaulted = resolve(given)
    assert chosen == {
        "facts": 8,
        "ranking": "hybrid",
        "raw": False,
        "rrf_k": 10,
        "decay": True,
        "decay_tags.work": 0.1,
    }
    assert settings.search.retrieval == settings.named()["ranking"] == "hybrid"
    assert settings.search.decay_tags == {"work": 0.1}
    assert not settings.stored.raw
    named = settings.named()
    assert defaulted == {
        key: value for key, value in named.items() if key not in {*chosen, "decay_tags"}
    }


def test_all_settings_are_known():
    settings, _, _ = resolve({})
    assert {name.replace(".TAG", "") for name in known()} == set(settings.named())
    assert set(msgspec.structs.asdict(Stored())) < set(known())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"facts": "9"}, "facts is a whole number from 0 to 8"),
        ({"facts": "-1"}, "facts is a whole number from 0 to 8"),
        ({"facts": "five"}, "facts is a whole number from 0 to 8"),
        ({"raw": "perhaps"}, "raw is true or false"),
        ({"ranking": "bm25"}, "ranking is dense or hybrid or lexical"),
        ({"retrieval": "dense"}, "set ranking"),
        ({"fact": "5"}, "facts"),
        ({"stop_word": "true"}, "stop_words"),
        ({"facts.x": "5"}, "facts.x"),
        ({"mmr": "true"}, "mmr has no effect here: it needs vectors [builtin:derived]"),
        ({"rrf_k": "3"}, "set ranking=hybrid, or leave it out"),
        ({"raw\ud800": "1"}, "unknown setting"),
    ],
)
def test_what_is_refused(given, message):
    assert message in said(given)


def test_a_memory_stores_something():
    nothing = {"raw": "false", "facts": "0", "timeline": "false", "summaries": "false"}
    assert "nothing is left to be stored" in said(nothing)
    for key, value in {"raw": "true", "facts": "1", "timeline": "true"}.items():
        resolve({**nothing, key: value})
