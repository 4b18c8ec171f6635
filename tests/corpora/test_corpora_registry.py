"""Names to corpora."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memruler.corpora import cached, registry
from memruler.corpora.pins import pins
from memruler.corpora.registry import names, open_corpus
from memruler.corpora.synthetic import VERSION, SyntheticCorpus
from memruler.errors import CorpusError, UsageError


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_every_pinned_name_has_a_loader():
    assert set(registry._LOADERS) == set(pins()) - {"longmemeval-judge"} == set(names())


def test_a_file_of_judge_texts_is_no_corpus():
    with pytest.raises(UsageError, match="judge's texts and no conversations"):
        open_corpus("longmemeval-judge")


def test_the_bundled_corpus_needs_no_path():
    corpus = open_corpus("synthetic")
    assert (corpus.info.name, corpus.info.tier) == ("synthetic", "bundled")
    assert sum(1 for _ in corpus) == 4


def test_the_bundled_corpus_has_the_version_that_its_pin_says():
    assert pins()["synthetic"].label == str(VERSION)
    assert registry._identify_bundled("0" * 64).version == pins()["synthetic"].label
    assert open_corpus("synthetic").info.version.split()[0] == pins()["synthetic"].label


def test_unknown_names():
    with pytest.raises(UsageError, match="did you mean `locomo`"):
        open_corpus("locmo")
    with pytest.raises(UsageError, match="no such corpus"):
        open_corpus("\x1b[31m")


def test_what_is_not_cached_tells_how_to_get_it(monkeypatch):
    def nothing(name):
        raise UsageError(f"{name} is not in the cache", hint=f"memruler fetch {name}")

    monkeypatch.setattr(registry, "locate", nothing)
    with pytest.raises(UsageError, match="memruler fetch longmemeval-m"):
        open_corpus("longmemeval-m")


def test_jsonl_needs_a_path():
    with pytest.raises(UsageError, match="--path FILE"):
        open_corpus("jsonl")


def test_the_real_file_is_as_good_as_a_fetched_one(locomo_path):
    info = open_corpus("locomo", locomo_path).info
    assert info.tier == "pinned-upstream"
    assert info.version == pins()["locomo"].revision


def test_a_cached_file_is_used(monkeypatch, shared_samples):
    path = shared_samples / "longmemeval" / "longmemeval_s_cleaned.json"
    monkeypatch.setattr(registry, "locate", lambda _: cached.Located(path, "pinned-upstream", "0"))
    monkeypatch.setattr(registry, "tier_of", lambda *_: "pinned-upstream")
    info = open_corpus("longmemeval-s").info
    assert (info.name, info.tier) == ("longmemeval-s", "pinned-upstream")
    assert info.version == pins()["longmemeval-s"].revision


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("longmemeval-s", None),
        ("longmemeval-oracle", "longmemeval-s"),
        ("longmemeval-oracle-original", "longmemeval-s-original"),
    ],
)
def test_only_the_oracle_points_to_another(shared_samples, name, variant):
    path = shared_samples / "longmemeval" / "longmemeval_oracle.json"
    info = open_corpus(name, path).info
    assert (info.name, info.tier, info.version) == (name, "local-file", "unknown")
    assert info.retrieval_variant == variant
    assert variant is None or variant in names()


def test_a_generated_file(tmp_path):
    corpus = SyntheticCorpus(1, 1, 5)
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b"".join(corpus.lines()))
    opened = open_corpus("jsonl", path)
    assert (opened.info.name, opened.info.tier) == ("jsonl", "local-file")
    assert opened.info.notes == corpus.info.notes
    assert list(opened) == list(corpus)


@pytest.mark.parametrize("name", ["locomo", "longmemeval-s", "jsonl"])
def test_paths_that_hold_nothing(tmp_path, name):
    with pytest.raises(CorpusError, match="no such file"):
        open_corpus(name, tmp_path / "nothing")
    with pytest.raises(CorpusError):
        open_corpus(name, tmp_path)


@pytest.mark.parametrize("path", [registry.BUNDLED, Path("nothing")])
def test_no_file_passes_for_the_bundled_corpus(path):
    with pytest.raises(UsageError, match="synthetic is bundled") as caught:
        open_corpus("synthetic", path)
    assert caught.value.hint == "a file of your own is `jsonl --path FILE`"


@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [
        ("good.jsonl", None, "jsonl --path good.jsonl"),
        ("good.json", None, "jsonl --path good.json"),
        ("good", b"{}", "jsonl --path good"),
        ("my good.jsonl", b"{}", "jsonl --path 'my good.jsonl'"),
        ("l.json", b'[{"qa": []}]', "locomo --path l.json"),
    ],
)
def test_a_file_named_as_a_corpus(tmp_path, monkeypatch, name, content, hint):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match="no such corpus") as caught:
        open_corpus(name)
    assert f"`{hint}`" in caught.value.hint


@pytest.mark.parametrize("name", ["a\0", "x" * 5000, "", "."])
def test_names_that_are_neither(name):
    with pytest.raises(UsageError, match="no such corpus") as caught:
        open_corpus(name)
    assert "--path" not in caught.value.hint


def test_a_list_of_names_imports_no_loader():
    code = (
        "import sys, json; from memruler.corpora.registry import names; names();"
        "print(json.dumps(sorted(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    modules = json.loads(found.stdout)
    loaded = {m for m in modules if m.startswith("memruler.corpora.")}
    assert "memruler.corpora.locomo" not in loaded
    assert "memruler.corpora.jsonl" not in loaded
    assert not {"numpy", "pyarrow", "httpx2", "onnxruntime", "rich"} & set(modules)
