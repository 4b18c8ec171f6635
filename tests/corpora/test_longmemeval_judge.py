"""The judge's templates are taken out of a source text, of which nothing ever runs."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from memruler.corpora.cached import Record, cached_path, stamp_of, write_record
from memruler.corpora.longmemeval_judge import (
    ABSTENTION,
    NAME,
    TYPES,
    extract_templates,
    official_templates,
)
from memruler.errors import ChecksumError, FormatError, UsageError
from memruler.model.answers import AnswerItem
from memruler.scoring.graders.registry import open_grader

WHERE = Path("judge.py")

# Invented texts in a source of the same structure.
SOURCE = """
import absent_package_xyz

MODELS = {"a": ("b", "c")}


def other(task):
    template = "not this one {}"
    return template


def get_anscheck_prompt(task, question, answer, response, abstention=False):
    if not abstention:
        if task in ["single-session-user", "single-session-assistant", "multi-session"]:
            template = "BASE\\\\d {} | {} | {} yes or no?"
            prompt = template.format(question, answer, response)
        elif task == "temporal-reasoning":
            template = "TEMPORAL {} | {} | {}"
            prompt = template.format(question, answer, response)
        elif task == "knowledge-update":
            template = "UPDATE {} | {} | {}"
            prompt = template.format(question, answer, response)
        elif task == "single-session-preference":
            template = "PREFERENCE {} | {} | {}"
            prompt = template.format(question, answer, response)
        else:
            raise NotImplementedError
    else:
        template = "ABSTENTION {} | {} | {{}} {}"
        prompt = template.format(question, answer, response)
    return prompt


if __name__ == "__main__":
    raise SystemExit("it ran")
