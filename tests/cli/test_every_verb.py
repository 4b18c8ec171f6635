"""What every verb owes its reader: tables of 80 columns, the headline first, `--json`, no escapes.

The runs are real ones of hostile conversations: their texts, ids and categories want to steer the
terminal. Every verb of `VERBS` is either called here or named below with the reason why not.
"""

import csv
import json
import os
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from memruler.cli.main import VERBS, cli
from memruler.corpora.registry import BUNDLED
from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_file import CachedVector
from memruler.embedding.checked import text_key
from memruler.embedding.toy import Toy

ESC = "\x1b[2J\x1b]0;owned\x07\x1b[31m"
RTL = "\u202eevil\u200b"
WIDE = "\u8a18\u61b6" * 12

CALLS = {
    "demo": r"(WORSE|BETTER)",
    "doctor": r"(NOTHING|\d+) BROKEN",
    "retrieval jsonl --path hostile.jsonl --stem other": r"recall_all@\d+ \d\.\d{4} ",
    "score runs/derived": r"SCORES under raw, source, canonical",
    "answer runs/base --name again": r"\d+ answered",
    "grade runs/base --answers extractive": r"lexical +\w+ 0\.\d{4} over",
    "judge probes runs/base --out probes.jsonl": r"\d+ probes",
    "targets runs/derived": r"\w",
    "sweep sweep.toml --out swept": r"SWEEP of 2 cells",
    "sweep sweep.toml --dry-run": r"",
    "lineup jsonl builtin:lexical baseline:random --path hostile.jsonl -k 3 --out lined": (
        r"LINE-UP of 2 memories"
    ),
    "ab ab.toml --out sided": r"B IS WORSE  recall_all@3 ",
    "ab ab.toml --dry-run": r"a\n",
    "ablate ablation.toml --out ablated": r"ABLATION of 2 factors in 4 cells",
    "audit sample runs/derived --out cases.csv": r"\d+ cases of",
    "audit read labelled.csv": r"relaxed credit justified: ",
    "failures runs/candidate --text": r"\d+ missed of \d+ scored",
    "failures runs/base --answers extractive --grade lexical": r"\d+ missed of \d+ scored",
    "failures runs/base runs/candidate": r"\d+ gained and \d+ lost",
    "abstention runs/base --answers extractive": r"Abstention: \d+ queries",
    "export runs/base --format trec --out exported": r"exported",
    "verify bundle": r"VERIFIED",
    "compare runs/base runs/candidate --changed capacity -k common": r"WORSE  recall_all@3 ",
    "compare runs/base runs/candidate": r"",
    "gate runs/base runs/candidate --changed capacity --moved --by category": r"(FAIL|PASS)",
    "baseline propose runs/base --out proposal": r"NO BASELINE YET",
    "band one.csv two.csv": r"\w",
    "repeats draws.csv": r"right 0\.5000 \(4/8\)",
    "canary --run runs/base --metric recall_all@3 --plant 1": r"(SEES|BLIND)",
    "power runs/base runs/candidate": r"smallest effect",
    "time builtin:lexical builtin:lexical --instances 1 --queries 1 --rounds 4": r"OWN BAND",
    "systems list": r"built in",
    "report runs/base runs/candidate --changed capacity": r"WORSE  recall_all@3 ",
    "corpora check hostile.jsonl": r"read as +jsonl",
    "corpora check faulty.jsonl": r"",
    "corpora generate --out made.jsonl --instances 1": r"made\.jsonl",
    "corpora schema": r"\{",
    "list": r"corpus +version",
    "cache info": r"embedder|0 B of",  # which of these calls embed here, the order of tests says
    "cache verify": r"embedder",
    "cache replies": r"\d+ replies",
    "cache evict --max-size 1GB": r"removed \d+ vectors",
    "cache clear": r"removed \d+ vectors",
    "completion bash": r"_memruler_completion",
}
"""A call to what its first line begins with."""

