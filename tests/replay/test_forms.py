"""What `--forms` gives to a system, and what a run says of it."""

import json

import msgspec
import pytest
from hypothesis import given as generated
from hypothesis import strategies as st

from memruler.corpora.registry import open_corpus
from memruler.errors import CorpusError, Interrupted, UsageError
from memruler.model.corpus import CorpusInfo, Derived, TurnRef
from memruler.replay.begin import check_measurable
from memruler.replay.forms import KINDS, TURNS_ONLY, check_forms, parse_forms, units
from memruler.replay.inputs import Origin, TextForm, instance_inputs
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.replay.timeline import InstanceClock
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

PLAIN = TextForm()
ALL = ("turns", "observations", "summaries")
OWN = (
    Derived(kind="fact", text="Ann said it.", turns=(0,), speaker="Ann", id="secret/fact"),
    Derived(kind="fact", text="Nobody knows.", turns=None, id="secret/other"),
    Derived(kind="summary", text="All was said.", turns=(), id="secret/summary"),
)


@pytest.fixture
def make_derived(make_instance):
    """An instance of which the sessions 1 and 2 come with derived memories, and 2 has no turn."""

    def build(position=0):
        plain = make_instance(position)
        first, second, third, *rest = plain.sessions
        second = msgspec.structs.replace(second, derived=OWN)
        third = msgspec.structs.replace(third, derived=OWN, turns=())
        return msgspec.structs.replace(plain, sessions=(first, second, third, *rest))

    return build


def inputs(instance, forms, form=PLAIN):
    clock = InstanceClock(instance.sessions[0].time)
    return instance_inputs(instance, clock, form, "turn", forms)


@generated(st.permutations(ALL), st.integers(1, 3))
def test_forms_are_a_set_in_one_order(names, count):
    found = parse_forms(" , ".join(names[:count]))
    assert set(found) == set(names[:count])
    assert sorted(found, key=ALL.index) == list(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown form ``"),
        ("turns,", "unknown form ``"),
        ("observation", "did you mean observations"),
        ("all", "known: turns, observations, summaries"),
        ("turns,turns", "a form is named twice"),
    ],
)
def test_words_that_name_no_forms(text, message):
    with pytest.raises(UsageError) as caught:
        parse_forms(text)
    assert message in str(caught.value)
    assert f"--forms {text}" in str(caught.value)


def info(*derived):
    return CorpusInfo(
        name="tiny", version="1", licence="MIT", sha256="", tier="local-file", populations=(),
        derived=derived,
    )  # fmt: skip


def test_forms_that_a_corpus_lacks_are_refused():
    check_forms(info(), TURNS_ONLY, "session")
    check_forms(info("fact", "summary"), ALL, "turn")
    with pytest.raises(UsageError, match="comes without observations and summaries") as caught:
        check_forms(info(), ALL, "turn")
    assert "none: leave --forms out" in str(caught.value)
    with pytest.raises(UsageError, match="comes without summaries") as caught:
        check_forms(info("fact"), ALL, "turn")
    assert "of such memories it has observations" in str(caught.value)
    with pytest.raises(UsageError, match="a whole session is one unit"):
        check_forms(info("fact", "summary"), ("observations",), "session")


def test_turns_alone_are_what_they_were(make_derived, make_instance):
    assert inputs(make_derived(), TURNS_ONLY).derived == {}
    assert inputs(make_instance(0), ALL) == inputs(make_instance(0), TURNS_ONLY)


def test_derived_memories_stand_behind_the_turns_of_their_session(make_derived):
    found = inputs(make_derived(), ALL)
    assert [[unit.key for unit in session.turns] for session in found.sessions] == [
        ["s0000.t0000"],
        ["s0001.t0000", "s0001.d0000", "s0001.d0001", "s0001.d0002"],
        ["s0002.t0000"],
    ]
    _, fact, _, summary = found.sessions[1].turns
    assert (fact.text, fact.speaker, fact.time) == ("Ann said it.", "Ann", found.sessions[1].time)
    assert (summary.text, summary.speaker) == ("All was said.", "")
    assert found.derived == {
        "s0001.d0000": Origin("fact", (TurnRef(1, 0),)),
        "s0001.d0001": Origin("fact", ()),
        "s0001.d0002": Origin("summary", (TurnRef(1, -1),)),
    }
    assert b"secret" not in msgspec.json.encode(found.sessions)


def test_a_key_is_the_same_whatever_else_is_given(make_derived):
    found = inputs(make_derived(), ("summaries",))
    assert [[unit.key for unit in session.turns] for session in found.sessions] == [["s0001.d0002"]]
    assert found.positions == {"s0001": TurnRef(1, -1)}  # no turn was given, so none has a key
    assert found.derived.items() <= inputs(make_derived(), ALL).derived.items()


def test_the_date_stands_before_them_and_no_speaker(make_derived):
    found = inputs(make_derived(), ("observations",), TextForm(date=True))
    day = f"{found.sessions[0].time:%Y-%m-%d}"
    assert found.sessions[0].turns[0].text == f"[{day}] Ann said it."


@pytest.mark.parametrize(
    ("forms", "number"), [(TURNS_ONLY, 3), (ALL, 6), (("summaries",), 1), (ALL[1:], 3)]
)
def test_units_are_what_is_given(make_derived, forms, number):
    instance = make_derived()
    assert sum(units(session, forms) for session in instance.sessions) == number
    assert sum(len(session.turns) for session in inputs(instance, forms).sessions) == number


