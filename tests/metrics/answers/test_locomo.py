"""LoCoMo's scores against their vectors, and against the same rules written anew on nltk."""

import json
import re
import string
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import InstrumentError
from memruler.metrics.answers.locomo import locomo_corrected, locomo_official
from memruler.metrics.answers.words import corrected_words, locomo_words, stemmer, stemmer_version

NAMES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
STEMS = ("porter", "nltk", "none")


def test_every_official_vector_is_matched(shared_samples):
    vectors = json.loads((shared_samples / "scorer_vectors.json").read_bytes())["locomo"]
    assert len(vectors) == 23
    assert {vector["category"] for vector in vectors} == set(NAMES)
    for stem in ("nltk", "porter"):
        for vector in vectors:
            gold, category = str(vector["gold"]), NAMES[vector["category"]]
            score = locomo_official(vector["prediction"], gold, category, stem)
            assert round(score, 6) == vector["score"], (stem, vector)


class Referee:
    """The published rules in another hand: a loop over characters, numpy's mean, nltk's stemmer."""

    def __init__(self):
        nltk = pytest.importorskip("nltk.stem", reason="needs memruler[nltk]")
        self._stemmer = nltk.PorterStemmer()
        self._stems = {}

    def words(self, text):
        kept = "".join(
            one for one in text.replace(",", "").lower() if one not in set(string.punctuation)
        )
        return [self.stem(word) for word in re.sub(r"\b(a|an|the|and)\b", " ", kept).split()]

    def stem(self, word):
        if word not in self._stems:
            self._stems[word] = self._stemmer.stem(word)
        return self._stems[word]

    def f1(self, predicted, gold):
        left, right = Counter(self.words(predicted)), Counter(self.words(gold))
        same = sum(min(left[word], right[word]) for word in left)
        if same == 0:
            return 0.0
        precision, recall = same / left.total(), same / right.total()
        return (2 * precision * recall) / (precision + recall)

    def score(self, predicted, gold, category):
        if category == 1:
            parts = [part.strip() for part in predicted.split(",")]
            best = [max(self.f1(part, one.strip()) for part in parts) for one in gold.split(",")]
            return float(np.mean(best))
        if category == 3:
            gold = gold.split(";")[0].strip()
        return self.f1(predicted, gold)


@pytest.fixture(scope="module")
def referee():
    return Referee()


@pytest.fixture(scope="module")
def locomo(locomo_path):
    """Every answerable question: its gold turns in one line, its gold answer, its category."""
    found = []
    for conversation in json.loads(locomo_path.read_bytes()):
        said = {
            turn["dia_id"]: turn["text"]
            for name, turns in conversation["conversation"].items()
            if re.fullmatch(r"session_\d+", name)
            for turn in turns
        }
        for question in conversation["qa"]:
            if question["category"] == 5:
                continue
            ids = [
                f"D{int(session)}:{int(turn)}"
                for entry in question["evidence"]
                for session, turn in re.findall(r"D:?(\d+):(\d+)", entry)
            ]
            turns = " ".join(said[one] for one in dict.fromkeys(ids) if one in said)
            found.append((turns, str(question["answer"]), question["category"]))
    assert len(found) == 1540
    return found


def test_nltk_gives_the_same_bits_on_every_answer_of_locomo(locomo, referee):
    for turns, gold, category in locomo:
        for predicted in (turns, gold):
            mine = locomo_official(predicted, gold, NAMES[category], "nltk")
            assert mine == referee.score(predicted, gold, category), (predicted, gold)


def test_what_the_stemmer_is_worth_on_locomo(locomo):
    scores = {
        stem: [locomo_official(turns, gold, NAMES[kind], stem) for turns, gold, kind in locomo]
        for stem in STEMS
    }
    means = {stem: round(float(np.mean(values)), 4) for stem, values in scores.items()}
    assert means == {"nltk": 0.1571, "porter": 0.1575, "none": 0.1501}
    pairs = list(zip(scores["nltk"], scores["porter"], strict=True))
    assert sum(abs(one - other) > 1e-9 for one, other in pairs) == 11


def test_the_gold_answer_scores_one_but_where_it_is_cut(locomo):
    scores = {}
    for _, gold, category in locomo:
        scores.setdefault(category, []).append(locomo_official(gold, gold, NAMES[category]))
    assert {kind: len(values) for kind, values in scores.items()} == {1: 282, 2: 321, 3: 96, 4: 841}
    assert scores[2] == [1.0] * 321
    assert round(float(np.mean(scores[3])), 3) == 0.927
    assert sum(score < 1 for score in scores[3]) == 11


def test_corrected_gives_every_gold_answer_one(locomo):
    low = [
        (gold, kind) for _, gold, kind in locomo if locomo_corrected(gold, gold, NAMES[kind]) < 1
    ]
    assert low == []


TEXTS = st.text("abcde ,;.'\n", max_size=30)


@given(TEXTS, TEXTS, st.sampled_from([1, 2, 3, 4]))
def test_nltk_gives_the_same_bits_on_any_text(referee, predicted, gold, category):
    mine = locomo_official(predicted, gold, NAMES[category], "nltk")
    assert mine == referee.score(predicted, gold, category)


