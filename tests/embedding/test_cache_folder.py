from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.embedding.cache_folder import (
    cache_limit,
    current_file,
    parse_size,
    set_aside,
    vectors_dir,
)
from memruler.errors import UsageError


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "vectors"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("500", 500),
        ("500B", 500),
        ("1k", 1000),
        ("1.5 MB", 1_500_000),
        ("2GiB", 2 * 1024**3),
        ("2gib", 2 * 1024**3),
        ("1T", 10**12),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "1XB", "1e9", "nan", "1 000", "\u0661"])
def test_no_sizes(text):
    with pytest.raises(UsageError, match="not a size"):
        parse_size(text)


@given(st.text(max_size=8))
def test_any_text_is_a_size_or_a_usage_error(text):
    with suppress(UsageError):
        assert parse_size(text) >= 0


def test_the_limit_comes_from_the_environment(monkeypatch, cache_home):
    assert cache_limit() == 2 * 1024**3
    monkeypatch.setenv("MEMRULER_CACHE_MAX", "10MB")
    assert cache_limit() == 10_000_000
    assert vectors_dir() == cache_home / "vectors"


def test_generations(folder):
    first = current_file(folder, "a" * 64)
    assert first.name == "a" * 32 + ".1.sqlite"
    first.write_bytes(b"damaged")
    assert current_file(folder, "a" * 64) == first
    set_aside(first)
    set_aside(first)  # another process found it too
    second = current_file(folder, "a" * 64)
    assert second.name == "a" * 32 + ".2.sqlite"
    assert current_file(folder, "b" * 64).name == "b" * 32 + ".1.sqlite"
