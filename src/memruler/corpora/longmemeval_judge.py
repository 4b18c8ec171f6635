"""LongMemEval's own judge templates, taken out of its source text without running any of it.

The file is fetched like a corpus (`memruler fetch longmemeval-judge`). It is parsed, and only
string constants are read: nothing of it is ever executed.
"""

import ast
import string
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from memruler.corpora.cached import cached_path, locate, state
from memruler.errors import FormatError, UsageError
from memruler.store.safe import read_bytes

__all__ = ["ABSTENTION", "NAME", "TYPES", "Templates", "extract_templates", "official_templates"]

NAME: Final = "longmemeval-judge"
TYPES: Final = (
    "single-session-user",
    "single-session-assistant",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
    "single-session-preference",
)
ABSTENTION: Final = "abstention"
_FUNCTION, _TASK, _VARIABLE = "get_anscheck_prompt", "task", "template"
_SLOTS = 3
_LARGEST = 1 << 20


class Templates(msgspec.Struct, frozen=True):
    """The five templates.

    Attributes:
        texts: Each type of question, and `ABSTENTION`, to its text with three `{}`: question,
            gold answer (or rubric, or explanation) and response.
        sha256: Of the file that they are from.
    """

    texts: dict[str, str]
    sha256: str


def official_templates() -> Templates:
    """The templates of the fetched file.

    Raises:
        UsageError: It was not fetched.
        ChecksumError: It is not the file that was fetched.
        FormatError: It holds other templates than five.
    """
    if state(NAME) in {"absent", "partial"}:
        raise UsageError(
            "LongMemEval's own judge templates were not fetched",
            where=cached_path(NAME).parent,
            hint=f"`memruler fetch {NAME}`, or grade with longmemeval:memruler",
        )
    found = locate(NAME)
    source = read_bytes(found.path)
    return Templates(extract_templates(source, found.path), found.sha256)


def extract_templates(source: bytes, where: Path) -> dict[str, str]:
    """Read the templates of a Python source.

    Expected is a function whose branches test `task` and assign a string constant to `template`;
    the one that stands under no such test is the one for abstention.

    Args:
        source: The file.
        where: Its path, for messages.

    Raises:
        FormatError: It is not such a source, lacks a template, has one twice, or one of them has
            other slots than three `{}`.
    """
    if len(source) > _LARGEST:
        raise _fault("it is too long", where)
    try:
        # Decoded here, so that the file chooses no codec; and its odd escapes are no news.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.decode("utf-8-sig"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _fault(f"it cannot be parsed: {error}", where) from None
    try:
        return _templates(tree, where)
    except RecursionError:
        raise _fault("it is nested too deeply", where) from None


def _templates(tree: ast.Module, where: Path) -> dict[str, str]:
    functions = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == _FUNCTION
    ]
    if len(functions) != 1:
        raise _fault(f"it has {len(functions)} functions {_FUNCTION}", where)
    texts: dict[str, str] = {}
    for types, text in _assigned(functions[0].body, (), where):
        for name in types or (ABSTENTION,):
            if name in texts:
                raise _fault(f"two templates for {name}", where)
            texts[name] = text
    if set(texts) != {*TYPES, ABSTENTION}:
        raise _fault(f"templates for {', '.join(sorted(texts)) or 'nothing'}", where)
    for name, text in texts.items():
        if not _three_slots(text):
            raise _fault(f"the template for {name} has not three slots", where)
    return texts


def _assigned(
    body: list[ast.stmt], types: tuple[str, ...], where: Path
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every template with the types that its branch tests; none outside such a branch."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _assigned(node.body, _tested(node.test) or types, where)
            yield from _assigned(node.orelse, types, where)
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == _VARIABLE for target in node.targets
        ):
            value = node.value
            if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
                raise _fault("a template is no plain text", where)
            yield types, value.value


def _tested(test: ast.expr) -> tuple[str, ...]:
    """The types that a branch is for; empty where it tests something else."""
    if not (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == _TASK
        and len(test.ops) == 1
    ):
        return ()
    (right,) = test.comparators
    if isinstance(test.ops[0], ast.Eq):
        constants: list[ast.expr] = [right]
    elif isinstance(test.ops[0], ast.In) and isinstance(right, ast.List | ast.Tuple | ast.Set):
        constants = right.elts
    else:
        return ()
    return tuple(
        one.value
        for one in constants
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    )


def _three_slots(text: str) -> bool:
    try:
        fields = [part[1:] for part in string.Formatter().parse(text) if part[1] is not None]
    except ValueError:
        return False
    # A named or formatted slot could reach into what is put there.
    return fields == [("", "", None)] * _SLOTS


def _fault(what: str, where: Path) -> FormatError:
    return FormatError(
        f"no source of LongMemEval's judge: {what}",
        where=where,
        hint=f"`memruler fetch {NAME} --force` fetches the pinned one",
    )
