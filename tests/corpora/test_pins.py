import hashlib
import re
from urllib.parse import urlsplit

import msgspec
import pytest

from memruler.corpora.pins import Pin, pin, pins
from memruler.errors import UsageError

FETCHED = {name: found for name, found in pins().items() if found.url}


def test_the_corpora_are_there():
    assert list(FETCHED) == [
        "locomo",
        "longmemeval-s",
        "longmemeval-m",
        "longmemeval-oracle",
        "longmemeval-s-original",
        "longmemeval-m-original",
        "longmemeval-oracle-original",
        "longmemeval-judge",
    ]
    assert {pins()[name].tier for name in pins().keys() - FETCHED} == {"bundled", "local-file"}


@pytest.mark.parametrize("name", FETCHED)
def test_a_fetched_corpus_is_pinned_by_content_and_place(name):
    found = FETCHED[name]
    url = urlsplit(found.url)
    assert url.scheme == "https"
    assert not url.query
    assert re.fullmatch(r"[0-9a-f]{40}", found.revision)
    assert found.revision in url.path.split("/")
    assert url.path.rpartition("/")[2] == found.file
    assert found.source.startswith("https://")
    assert re.fullmatch(r"[A-Za-z0-9._-]+", found.file)
    assert not found.file.startswith(".")
    if found.tier == "pinned-upstream":
        assert re.fullmatch(r"[0-9a-f]{64}", found.sha256)
        assert found.size > 0
    else:
        assert found.tier == "pinned-on-first-fetch"
        assert found.sha256 is None


@pytest.mark.parametrize("name", pins())
def test_every_corpus_says_what_it_is(name):
    found = pins()[name]
    assert re.fullmatch(r"[a-z0-9-]+", name)
    assert 0 < len(found.title) <= 80
    assert found.licence
    assert found.label


def test_file_names_are_unique_so_that_a_mirror_can_be_one_folder():
    names = [found.file for found in FETCHED.values()]
    assert len(names) == len(set(names))


def test_the_same_bytes_have_the_same_pin():
    oracle, original = pins()["longmemeval-oracle"], pins()["longmemeval-oracle-original"]
    assert (oracle.sha256, oracle.size) == (original.sha256, original.size)


def test_the_pin_of_locomo_is_that_of_the_public_file(locomo_path):
    data = locomo_path.read_bytes()
    assert len(data) == pin("locomo").size
    assert hashlib.sha256(data).hexdigest() == pin("locomo").sha256


def test_non_commercial_is_read_from_the_licence():
    assert [name for name in pins() if pins()[name].non_commercial] == ["locomo"]


def test_a_pin_with_a_mistyped_field_is_refused():
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(
            b'{"title": "x", "licence": "MIT", "tier": "bundled", "sha": "1"}', type=Pin
        )


def test_a_mistyped_name_is_answered_with_the_near_one():
    with pytest.raises(UsageError, match="did you mean `locomo`"):
        pin("locmo")
    with pytest.raises(UsageError, match="there are synthetic, locomo"):
        pin("../../etc/passwd")
