"""The examples in the docstrings of the room are what it does."""

import doctest
import importlib
import pkgutil

import pytest

import memruler.stats


@pytest.mark.parametrize(
    "name", [found.name for found in pkgutil.iter_modules(memruler.stats.__path__)]
)
def test_examples(name):
    done = doctest.testmod(importlib.import_module(f"memruler.stats.{name}"))
    assert done.failed == 0
