import importlib

import pytest

from memruler.embedding import tokens
from memruler.embedding.assets import Asset
from memruler.errors import ChecksumError

pytest.importorskip("tokenizers", reason="needs memruler[local]")


def test_counts_words_without_special_tokens():
    counter = tokens.token_counter()
    assert counter is not None
    assert counter.count(["hello world", "", "hello"]) == [2, 0, 1]
    assert counter.name.startswith("all-MiniLM-L6-v2 WordPiece (be50c3628f2b")


def test_counts_beyond_any_truncation():
    counter = tokens.token_counter()
    assert counter is not None
    assert counter.count(["word " * 1000]) == [1000]
    assert counter.count(["word " * 10_000, "", "hello"]) == [10_000, 0, 1]  # by windows


def test_undoes_what_the_tokenizer_file_asks_for():
    whole, _ = tokens.load_tokenizer(None)
    assert (whole.padding, whole.truncation) == (None, None)
    cut, _ = tokens.load_tokenizer(256)
    assert cut.padding is None
    assert len(cut.encode("word " * 1000)) == 256
    assert len(cut.encode("hello")) == 3  # with [CLS] and [SEP], and no padding


def test_none_when_the_package_is_absent(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    assert tokens.token_counter() is None


def test_none_when_the_data_is_absent(monkeypatch):
    monkeypatch.setattr(tokens, "MINILM_TOKENIZER", Asset("no_such_package", "x", "0"))
    assert tokens.token_counter() is None


def test_a_changed_tokenizer_is_an_error_and_not_an_absence(monkeypatch):
    real = tokens.MINILM_TOKENIZER
    monkeypatch.setattr(tokens, "MINILM_TOKENIZER", Asset(real.package, real.path, "0" * 64))
    with pytest.raises(ChecksumError):
        tokens.token_counter()
