import sys
import warnings

import pytest

from memruler import plugins
from memruler.errors import UsageError
from memruler.plugins import (
    PluginTable,
    PluginWarning,
    class_name,
    described,
    did_you_mean,
)

GROUP = "memruler.test_things"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a package that declares entry points, as an installer would leave it."""
    monkeypatch.setattr(plugins, "_warned", set())
    monkeypatch.syspath_prepend(tmp_path)

    def make(name, lines, code=""):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n")
        (tmp_path / f"{name}_code.py").write_text(code)

    yield make
    for name in [name for name in sys.modules if name.endswith("_code")]:
        del sys.modules[name]


@pytest.fixture
def table():
    return PluginTable("thing", GROUP, {"own": "math:sqrt", "heavy": "absent.module:X"})


def test_own_names_are_listed_without_an_import(table):
    assert table.names() == ["own", "heavy"]
    assert table.load("own")(9) == 3


def test_installed_names_follow_and_are_imported_when_asked_for(install, table):
    install("good", "extra = good_code:Thing", "Thing = 5")
    assert table.names() == ["own", "heavy", "extra"]
    assert "good_code" not in sys.modules
    assert table.load("extra") == 5


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("bad = not a place at all!", "points nowhere"),
        ("own = good_code:Thing", "memruler's own"),
        ("a line without an equals sign", "cannot be read"),
    ],
)
def test_a_broken_plug_in_costs_one_warning_and_not_the_list(install, table, lines, said):
    install("bad", lines)
    install("good", "extra = good_code:Thing", "Thing = 5")
    with pytest.warns(PluginWarning, match=said) as caught:
        assert table.names() == ["own", "heavy", "extra"]
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert table.load("extra") == 5
        assert table.load("own")(4) == 2


def test_a_name_declared_twice_keeps_one(install, table):
    install("one", "extra = one_code:Thing", "Thing = 1")
    install("two", "extra = two_code:Thing", "Thing = 2")
    with pytest.warns(PluginWarning, match="declared twice"):
        assert table.names() == ["own", "heavy", "extra"]
    assert table.load("extra") in {1, 2}


@pytest.mark.parametrize(
    "code", ["raise RuntimeError('at import')", "other = 1", "import absent_x"]
)
def test_a_plug_in_that_cannot_be_imported(install, table, code):
    install("bad", "extra = bad_code:Thing", code)
    assert "extra" in table.names()
    with pytest.raises(UsageError, match="the thing extra cannot be imported") as caught:
        table.load("extra")
    assert "bad_code:Thing" in str(caught.value)


def test_an_unknown_name(table):
    with pytest.raises(UsageError, match="did you mean heavy"):
        table.load("heavvy")


def test_hints():
    assert did_you_mean("DENSE", ["dense"], prefix="builtin:") == "did you mean builtin:dense?"
    assert did_you_mean("qqq", ["b", "a"]) == "known: a, b"
    assert did_you_mean("qqq", []) == "none is known"


@pytest.mark.parametrize("error", ["SystemExit(0)", "GeneratorExit", "BaseException('odd')"])
def test_a_package_that_ends_the_program_on_import_is_a_mistake_too(install, table, error):
    install("bad", "extra = bad_code:Thing", f"raise {error}")
    with pytest.raises(UsageError, match="the thing extra cannot be imported: ") as caught:
        table.load("extra")
    assert error.partition("(")[0] in str(caught.value)


class Mute(Exception):  # noqa: N818
    def __str__(self):
        raise SystemExit(4)


class Loud(type):
    @property
    def __name__(cls):
        raise OSError


class Nameless(metaclass=Loud):
    pass


def test_an_error_is_described_whatever_its_class_does():
    assert described(OSError()) == "OSError"
    assert described(ValueError("x")) == "ValueError: x"
    assert described(Mute()) == "Mute: its message cannot be read"
    assert class_name(Nameless()) == "Nameless"
