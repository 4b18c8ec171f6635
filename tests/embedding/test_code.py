import ast
from importlib.resources import files

import pytest

from memruler.embedding import code
from memruler.embedding.code import code_digest
from memruler.embedding.toy import Toy

MINILM = "memruler.embedding.minilm"


def _with(monkeypatch, changed, edit=lambda text: text + "# changed\n"):
    real = code._source
    monkeypatch.setattr(
        code, "_source", lambda name: edit(real(name)) if name == changed else real(name)
    )


@pytest.mark.parametrize("module", ["minilm", "pooling", "tokens", "windows", "assets", "checked"])
def test_what_shapes_a_vector_shapes_the_digest(monkeypatch, module):
    before = code_digest(MINILM)
    _with(monkeypatch, module)
    assert code_digest(MINILM) != before


@pytest.mark.parametrize("module", ["cache", "cache_file", "usage", "toy", "endpoint", "drift"])
def test_what_does_not_leaves_it_alone(monkeypatch, module):
    before = code_digest(MINILM)
    _with(monkeypatch, module)
    assert code_digest(MINILM) == before


def test_every_import_within_the_room_is_seen():
    for path in files("memruler.embedding").iterdir():
        if not path.name.endswith(".py"):
            continue
        text = path.read_text("utf-8")
        nodes = list(ast.walk(ast.parse(text)))
        imported = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        imported |= {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
        room = {str(name) for name in imported if str(name).startswith("memruler.embedding")}
        assert room == {f"memruler.embedding.{name}" for name in code._IMPORT.findall(text)}
        assert not any(isinstance(node, ast.ImportFrom) and node.level for node in nodes)


def test_line_ends_of_a_checkout_do_not_count(monkeypatch, tmp_path):
    before = code_digest("memruler.embedding.toy")
    for name in ("toy", "checked", "code", "base"):
        text = code._source(name)
        (tmp_path / f"{name}.py").write_bytes(text.replace("\n", "\r\n").encode())
    monkeypatch.setattr(code, "files", lambda _: tmp_path)
    assert code_digest("memruler.embedding.toy") == before


def test_a_source_that_is_gone_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(code, "files", lambda _: tmp_path)
    with pytest.raises(code.InstrumentError, match="source of the embedder"):
        code_digest(MINILM)


def test_identities_carry_it():
    assert Toy().identity().code_sha256 == code_digest("memruler.embedding.toy")
