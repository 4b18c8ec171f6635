"""Every refusal that the code can make stands in docs/refusals.md, with its words and its place."""

import ast
import re
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from memruler.compare.record import ReasonCode
from memruler.corpora.populations import REASONS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "memruler"
PAGE = (ROOT / "docs" / "refusals.md").read_text(encoding="utf-8")
_PLACE = re.compile(r"<!-- (\S+\.py) -->")
_LEAST = 12  # letters of a message that say which one it is


def _calls(tree: ast.Module) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Refusal"
    ]


def _constants(tree: ast.Module) -> dict[str, str]:
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }


def _words(node: ast.AST, known: dict[str, str]) -> list[str]:
    """The fixed parts of the reasons that stand in the call itself, in order."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        found = [node.value]
    elif isinstance(node, ast.Name) and node.id in known:
        found = [known[node.id]]
    elif isinstance(node, ast.JoinedStr):
        found = [part.value for part in node.values if isinstance(part, ast.Constant)]
    elif isinstance(node, ast.List | ast.BoolOp | ast.ListComp):
        parts = getattr(node, "elts", getattr(node, "values", [getattr(node, "elt", None)]))
        found = [text for part in parts for text in _words(part, known)]
    else:
        found = []
    return [text.strip() for text in found if len(text.strip()) >= _LEAST]


def _refusals() -> list[tuple[str, list[str]]]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = _constants(tree)
        where = path.relative_to(SOURCE).as_posix()
        found += [(where, _words(call.args[0], known)) for call in _calls(tree)]
    return found


REFUSALS = _refusals()


def _rows(place: str, page: str = PAGE) -> str:
    return "\n".join(row for row in page.splitlines() if f"<!-- {place} -->" in row)


def test_every_refusal_has_its_row_and_no_row_is_left_over():
    assert len(REFUSALS) > 40
    code = Counter(place for place, _ in REFUSALS)
    assert code == Counter(_PLACE.findall(PAGE))


@pytest.mark.parametrize("place", sorted({place for place, _ in REFUSALS}))
def test_its_words_are_those_of_the_code(place):
    row = _rows(place)
    for found, texts in REFUSALS:
        if found == place:
            assert [text for text in texts if text not in row] == []


def test_every_row_says_what_to_do():
    rows = [row for row in PAGE.splitlines() if _PLACE.search(row)]
    for row in rows:
        _, says, why, what_to_do, _ = re.split(r"(?<!\\)\|", row)
        assert min(len(_PLACE.sub("", says)), len(why), len(what_to_do)) > _LEAST, row


def test_every_code_has_its_row():
    rows = re.findall(r"^\| `([\w-]+)` \| .+ \| .+ \|$", PAGE, re.MULTILINE)
    assert rows == list(get_args(ReasonCode))


def test_every_reason_to_leave_a_query_out_is_told():
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|$", PAGE, re.MULTILINE))
    assert rows == REASONS


def test_the_judge_itself():
    tree = ast.parse(
        "WORDS = 'nothing can be told of it'\n"
        "def open():\n"
        "    raise Refusal(other or [f'{n} boxes are empty: {why}', WORDS])\n"
        "raise errors.Refusal([f'{n} lids are closed' for n in boxes], hint='look into the box')\n"
    )
    first, second = sorted(_calls(tree), key=lambda call: call.lineno)
    known = _constants(tree)
    assert _words(first.args[0], known) == ["boxes are empty:", "nothing can be told of it"]
    assert _words(second.args[0], known) == ["lids are closed"]
    assert _rows("a.py", "| x <!-- a.py --> | y |\n| z |") == "| x <!-- a.py --> | y |"