def run(plan, root, stem="r"):
    with RunFolder.claim(root, stem) as folder:
        manifest = measure(plan, folder, lambda *_: None)
    return manifest, RunFolder.open(root / stem)


def test_a_run_says_what_its_store_was_given(tmp_path, make_plan, make_derived, word_system):
    manifest, folder = run(make_plan(word_system, [make_derived()], forms=ALL), tmp_path)
    assert manifest.fingerprint["ingest"]["forms"] == "turns,observations,summaries"
    assert manifest.counts == {
        "instances": 1, "sessions": 3, "turns": 3, "queries": 3, "members": 3,
        "observations": 2, "summaries": 1,
    }  # fmt: skip
    assert manifest.warnings == (
        "the store was given the data set's own 2 observations and 1 session summaries",
        "the evidence of 1 of these is no turn of their session: where they come from is unknown",
        "attribution of stored items: 5 by the sources that the system reported, 1 unknown",
    )
    rows = read_table(folder, "lineage").to_pylist()
    # The system calls everything a turn.
    assert sorted((row["kind"], row["attribution"]) for row in rows) == [
        ("fact", "reported"),
        ("fact", "unknown"),
        ("summary", "reported"),
        *[("turn", "reported")] * 3,
    ]
    assert read_table(folder, "ingest").column("turns").to_pylist() == [6]


def test_a_store_of_observations_alone(tmp_path, make_plan, make_derived, word_system):
    plan = make_plan(word_system, [make_derived()], forms=("observations",))
    check_measurable(plan.corpus, plan.settings)
    manifest, folder = run(plan, tmp_path)
    assert manifest.warnings[0].endswith("own 2 observations, and no turns")
    assert set(read_table(folder, "lineage").column("kind").to_pylist()) == {"fact"}
    assert read_table(folder, "ingest").column("sessions").to_pylist() == [1]


def test_nothing_to_give_is_an_empty_corpus(make_plan, make_instance, word_system):
    plan = make_plan(word_system, [make_instance(0)], forms=("summaries",))
    with pytest.raises(CorpusError, match="the corpus has no turn to remember"):
        check_measurable(plan.corpus, plan.settings)


def test_a_run_of_turns_says_nothing(tmp_path, make_plan, make_derived, word_system):
    manifest, _ = run(make_plan(word_system, [make_derived()]), tmp_path)
    assert manifest.warnings == ()
    assert "observations" not in manifest.counts
    assert manifest.fingerprint["ingest"]["forms"] == "turns"


def test_counts_are_the_same_after_a_resume(tmp_path, make_plan, make_derived, word_system):
    def plan():
        return make_plan(word_system, [make_derived(0), make_derived(1)], forms=ALL)

    whole, _ = run(plan(), tmp_path, "whole")
    opened = len(word_system.opened)

    def stop(_):
        if len(word_system.opened) == opened + 2:
            raise KeyboardInterrupt

    word_system.on_search = stop
    with pytest.raises(Interrupted, match="1 finished"):
        run(plan(), tmp_path, "cut")
    with pytest.raises(UsageError, match="another ingest"):
        run(make_plan(word_system, [make_derived(0)]), tmp_path, "cut")
    word_system.on_search = lambda _: None
    cut, _ = run(plan(), tmp_path, "cut")
    assert cut.resumed == 1
    assert (cut.counts, cut.warnings) == (whole.counts, whole.warnings)
    assert "10 by the sources" in cut.warnings[-1]


def planned(path, forms, **settings):
    spec = PlanSpec(
        corpus="locomo", path=str(path), settings={"forms": forms, **settings}, typed=("forms",)
    )
    return plan_run(spec)


def test_a_plan_from_words(shared_samples):
    path = shared_samples / "locomo" / "locomo10.json"
    plan = planned(path, "summaries, turns")
    assert plan.settings.forms == ("turns", "summaries")
    assert plan.chosen["forms"] == "turns,summaries"
    assert plan_run(PlanSpec(corpus="synthetic")).defaulted["forms"] == "turns"
    with pytest.raises(UsageError, match="synthetic comes without observations"):
        plan_run(PlanSpec(corpus="synthetic", settings={"forms": "observations"}))
    with pytest.raises(UsageError, match="a whole session is one unit"):
        planned(path, "turns,summaries", granularity="session")


def test_evidence_of_observations_reaches_no_system(shared_samples, tmp_path):
    """Rename what tells the source: the trace stays the same, only the lineage does not."""
    source = shared_samples / "locomo" / "locomo10.json"
    rows = json.loads(source.read_text(encoding="utf-8"))
    changed = 0
    for row in rows:
        for speakers in row["observation"].values():
            for texts in speakers.values():
                for one in texts:
                    one[1] = "D1:2"
                    changed += 1
    assert changed
    other = tmp_path / "other.json"
    other.write_text(json.dumps(rows), encoding="utf-8")
    folders = [
        run(planned(path, ",".join(KINDS)), tmp_path, stem)[1]
        for stem, path in (("a", source), ("b", other))
    ]
    traces = [(folder.path / "trace.parquet").read_bytes() for folder in folders]
    assert traces[0] == traces[1]
    assert not read_table(folders[0], "lineage").equals(read_table(folders[1], "lineage"))


def test_a_store_of_all_forms_of_the_real_file(locomo_path):
    """Every key leads back, to the turns that the data set names."""
    instance = next(iter(open_corpus("locomo", locomo_path)))
    found = inputs(instance, ALL)
    given = [unit.key for session in found.sessions for unit in session.turns]
    assert len(given) == len(set(given)) == 419 + 184 + 19
    assert all(key in found.positions or found.derived[key].sources for key in given)