ELSEWHERE = {
    "serve": "a server that runs until it is stopped",
    "view": "a server that runs until it is stopped: tests/browser",
    "fetch": "needs a source to fetch from: test_fetch.py",
}
REFUSED = {"compare runs/base runs/candidate": 4, "corpora check faulty.jsonl": 2}
"""What is asked wrongly, and how it ends; every other call ends with 0, or a gate with 1."""
NOT_TABLES = {"completion bash", "corpora schema"}
"""Made for programs: scripts and schemas have lines of their own."""


def _lines():
    """Hostile conversations: two, with three questions each."""
    for number in range(2):
        turns = [
            {"speaker": f"Ann{ESC}", "text": f"The parrot {name} {ESC}{RTL} likes {name}. {WIDE}"}
            for name in ("mango", "rain", "chess", "tea")
        ]
        sessions = [
            {"id": f"s{at}{ESC}", "time": f"2023-05-0{at + 1}T10:00:00", "turns": [turn]}
            for at, turn in enumerate(turns)
        ]
        queries = [
            {
                "text": f"Who likes {name}? {ESC}{RTL} {WIDE}",
                "category": f"kind {at} {ESC} {RTL} {WIDE}",
                "answer": f"the parrot {name} {ESC}",
                "evidence": {"turns": [[at, 0]]},
            }
            for at, name in enumerate(("mango", "rain", "chess"))
        ]
        yield json.dumps({"id": f"c{number} {ESC}{RTL}", "sessions": sessions, "queries": queries})


