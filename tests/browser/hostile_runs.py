"""Two runs that compare, in which every text that a page can show tries to be more than text."""

import json
from datetime import datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from memruler.model.corpus import (
    CorpusInfo,
    Evidence,
    Instance,
    Population,
    Query,
    Session,
    Turn,
    TurnRef,
)
from memruler.model.system import SystemIdentity
from memruler.replay.plan import Plan
from memruler.replay.settings import RunSettings
from memruler.report.write import write_report
from memruler.scoring.score import score
from memruler.store.folder import RunFolder

# Test folders are no packages, so the scripted store is taken from its file.
_spec = spec_from_file_location("failure_runs", Path(__file__).parents[1] / "failure_runs.py")
_scripted = module_from_spec(_spec)
_spec.loader.exec_module(_scripted)

FLAG = "hit"
"""What the scripts would set on `window`."""

SCRIPTS = (
    f"<script>window.{FLAG}=1</script>",
    f"<img src=x onerror='window.{FLAG}=2'>",
    f"</script><script>window.{FLAG}=3</script>",
    f"<!--<script>window.{FLAG}=4",
    f"]]><svg/onload=window.{FLAG}=5>",
    "\"'><b onmouseover=alert(6) style=position:fixed;inset:0>x",
    f"javascript:window.{FLAG}=7",
    f"<iframe src='javascript:parent.{FLAG}=8'></iframe><base href='http://e.vil/'>",
    "<style>*{display:none}</style><link rel=stylesheet href=http://e.vil/x.css>",
    "<meta http-equiv=refresh content='0;url=http://e.vil/'><form action=http://e.vil/>",
    "{{ 7*7 }}${7*7}#{7*7}<%= 7*7 %>",
    "</textarea></title></style></noscript></template>",
    "\u202eright to left\u202c \u2066isolated \u200bzero\u200b\ufeffwidth\u200d \u0301\u0300",
    "\x1b[31mred\x1b[0m \x07\x08\x00\x9b2J \u2028\u2029",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \U0001f9ea\U0001f468\u200d\U0001f469",
)
LONG = "w" * 1_000_000
"""One word of a megabyte: nothing to break a line at."""

WORD = "v" * 3_000
NOW = datetime(2026, 1, 1)
_POPULATION = Population(name="answerable", rule="labels", members="answerable", description="All.")
_ASKED = 18


class _Corpus:
    def __init__(self, instances):
        self.instances = instances
        self.info = CorpusInfo(
            name="hostile <b>corpus</b>",
            version=SCRIPTS[0],
            licence="CC0-1.0",
            sha256="0" * 64,
            tier="local-file",
            populations=(_POPULATION,),
            notes=(SCRIPTS[1], SCRIPTS[12]),
        )

    def __iter__(self):
        return iter(self.instances)


class _System(_scripted.ScriptedSystem):
    def __init__(self, items, rankings, setting, **options):
        super().__init__(items, rankings, **options)
        self.setting = setting

    def identity(self):
        return SystemIdentity(
            name=f"system {SCRIPTS[1]}",
            version=SCRIPTS[2],
            digest="d" * 64,
            settings={"knob": self.setting, SCRIPTS[3]: SCRIPTS[4], "long": WORD},
            degraded=(f"it is a test {SCRIPTS[0]}",),
        )


def _texts():
    return [*SCRIPTS, LONG, WORD + SCRIPTS[0]]


def _instance(position):
    texts = _texts()
    turns = tuple(
        Turn(position=at, speaker=SCRIPTS[at % 3], text=text) for at, text in enumerate(texts)
    )
    other = (Turn(position=0, speaker="Ann", text="so it is"),)
    return Instance(
        position=position,
        key=f"key {position} {SCRIPTS[position]}",
        sessions=(
            Session(position=0, id=SCRIPTS[0], time=NOW, turns=turns),
            Session(position=1, time=NOW, turns=other),
        ),
        queries=tuple(
            Query(
                position=at,
                id=f"id {at} {SCRIPTS[at % len(SCRIPTS)]}",
                text=f"{position}.{at} {texts[at % len(texts)]}",
                category=f"{SCRIPTS[at % 4]} {WORD if at % 4 == 3 else ''}",
                answer=texts[-1 - at % len(texts)],
                evidence=(
                    Evidence(
                        rule="labels",
                        status="ok",
                        turns=(TurnRef(0, at % len(texts)),),
                        sessions=(0,),
                        references=(SCRIPTS[0],),
                    ),
                ),
            )
            for at in range(_ASKED)
        ),
    )


def _run(root, stem, setting, shift, instances):
    """Measure, score and report one run; `shift` moves what is found, so that queries change."""
    texts = _texts()
    items = [
        (
            f"item {at} {SCRIPTS[at % len(SCRIPTS)]}",
            SCRIPTS[0] if at % 5 == 0 else "turn",
            (at,),
            text,
            None,
        )
        for at, text in enumerate(texts)
    ]
    names = [item[0] for item in items]
    rankings = {
        query.text: [
            names[(query.position + shift * (query.position % 3) + n) % len(names)]
            for n in range(6)
        ]
        for instance in instances
        for query in instance.queries
    }
    plan = Plan(
        corpus=_Corpus(instances),
        system=_System(items, rankings, setting),
        settings=RunSettings(population=_POPULATION, limit=10),
        chosen={},
        defaulted={},
    )
    with RunFolder.claim(root, stem) as folder:
        _scripted.measure(plan, folder, lambda *_: None)
        score(folder, (1, 3, 5))
    path = root / stem
    runs = _scripted.Runs(root, None)
    said = {q.text: texts[q.position % len(texts)] for i in instances for q in i.queries}
    runs.answer(path, said, name="said")
    runs.grade(
        path, {q: n % 2 for n, q in enumerate(said)}, answers="said", name="g", grader=SCRIPTS[0]
    )
    manifest = json.loads((path / "manifest.json").read_text())
    # The scripted system cannot be opened in a second process; it is as exact as it looks.
    manifest["determinism"]["other_process"] = True
    manifest["warnings"] += [SCRIPTS[0], WORD, SCRIPTS[12]]
    manifest["notes"] += [SCRIPTS[13]]
    (path / "manifest.json").write_text(json.dumps(manifest))
    with RunFolder.claim(root, stem) as folder:
        write_report(folder)
    return path


def hostile_runs(root):
    """Make both below a folder.

    Returns:
        The folders of the baseline and the candidate; their names are hostile too.
    """
    instances = [_instance(position) for position in range(2)]
    made = [
        _run(root, "one", SCRIPTS[0], 0, instances),
        _run(root, "two", SCRIPTS[1], 1, instances),
    ]
    names = [f"<img src=x onerror=window.{FLAG}=9>", "\u202etwo\u200b & 'three' \"four\""]
    return [path.rename(root / name) for path, name in zip(made, names, strict=True)]
