"""Names of graders, plug-ins, and digests that show every change of what shapes a value."""

import ast
import re
import sys
from pathlib import Path

import pytest

import memruler
from memruler import plugins
from memruler.corpora.longmemeval_judge import ABSTENTION, TYPES, Templates
from memruler.errors import UsageError
from memruler.plugins import PluginWarning
from memruler.scoring.graders import common, registry
from memruler.scoring.graders.base import Grader
from memruler.scoring.graders.longmemeval import LongMemEvalGrader
from memruler.scoring.graders.registry import default_graders, grader_names, open_grader

ROOT = Path(memruler.__file__).parent
FETCHED = "longmemeval:official"
SHAPING = ("metrics.answers.", "scoring.graders.", "judges.rubric", "corpora.longmemeval_judge")
NOT_SHAPING = {"scoring.graders.base"}  # the protocols, and the words `no judge`
NAMES = list(registry._TABLE._own)


def opened(name):
    if name == FETCHED:
        texts = dict.fromkeys((*TYPES, ABSTENTION), "{} {} {}")
        return LongMemEvalGrader(Templates(texts, "5" * 64))
    if name.endswith("nltk"):
        pytest.importorskip("nltk", reason="needs memruler[nltk]")
    return open_grader(name)


def imported(module):
    """The modules below `memruler` that a module imports, by its source."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8"))
    return {
        node.module.removeprefix("memruler.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memruler.")
    }


def shaping(module):
    """The module itself and every one that it stands on and that shapes a value."""
    found, left = set(), {module}
    while left:
        one = left.pop()
        found.add(one)
        left |= {
            other
            for other in imported(one)
            if other.startswith(SHAPING) and other not in NOT_SHAPING | found
        }
    return found


def test_the_names():
    assert grader_names()[: len(NAMES)] == NAMES
    assert {name.split(":")[0] for name in NAMES} == {
        "locomo",
        "longmemeval",
        "beam",
        "answer",
        "lexical",
        "squad",
        "exact",
        "substring",
        "set",
        "ordered-set",
        "mcq",
    }


@pytest.mark.parametrize("name", NAMES)
def test_each_is_called_what_it_is_asked_for_by(name):
    grader = opened(name)
    assert isinstance(grader, Grader)
    assert grader.name == name


@pytest.mark.parametrize("name", NAMES)
def test_a_digest_covers_every_module_that_shapes_a_value(name, monkeypatch):
    grader = opened(name)
    before = grader.sha256()
    assert before == opened(name).sha256()
    assert len(before) == 64
    read = common._source
    own = type(grader).__module__.removeprefix("memruler.")
    modules = shaping(own)
    assert {own, "scoring.graders.common"} <= modules
    for changed in modules:
        monkeypatch.setattr(
            common, "_source", lambda one, changed=changed: read(one) + "#" * (one == changed)
        )
        assert grader.sha256() != before, changed
    monkeypatch.setattr(common, "_source", read)
    assert grader.sha256() == before


def test_no_two_graders_have_the_same_digest():
    digests = {name: opened(name).sha256() for name in NAMES}
    assert len(set(digests.values())) == len(NAMES)


@pytest.mark.parametrize(
    ("name", "rubrics"),
    [
        ("beam:official", {"beam", "same_event"}),
        ("longmemeval:memruler", {"longmemeval", "refusal"}),
        ("answer:memruler", {"answer", "refusal"}),
    ],
)
def test_a_digest_covers_the_rubrics(name, rubrics, monkeypatch):
    grader = open_grader(name)
    before, module = grader.sha256(), sys.modules[type(grader).__module__]
    load = module.load_rubric
    for changed in rubrics:
        monkeypatch.setattr(
            module,
            "load_rubric",
            lambda one, changed=changed: (
                load(one)._replace(sha256="0" * 64) if one == changed else load(one)
            ),
        )
        assert grader.sha256() != before, changed


def test_a_digest_covers_the_library_that_stems_or_overlaps(monkeypatch):
    for name, module, function in (
        ("locomo:official", "locomo", "stemmer_version"),
        ("longmemeval:memruler", "longmemeval", "stemmer_version"),
        ("lexical", "lexical", "_installed"),
    ):
        grader = open_grader(name)
        before = grader.sha256()
        place = f"memruler.scoring.graders.{module}.{function}"
        monkeypatch.setattr(place, lambda _: "another 9.9")
        assert grader.sha256() != before, name


def test_the_graders_of_a_corpus():
    assert default_graders("locomo") == ("locomo:official", "locomo:corrected")
    assert default_graders("longmemeval-s-original") == ("longmemeval:memruler", "lexical")
    assert default_graders("beam-100k") == ("beam:official", "beam:corrected")
    assert default_graders("jsonl") == default_graders("") == ("lexical",)
    for corpus in ("locomo", "longmemeval", "beam", "x"):
        assert set(default_graders(corpus)) <= set(NAMES)


def test_the_document_names_every_grader_and_says_what_it_is():
    document = Path(__file__).parents[3] / "docs" / "answers.md"
    table = document.read_text("utf-8").partition("## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table if "| `" in line]
    written = {
        name: (metric.strip("`"), accuracy == "yes", judged == "yes")
        for names, _, metric, accuracy, judged in rows
        for name in re.findall(r"`([a-z:-]+)`", names)
    }
    graders = {name: opened(name) for name in NAMES}
    assert written == {
        name: (grader.metric, grader.accuracy, grader.judged) for name, grader in graders.items()
    }


def test_an_unknown_grader():
    with pytest.raises(UsageError, match="did you mean locomo:official"):
        open_grader("locomo:oficial")


PLUG_IN = """
from memruler.model.answers import Graded

class Length:
    name = "length"
    metric = "accuracy"
    judged = False
    accuracy = True

    def sha256(self):
        return "1" * 64

    def grade(self, item, ask):
        return Graded(value=float(len(item.response) < 9))
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a package that declares a grader, as an installer would leave it."""
    monkeypatch.setattr(plugins, "_warned", set())
    monkeypatch.syspath_prepend(tmp_path)

    def make(line):
        info = tmp_path / "invented_grader-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: invented-grader\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(f"[memruler.graders]\n{line}\n")
        (tmp_path / "invented_grader_code.py").write_text(PLUG_IN)

    yield make
    sys.modules.pop("invented_grader_code", None)


def test_a_grader_of_another_package(install, make_item):
    install("length = invented_grader_code:Length")
    assert "length" in grader_names()
    assert "invented_grader_code" not in sys.modules
    grader = open_grader("length")
    assert isinstance(grader, Grader)
    assert grader.grade(make_item("red kite"), None).value == 1
    assert grader.grade(make_item("a long answer"), None).value == 0


def test_a_grader_of_another_package_takes_no_name_of_memruler(install):
    install("exact = invented_grader_code:Length")
    with pytest.warns(PluginWarning, match="memruler's own"):
        assert grader_names().count("exact") == 1
    assert open_grader("exact").metric == "accuracy"
    assert "invented_grader_code" not in sys.modules
