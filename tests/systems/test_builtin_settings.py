import pytest

from memruler.errors import UsageError
from memruler.systems.builtin.settings import PRESETS, Settings, resolve


def refusal(preset, given):
    with pytest.raises(UsageError) as caught:
        resolve(preset, given)
    return str(caught.value)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_setting_is_either_chosen_or_defaulted(preset):
    settings, chosen, defaulted = resolve(preset, {})
    assert chosen == {}
    assert set(defaulted) == set(Settings.__struct_fields__)
    assert all(getattr(settings, name) == value for name, value in defaulted.items())


def test_only_episodic_turns_production_terms_on():
    for preset in ("lexical", "dense", "hybrid"):
        settings, _, _ = resolve(preset, {})
        assert settings == Settings(retrieval=preset)
        assert not settings.production
    settings, _, _ = resolve("episodic", {})
    assert settings.production
    assert settings.mmr
    assert settings.dedup_prefix
    assert settings.dedup_cosine == 0.95
    assert settings.round_digits == 4
    assert settings.capacity is None
    assert settings.decay_rate == 0.03


def test_values_are_parsed_by_type():
    settings, chosen, defaulted = resolve(
        "episodic",
        {
            "decay_rate": "0.05",
            "mmr": "false",
            "round_digits": "none",
            "dedup_cosine": "null",
            "capacity": "100",
            "embedder": "toy",
        },
    )
    assert settings.decay_rate == 0.05
    assert settings.mmr is False
    assert settings.round_digits is None
    assert settings.dedup_cosine is None
    assert settings.capacity == 100
    assert settings.embedder == "toy"
    assert set(chosen) | set(defaulted) == set(Settings.__struct_fields__)
    assert not set(chosen) & set(defaulted)
    assert chosen["decay_rate"] == 0.05


def test_rates_of_tags_go_by_dotted_key():
    settings, chosen, defaulted = resolve(
        "episodic", {"decay_tags.work": "0.1", "decay_tags.v1.2": "0"}
    )
    assert settings.decay_tags == {"work": 0.1, "v1.2": 0.0}
    assert chosen == {"decay_tags.work": 0.1, "decay_tags.v1.2": 0.0}
    assert "decay_tags" not in defaulted


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("decay_rat", "decay_rate"),
        ("DECAY_RATE", "decay_rate"),
        ("decay_tags", "decay_tags.TAG"),
        ("decay_tags.", "decay_tags.TAG"),
        ("decay.work", "decay"),
        ("mmr_lamda", "mmr_lambda"),
        ("zzz", "known: capacity"),
    ],
)
def test_an_unknown_name_gets_a_hint(name, hint):
    message = refusal("episodic", {name: "1"})
    assert "unknown setting" in message
    assert hint in message


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("decay_rate", "-1", "a number from 0 to 1000"),
        ("decay_rate", "nan", "a number from 0 to 1000"),
        ("decay_rate", "inf", "a number from 0 to 1000"),
        ("decay_rate", "fast", "a number from 0 to 1000"),
        ("decay_tags.work", "-0.1", "a number from 0 to 1000"),
        ("mmr_lambda", "1.01", "a number from 0 to 1"),
        ("mmr", "maybe", "true or false"),
        ("round_digits", "2.5", "a whole number from 0 to 15 or none"),
        ("round_digits", "16", "a whole number from 0 to 15 or none"),
        ("capacity", "0", "a whole number from 1 to"),
        ("retrieval", "sparse", "dense or hybrid or lexical"),
        ("dedup_cosine", "", "a number from 0 to 1 or none"),
    ],
)
def test_a_bad_value_names_the_range(name, value, allowed):
    message = refusal("episodic", {name: value})
    assert f"{name} is " in message
    assert allowed in message


@pytest.mark.parametrize(
    ("preset", "given", "said"),
    [
        ("lexical", {"mmr": "true"}, "mmr has no effect here: it needs vectors"),
        ("lexical", {"dedup_cosine": "0.9"}, "needs vectors"),
        ("lexical", {"embedder": "toy"}, "needs vectors"),
        ("lexical", {"retrieval": "dense"}, "use builtin:dense"),
        ("dense", {"stop_words": "false"}, "needs words"),
        ("dense", {"rrf_k": "10"}, "needs words and vectors"),
        ("dense", {"decay_rate": "0.1"}, "also set decay=true"),
        ("dense", {"decay_tags.work": "0.1"}, "also set decay=true"),
        ("dense", {"mmr_lambda": "0.1"}, "also set mmr=true"),
        ("dense", {"dedup_prefix_chars": "5"}, "also set dedup_prefix=true"),
        ("dense", {"importance_default": "0.1"}, "needs importance or capacity"),
        ("episodic", {"decay_floor": "0.9", "decay_cap": "0.5"}, "below decay_floor"),
        ("dens", {}, "did you mean builtin:dense?"),
    ],
)
def test_a_setting_without_effect_is_refused(preset, given, said):
    assert said in refusal(preset, given)


@pytest.mark.parametrize(
    ("preset", "given"),
    [
        ("lexical", {"mmr": "false", "dedup_cosine": "none"}),
        ("dense", {"capacity": "5", "importance_default": "0.1"}),
        ("episodic", {"retrieval": "hybrid", "rrf_k": "5", "stop_words": "false"}),
        ("dense", {"decay": "true", "decay_rate": "0.1"}),
    ],
)
def test_a_setting_that_is_switched_off_or_read_is_accepted(preset, given):
    _, chosen, _ = resolve(preset, given)
    assert set(chosen) == set(given)
