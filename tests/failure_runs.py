"""Runs with a scripted store, scripted answers and scripted grades."""

import json
from datetime import UTC, datetime

import msgspec

from memruler.model.answers import (
    ANSWERS_VERSION,
    AnswerRecord,
    Graded,
    GradesManifest,
    InstrumentIdentity,
    Usage,
)
from memruler.model.corpus import Evidence, Instance, Query, Session, Turn, TurnRef
from memruler.model.system import Hit, MemoryItem, Ranking, SystemIdentity
from memruler.replay.run import measure
from memruler.scoring.answer_load import load_items
from memruler.scoring.answering import write_answers
from memruler.store.answers import answers_path, read_answers_manifest
from memruler.store.binding import file_sha256
from memruler.store.folder import RunFolder
from memruler.store.grades import GradeRow, claim_grades, grades_path, write_grades
from memruler.store.tables import read_table

NOW = datetime(2026, 1, 1)


def conversation(position, turns, queries):
    """Turns in one session; a query is (question, gold, turns that hold it or None, category)."""
    return Instance(
        position=position,
        key=f"conv-{position}",
        sessions=(
            Session(
                position=0,
                time=NOW,
                turns=tuple(
                    Turn(position=at, speaker="Ann", text=text) for at, text in enumerate(turns)
                ),
            ),
            # Without another session all of it would be evidence, and nothing could be missed.
            Session(
                position=1, time=NOW, turns=(Turn(position=0, speaker="Ann", text="so it is"),)
            ),
        ),
        queries=tuple(
            Query(
                position=at,
                id=f"q{position}-{at}",
                text=question,
                category=category,
                answer=gold,
                answerable=places is not None,
                evidence=(
                    Evidence(
                        rule="labels",
                        status="ok" if places else "none_by_design",
                        turns=tuple(TurnRef(0, place) for place in places or ()),
                        sessions=(0,) if places else (),
                    ),
                ),
            )
            for at, (question, gold, places, category) in enumerate(queries)
        ),
    )


class ScriptedStore:
    """Holds `items` (id, kind, source turns, text, why refused) and ranks as `rankings` says."""

    def __init__(self, system):
        self.system, self.keys = system, []
        if system.exports:
            self.lineage = self._lineage

    def ingest(self, session):
        self.keys += [turn.key for turn in session.turns]

    def settle(self):
        pass

    def _items(self):
        return {
            name: MemoryItem(
                id=name,
                kind=kind,
                sources=tuple(self.keys[turn] for turn in turns),
                text=text or "",
                **({} if why is None else {"status": "refused", "reason": why}),
            )
            for name, kind, turns, text, why in self.system.items
        }

    def _lineage(self):
        return list(self._items().values())

    def search(self, text, k, at):
        del at
        known = self._items()
        hits = []
        for rank, name in enumerate(self.system.rankings.get(text, ())[:k]):
            item = known[name]
            score = self.system.scores.get(text, [9.0 - n for n in range(9)])[rank]
            hits.append(
                Hit(
                    item=name,
                    kind=item.kind,
                    sources=item.sources,
                    text=item.text or None,
                    score=score,
                )
            )
        return Ranking(tuple(hits))

    def close(self):
        pass


class ScriptedSystem:
    def __init__(self, items, rankings, *, scores=None, exports=True):
        self.items, self.rankings = items, rankings
        self.scores, self.exports = scores or {}, exports

    def identity(self):
        return SystemIdentity(name="scripted", version="1", digest="d" * 64)

    def open(self, namespace):
        del namespace
        return ScriptedStore(self)


class ScriptedSource:
    """Answers by question; gives the first k hits, or as many as fit."""

    def __init__(self, said, k, kind, fit=None):
        self.said, self.k, self.kind, self.fit = said, k, kind, fit
        self.repeats = max([1, *(len(one) for one in said.values() if isinstance(one, list))])

    def identity(self):
        return InstrumentIdentity(kind=self.kind, prompt="p", prompt_sha256="0")

    def records(self, run, manifest):
        del manifest
        texts = read_table(run, "queries").column("text").to_pylist()
        for question, row in zip(texts, read_table(run, "trace").to_pylist(), strict=True):
            said = self.said.get(question)
            for repeat, text in enumerate(said if isinstance(said, list) else [said]):
                yield AnswerRecord(
                    instance=row["instance"],
                    query=row["query"],
                    repeat=repeat,
                    text=text,
                    error=None if text is not None else "it broke",
                    items=tuple(row["items"][: self.k][: self.fit]),
                )

    def warnings(self):
        return ()

    def counts(self):
        return {}

    def usage(self):
        return Usage(), Usage()


class Runs:
    """Makes runs under a folder."""

    def __init__(self, folder, make_plan):
        self.folder, self.make_plan, self.made = folder, make_plan, 0

    conversation = staticmethod(conversation)
    system = ScriptedSystem

    def run(self, instances, system, **settings):
        self.made += 1
        stem = f"r{self.made}"
        with RunFolder.claim(self.folder, stem) as folder:
            measure(self.make_plan(system, instances, **settings), folder, lambda *_: None)
        return self.folder / stem

    def degrade(self, path, why):
        """Say that a run must not be trusted."""
        manifest = json.loads((path / "manifest.json").read_text())
        manifest["degraded"] = [why]
        (path / "manifest.json").write_text(json.dumps(manifest))

    def answer(self, path, said, *, k=2, name="a", kind="extractive", fit=None):
        """Write answers by question; a question that is left out has none."""
        write_answers(RunFolder.open(path), ScriptedSource(said, k, kind, fit), name)

    def grade(self, path, values, *, answers="a", name="g", metric="accuracy", **fields):
        """Write grades by question: a value, None, or one a draw of the judge."""
        run = RunFolder.open(path)
        rows = []
        for item in load_items(run, answers):
            found = values.get((item.question, item.repeat), values.get(item.question))
            for draw, value in enumerate(found if isinstance(found, list) else [found]):
                reason = None if value is not None else item.error or "no judge"
                rows.append(
                    GradeRow(
                        instance=item.instance,
                        query=item.query,
                        repeat=item.repeat,
                        draw=draw,
                        instance_key=item.instance_key,
                        id=item.id,
                        category=item.category,
                        answerable=item.answerable,
                        graded=Graded(value=value, reason=reason),
                    )
                )
        manifest = GradesManifest(
            version=ANSWERS_VERSION,
            name=name,
            grader=fields.get("grader", "test:exact"),
            grader_sha256=fields.get("sha256", "0"),
            metric=metric,
            judge=None,
            answers=read_answers_manifest(run, answers),
            answers_sha256=file_sha256(
                RunFolder(answers_path(run.path, answers)), "answers.parquet"
            ),
            started=NOW,
            finished=datetime.now(UTC).replace(tzinfo=None),
        )
        files = dict.fromkeys(("scores.csv", "scores.csv.meta.json", "summary.json"), b"{}")
        with claim_grades(grades_path(path, answers, name)) as folder:
            write_grades(folder, msgspec.structs.replace(manifest), rows, files)