def _invoke(line, **env):
    return CliRunner(env={"COLUMNS": "80", **env}).invoke(cli, line.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("every")
    before = Path.cwd()
    os.chdir(where)
    Path("hostile.jsonl").write_text("\n".join(_lines()) + "\n")
    Path("faulty.jsonl").write_text('{"id": "a' + "\\u001b[2J" + '"}\n' * 3)
    study = (
        'system = "builtin:lexical"\nlimit = 3\n[corpus]\nname = "jsonl"\npath = "hostile.jsonl"\n'
    )
    Path("sweep.toml").write_text(
        f'out = "swept"\ntargets = ["raw", "source"]\ncutoffs = [1, 3]\n{study}'
        "[sweep]\ncapacity = [2, 4]\n"
    )
    Path("ablation.toml").write_text(
        f'out = "ablated"\nmetrics = [{{ level = "turn", metric = "recall_all@3" }}]\n{study}'
        "[factors.small]\noff = { capacity = 4 }\non = { capacity = 3 }\n"
        "[factors.words]\noff = { stop_words = true }\non = { stop_words = false }\n"
    )
    Path("ab.toml").write_text(
        'out = "sided"\nlimit = 3\ncutoffs = [1, 3]\nshared = true\n'
        '[corpus]\nname = "jsonl"\npath = "hostile.jsonl"\n[a]\nsystem = "builtin:lexical"\n'
        f'name = {json.dumps(RTL + WIDE)}\n[b]\nsystem = "builtin:lexical"\n'
        "settings = { capacity = 3 }\n"
    )
    Path("draws.csv").write_text(
        "id,repeat,right\n"
        + "".join(f"q{at},{draw},{at % 2}\n" for at in range(8) for draw in "012")
    )
    for name, right in (("one", (1, 0, 1, 1, 0, 1)), ("two", (1, 1, 1, 0, 0, 1))):
        rows = "".join(f"q{at},{value}\n" for at, value in enumerate(right))
        Path(f"{name}.csv").write_text(f"id,accuracy\n{rows}")
    vectors = VectorCache(Toy().identity(), "test")
    vectors.put([CachedVector(text_key("a")[1], bytes(256), None)])
    vectors.close()
    made = [
        "retrieval jsonl --path hostile.jsonl --limit 3 -k 1,3 --stem base",
        "retrieval jsonl --path hostile.jsonl --limit 3 -k 1,3 --stem again",
        "retrieval jsonl --path hostile.jsonl --limit 3 -k 1,3 --set capacity=3 --stem candidate",
        "retrieval synthetic --system builtin:derived --set ranking=lexical --stem derived",
        "answer runs/base",
        "grade runs/base",
        "export runs/base --format bundle --out bundle",
        "audit sample runs/derived --out labelled.csv",
    ]
    for line in made:
        done = _invoke(line)
        assert done.exit_code == 0, (line, done.output, done.exception)
    with Path("labelled.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for at, row in enumerate(rows):
        row["label:rater-1"] = "yes" if at % 3 else "no"
    with Path("labelled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    yield where
    os.chdir(before)


def _printed(result):
    return [*result.stdout.splitlines(), *result.stderr.splitlines()]


def _code(line):
    return REFUSED.get(line, 1 if line.startswith("gate") else 0)


def _leaks(text):
    return sorted({c for c in text if not (c.isprintable() or c == "\n")})


@pytest.mark.parametrize("line", CALLS)
def test_what_a_person_sees(folder, line):
    assert folder == Path.cwd()
    done = _invoke(line)
    assert done.exit_code == _code(line), (done.output, done.exception)
    assert _leaks(done.stdout + done.stderr) == []
    if line not in NOT_TABLES:
        wide = [told for told in _printed(done) if cell_len(told) > 80]
        assert [told for told in wide if not _to_be_pasted(told)] == []
    assert done.stdout or line in REFUSED
    assert re.match(CALLS[line], done.stdout), done.stdout[:200]


def _to_be_pasted(line):
    """Commands and paths stay in one line whatever their length."""
    return (
        re.match(r"\S* ?-m memruler |report: |\S+/\S+$|.* in /\S+$|\S*pip install ", line)
        is not None
    )


@pytest.mark.parametrize("line", CALLS)
def test_what_a_program_reads(folder, line):
    assert folder == Path.cwd()
    changed = line.replace("exported", "exported-2").replace("--stem other", "--stem third")
    changed = changed.replace("--name again", "--name third").replace("proposal", "proposal-2")
    changed = changed.replace("out cases", "out cases-2")
    done = _invoke(f"{changed} --json", FORCE_COLOR="1")
    assert done.exit_code == _code(line), (done.output, done.exception)
    assert "\x1b" not in done.output
    json.loads(done.stdout)


def _commands(group, name=""):
    for verb in group.list_commands(None):
        found = group.get_command(None, verb)
        full = f"{name} {verb}".strip()
        if isinstance(found, click.Group):
            yield from _commands(found, full)
        else:
            yield full, found


def test_every_verb_has_json():
    lacking = [
        name
        for name, command in _commands(cli)
        if name != "serve"  # it answers over the network and prints nothing
        and not any("--json" in option.opts for option in command.params)
    ]
    assert lacking == []


def test_every_verb_is_called_here_or_named_with_a_reason():
    assert {line.split()[0] for line in CALLS} | set(ELSEWHERE) == set(VERBS)
    assert not {line.split()[0] for line in CALLS} & set(ELSEWHERE)


@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "", "NO_COLOR": ""}, False),
    ],
)
def test_who_gets_colour(folder, env, coloured):
    line = "compare runs/base runs/candidate --changed capacity -k common"
    assert folder == Path.cwd()
    clean = {"FORCE_COLOR": None, "NO_COLOR": None, "TERM": "xterm-256color", **env}
    codes = re.findall(r"\x1b\[([\d;]*)m", _invoke(line, **clean).stdout)
    # Bold is no colour: NO_COLOR may leave it.
    assert any(re.search(r"(^|;)(3|4|9)\d", code) for code in codes) is coloured


def test_the_corpus_is_as_hostile_as_it_should_be():
    assert "\\u001b[2J" in next(iter(_lines()))
    assert BUNDLED.is_file()