@given(TEXTS, TEXTS, st.sampled_from(list(NAMES.values())))
def test_every_score_is_from_0_to_1_and_an_answer_of_the_gold_is_best(predicted, gold, category):
    for score in (locomo_official, locomo_corrected):
        assert 0 <= score(predicted, gold, category) <= 1
    if category != "adversarial" and gold.split():
        assert locomo_corrected(gold, gold, category) == 1


@pytest.mark.parametrize("score", [locomo_official, locomo_corrected])
def test_no_gold(score):
    with pytest.raises(ValueError, match="no gold"):
        score("x", None, "single-hop")
    assert score("Not mentioned", None, "adversarial") == 1
    assert score("Green", None, "adversarial") == 0


CASES = [
    # answer, gold, category, official, corrected
    ("Oslo,Norway", "Oslo, Norway", "single-hop", 0, 1),
    ("in Norway, Oslo", "Oslo, Norway", "single-hop", 0.8, 0.8),
    ("1,250 euros", "1250 Euros", "single-hop", 1, 1),
    ("caf\u00e9", "cafe\u0301", "single-hop", 0, 1),
    ("A", "A", "single-hop", 0, 1),
    ("the", "a", "single-hop", 0, 0),
    # More parts cost nothing where they are published.
    ("tea, cake, kites", "kites, tea", "multi-hop", 1, 0.8),
    ("kites", "kites, tea", "multi-hop", 0.5, 2 / 3),
    ("kites and tea", "kites, tea", "multi-hop", 2 / 3, 1),
    ("tea; kites", "kites, tea", "multi-hop", 2 / 3, 1),
    ("kites, tea", "kites,", "multi-hop", 0.5, 2 / 3),
    ("kites, kites", "kites, tea", "multi-hop", 0.5, 0.5),
    ("7 May, 2023", "7 May, 2023", "multi-hop", 1, 1),
    ("", "kites, tea", "multi-hop", 0, 0),
    ("yes she misses the sea", "Yes; she says she misses the sea", "open-domain", 0.4, 0.8),
    ("Likely yes", "Yes; she says she misses the sea", "open-domain", 2 / 3, 2 / 3),
    # A refusal shares words with the gold.
    ("Not mentioned in May", "in May", "temporal", 2 / 3, 0),
    ("The dog was not mentioned", "the dog", "single-hop", 0.4, 0),
    ("I don't know", "I don't know", "single-hop", 1, 1),
    ("Not mentioned, but perhaps green", "Green", "adversarial", 1, 0),
    ("That was never discussed", "Green", "adversarial", 0, 1),
]


@pytest.mark.parametrize(("answer", "gold", "category", "official", "corrected"), CASES)
def test_official_and_corrected_by_hand(answer, gold, category, official, corrected):
    assert locomo_official(answer, gold, category) == pytest.approx(official, abs=1e-12)
    assert locomo_corrected(answer, gold, category) == pytest.approx(corrected, abs=1e-12)


def test_a_comma_inside_a_date_parts_no_list():
    # By parts it would be 2 * 0.8 / 3.
    assert locomo_corrected("7 May 2023", "7 May, 2023", "multi-hop") == 1
    # Here the parts are worth more than the 6 / 7 of the whole.
    assert locomo_corrected("on May 7, 2023", "7 May, 2023", "multi-hop") == pytest.approx(0.9)


def test_the_mean_over_many_parts_is_numpys_to_the_last_bit():
    gold = ",".join(f"a{i} b{i} c{i}" for i in range(23))
    said = ",".join(f"a{i}" + " b" * (i % 5) + f" c{i}" for i in range(23))
    best = [2 * 2 / (5 + i % 5) for i in range(23)]
    score = locomo_official(said, gold, "multi-hop", "none")
    assert score == pytest.approx(sum(best) / 23)
    assert score == Referee().score(said, gold, 1)


def test_the_words():
    assert locomo_words("The Blue-Lantern, AND Mara's an") == ["bluelantern", "maras"]
    assert locomo_words("Oslo,Norway") == ["oslonorway"]
    assert corrected_words("Oslo,Norway 1,250 a,b") == ["oslo", "norway", "1250", "b"]
    assert corrected_words("7,May 5,x") == ["7", "may", "5", "x"]
    assert corrected_words("sand ant theme") == ["sand", "ant", "theme"]
    assert locomo_words("") == corrected_words("\u3000 ,.") == []


def test_the_stemmers_are_what_they_say():
    # The extended mode keeps `dying` apart and takes `flies` to `fli` as the original does.
    assert {stem: stemmer(stem)("dying") for stem in STEMS} == {
        "porter": "dy",
        "nltk": "die",
        "none": "dying",
    }
    assert stemmer("porter")("running") == stemmer("nltk")("running") == "run"
    assert stemmer_version("none") == "none"
    for stem, package in (("porter", "snowballstemmer"), ("nltk", "nltk")):
        assert re.fullmatch(rf"{stem} {package} \d+\.\S+", stemmer_version(stem))


def test_nltk_that_is_not_there_is_a_fault_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk.stem", None)
    stemmer.cache_clear()
    with pytest.raises(InstrumentError, match=r"memruler\[nltk\]"):
        stemmer("nltk")
    assert stemmer("porter")("runs") == "run"
    stemmer.cache_clear()