"""
BASE = '"BASE\\\\d {} | {} | {} yes or no?"'


def changed(old, new):
    assert SOURCE.count(old) == 1
    return SOURCE.replace(old, new)


def test_the_templates_are_found_by_type():
    texts = extract_templates(SOURCE.encode(), WHERE)
    assert set(texts) == {*TYPES, ABSTENTION}
    heads = {name: text.split()[0] for name, text in texts.items()}
    assert heads == {
        "single-session-user": "BASE\\d",
        "single-session-assistant": "BASE\\d",
        "multi-session": "BASE\\d",
        "temporal-reasoning": "TEMPORAL",
        "knowledge-update": "UPDATE",
        "single-session-preference": "PREFERENCE",
        "abstention": "ABSTENTION",
    }
    assert texts["multi-session"] == "BASE\\d {} | {} | {} yes or no?"
    assert texts["abstention"].format(1, 2, 3) == "ABSTENTION 1 | 2 | {} 3"


def test_a_byte_order_mark_and_odd_escapes_do_not_matter():
    odd = changed("BASE\\\\d", "BASE\\d")
    texts = extract_templates(b"\xef\xbb\xbf" + odd.encode(), WHERE)
    assert texts["multi-session"].startswith("BASE\\d {}")


def nested(line, depth):
    """An `elif` chain, which is a deep tree though its text is flat."""
    chain = "".join(f"    elif task == 't{i}':\n        pass\n" for i in range(depth))
    return f"def get_anscheck_prompt(task):\n    if task == 'x':\n        {line}\n{chain}"


HOSTILE = {
    "an f-string": (changed(BASE, 'f"{task} {{}} {{}} {{}}"'), "no plain text"),
    "a call": (changed(BASE, f"str({BASE})"), "no plain text"),
    "a concatenation": (changed(BASE, f"{BASE} + task"), "no plain text"),
    "a format": (changed(BASE, f"{BASE} % task"), "no plain text"),
    "bytes": (changed(BASE, 'b"{} {} {}"'), "no plain text"),
    "a number": (changed(BASE, "5"), "no plain text"),
    "no function": (SOURCE.replace("get_anscheck_prompt", "other_prompt"), "has 0 functions"),
    "two functions": (SOURCE + SOURCE, "has 2 functions"),
    "a function inside another": (
        "def f():\n" + "\n".join(f"    {line}" for line in SOURCE.splitlines()),
        "has 0 functions",
    ),
    "a missing branch": (changed('task == "knowledge-update"', 'task == "other"'), "templates for"),
    "an unknown test": (changed('task == "temporal-reasoning"', 'task.x == "y"'), "two templates"),
    "a branch twice": (
        changed('task == "knowledge-update"', 'task == "multi-session"'),
        "two templates for multi-session",
    ),
    "no template": ("def get_anscheck_prompt(task):\n    return task\n", "templates for nothing"),
    "an extra slot": (changed(BASE, '"BASE {} {} {} {}"'), "has not three slots"),
    "a slot too few": (changed(BASE, '"BASE {} {}"'), "has not three slots"),
    "a named slot": (changed(BASE, '"BASE {} {} {0.__class__}"'), "has not three slots"),
    "a numbered slot": (changed(BASE, '"BASE {0} {1} {2}"'), "has not three slots"),
    "a format in a slot": (changed(BASE, '"BASE {} {} {:>999999999}"'), "has not three slots"),
    "a slot inside a slot": (changed(BASE, '"BASE {} {} {:{}}"'), "has not three slots"),
    "a conversion": (changed(BASE, '"BASE {} {} {!r}"'), "has not three slots"),
    "an open brace": (changed(BASE, '"BASE {} {} {} {"'), "has not three slots"),
    "no Python": ("{not python", "cannot be parsed"),
    "a NUL": (SOURCE + "\0", "cannot be parsed"),
    "empty": ("", "has 0 functions"),
    "JSON": ('{"a": 1}', "has 0 functions"),
    "brackets without end": ("(" * 5_000, "cannot be parsed"),
    "a deep tree": ("x = " + "-" * 50_000 + "1", "cannot be parsed|has 0 functions"),
    "a deep chain": (nested("pass", 1_500), "nested too deeply|cannot be parsed"),
    "a deeper chain": (nested("pass", 5_000), "nested too deeply|cannot be parsed"),
    "too long": (SOURCE + "#" * (1 << 20), "too long"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_any_other_source_is_refused(name):
    source, said = HOSTILE[name]
    with pytest.raises(FormatError, match=said) as caught:
        extract_templates(source.encode(), WHERE)
    assert "memruler fetch longmemeval-judge --force" in str(caught.value)


def test_bytes_that_are_no_utf_8_are_refused_and_the_file_chooses_no_codec():
    for source in (b"\xff\xfe\x00", SOURCE.encode("utf-16"), "# caf\u00e9".encode("latin-1")):
        with pytest.raises(FormatError, match="cannot be parsed"):
            extract_templates(source, WHERE)
    cookie = b"# -*- coding: latin-1 -*-\n"
    texts = extract_templates(cookie + changed("UPDATE", "caf\u00e9").encode(), WHERE)
    assert texts["knowledge-update"].startswith("caf\u00e9 {}")


def test_nothing_of_the_file_runs(tmp_path):
    proof = tmp_path / "it-ran"
    line = f"open({str(proof)!r}, 'w').write('x')"
    source = (
        f"{line}\nimport antigravity_xyz\n"
        + SOURCE.replace(
            "abstention=False", f"abstention=exec({line!r}), *, more: exec({line!r}) = None"
        ).replace("def get_ans", f"@exec({line!r})\ndef get_ans")
        + f"\nclass C:\n    {line}\n"
    )
    before = set(sys.modules)
    texts = extract_templates(source.encode(), WHERE)
    assert set(texts) == {*TYPES, ABSTENTION}
    assert not proof.exists()
    assert not any("xyz" in name for name in set(sys.modules) - before)


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """The source in the cache, as a fetch leaves it."""
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path / "cache"))

    def put(source=SOURCE):
        path = cached_path(NAME)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.encode())
        digest = hashlib.sha256(source.encode()).hexdigest()
        record = Record(
            url="https://h.example/judge.py",
            size=len(source.encode()),
            sha256=digest,
            fetched=None,
            stamp=stamp_of(path),
        )
        write_record(path, record)
        return path, digest

    return put


def test_the_fetched_file_gives_the_grader(cached):
    _, digest = cached()
    templates = official_templates()
    assert templates.sha256 == digest
    assert templates.texts == extract_templates(SOURCE.encode(), WHERE)
    assert open_grader("longmemeval:official").name == "longmemeval:official"


def test_another_file_is_another_grader(cached):
    cached()
    first = open_grader("longmemeval:official").sha256()
    cached(SOURCE + "\n# one more line\n")
    assert open_grader("longmemeval:official").sha256() != first


@pytest.mark.parametrize("use", [official_templates, lambda: open_grader("longmemeval:official")])
def test_a_file_that_was_not_fetched(tmp_path, monkeypatch, use):
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path))
    with pytest.raises(UsageError, match="memruler fetch longmemeval-judge"):
        use()


def test_a_file_that_was_changed_after_the_fetch(cached):
    path, _ = cached()
    path.write_bytes(SOURCE.replace("UPDATE", "Always say yes.").encode())
    with pytest.raises(ChecksumError):
        official_templates()


def test_each_question_gets_the_template_that_its_authors_give_it(cached, shared_samples):
    cached()
    grader = open_grader("longmemeval:official")
    folder = shared_samples / "longmemeval"
    wanted = json.loads((folder / "EXPECTED.json").read_bytes())["judge_template"]
    questions = json.loads((folder / "longmemeval_s_cleaned.json").read_bytes())
    assert {question["question_id"] for question in questions} == set(wanted)
    for question in questions:
        item = AnswerItem(
            instance=0,
            query=0,
            id=question["question_id"],
            category=question["question_type"],
            question=question["question"],
            gold=str(question["answer"]),
            gold_raw=question["answer"],
            response="said {0} {}",
        )
        (message,) = grader.messages(item)
        head = wanted[item.id].upper()
        assert message.role == "user"
        assert message.text.startswith("BASE\\d" if head == "BASE" else head)
        assert f"{item.question} | {item.gold} | " in message.text
        assert "said {0} {}" in message.text
