"""The lock covers what the project asks for, and says nothing about where it was made."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements" / "ci.txt").read_text(encoding="utf-8").splitlines()
PINS = {
    canonicalize_name(name): version
    for name, _, version in (line.partition("==") for line in LOCK if not line.startswith("#"))
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WANTED = [
    *PROJECT["project"]["dependencies"],
    *(
        requirement
        for extra in ("local", "dev", "llm")
        for requirement in PROJECT["project"]["optional-dependencies"][extra]
    ),
    *PROJECT["build-system"]["requires"],
]


def test_every_line_is_a_pin():
    odd = [
        line
        for line in LOCK
        if not line.startswith("#") and not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][\w.+!]*", line)
    ]
    assert odd == []


@pytest.mark.parametrize("wanted", WANTED)
def test_requirement_is_locked(wanted):
    requirement = Requirement(wanted)
    name = canonicalize_name(requirement.name)
    assert name in PINS, "run: bash .ci/lock"
    assert requirement.specifier.contains(PINS[name], prereleases=True)


def test_neither_torch_nor_memruler_is_locked():
    assert PINS.keys() & {"torch", "sentence-transformers", "memruler"} == set()
