import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memruler.embedding.tokens import load_tokenizer
from memruler.embedding.windows import WINDOW, first_ids, id_parts

pytest.importorskip("tokenizers", reason="needs memruler[local]")

PIECES = st.sampled_from(
    [
        *("word", "unbelievably", "x" * 130, "don't", "...", "12.5%", "😀", "👨\u200d👩\u200d👧"),
        *("é", "e\u0301", "\u0301", "\u0327", "ßẞ", "ﬁ", "İ", "नि", "क्ष", "\u0627\u064b"),
        *("中文", "가", "\u1100", "\u1161", "\u11a8"),
        *("\u200b", "\u200d", "\u00ad", "\u202e", "\x00", "\x07", "\ufffd"),
        *(" ", "\n", "\t", "\u00a0", "\u3000"),
        *("[MASK]", "[MA", "SK]", "[", "[CLS", "[SEP]"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=30).map("".join)


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(None)[0]


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, window=st.integers(1, 12))
@example(text="a" + "\u0301\u0327" * 40 + "b", window=3)
@example(text="[MASK][MA SK]", window=2)
@example(text="y" * 99 + "\u0301" + "z" * 3, window=7)
def test_windows_give_the_ids_of_the_whole(tokenizer, text, window):
    whole = tokenizer.encode(text, add_special_tokens=False).ids
    assert [number for part in id_parts(tokenizer, text, window) for number in part] == whole


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, times=st.integers(1, 900), count=st.integers(0, 400))
def test_the_first_ids_are_a_prefix(tokenizer, text, times, count):
    whole = tokenizer.encode(text * times, add_special_tokens=False).ids
    assert first_ids(tokenizer, text * times, count) == whole[:count]


@pytest.mark.parametrize(
    "piece", ["x", "\u0301", "\u302a", "\u200b", " ", "[MA", "中", "😀", "\0é "]
)
def test_beyond_one_real_window(tokenizer, piece):
    text = "begin " + piece * (2 * WINDOW + 100) + " end"
    whole = tokenizer.encode(text, add_special_tokens=False).ids
    assert [number for part in id_parts(tokenizer, text) for number in part] == whole


HUGE = """
import resource, sys
import numpy as np
from memruler.embedding.minilm import MiniLm
from memruler.embedding.windows import WINDOW
model = MiniLm(threads=1)
short = " ".join(f"word{n}" for n in range(1000))
assert len(short) < WINDOW  # so it is read whole
assert model.truncated([short]) == 1
expected = model.embed([short])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
huge = short + " tail" * 2_000_000
assert len(huge) > 10_000_000
assert (model.embed([huge]) == expected).all()
assert model.truncated([huge, "short"]) == 1
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory in Linux's units")
def test_ten_megabytes_need_no_gigabyte():
    pytest.importorskip("onnxruntime", reason="needs memruler[local]")
    done = subprocess.run([sys.executable, "-c", HUGE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100 * 1024  # KiB
