"""The system under check: opened, given throwaway namespaces, and opened anew once it broke."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Self

from memruler.errors import MemrulerError
from memruler.model.system import (
    Erases,
    ExportsLineage,
    Hit,
    Memory,
    MemorySystem,
    Namespace,
    RunsElsewhere,
    SearchRequest,
    SessionInput,
    TurnInput,
)
from memruler.replay.namespaces import erase, fresh_name, noted
from memruler.replay.plan import PlanSpec, parse_assignments
from memruler.store.safe import make_dir, remove_tree
from memruler.systems.recipes import RECIPE, recipe_path
from memruler.systems.registry import open_system
from memruler.systems.remote.read import read_remote
from memruler.systems.remote.spec import RemoteSpec

__all__ = [
    "AT",
    "BEGIN",
    "FACTS",
    "QUESTIONS",
    "Store",
    "Subject",
    "remote_file",
    "session",
    "shown",
    "token",
]

AT = datetime(2024, 6, 1, 12)  # noqa: DTZ001 - naive, as times on a run's timeline are
"""When questions are asked."""

BEGIN = datetime(2023, 5, 1, 9, 30)  # noqa: DTZ001 - likewise
"""When the first session was."""

FACTS = (
    "My sister Oriana moved to Lisbon in March and rents a flat near the river.",
    "The red bicycle that I bought from Tobias has a broken chain again.",
    "We cooked mushroom risotto on Friday, and the saffron was far too old.",
    "Doctor Halvorsen told me to avoid grapefruit while I take these pills.",
    "Our choir sings at the harbour festival on the second weekend of July.",
    "I finally finished the woollen scarf, it took eleven evenings to knit.",
    "The landlord wants to paint the kitchen green before the winter starts.",
    "My dog Pepper is afraid of thunder and hides under the piano.",
)
"""What is said in most probes."""

QUESTIONS = (
    "Where does my sister Oriana live now?",
    "What is wrong with the red bicycle?",
    "Which fruit must I avoid with my pills?",
    "When does the choir sing at the harbour?",
    "What is the dog afraid of?",
    "How long did the scarf take?",
)
"""What is asked about it, beside the texts themselves."""

_CONSONANTS, _VOWELS = "bdfgklmnprtvz", "aeiou"


def token(seed: str, number: int) -> str:
    """A word of letters that stands nowhere else.

    Args:
        seed: Hexadecimal, another one for each check.
        number: Which of its words.
    """
    value = int(seed, 16) ^ (number * 0x9E3779B97F4A7C15)
    letters = ""
    for _ in range(7):
        value, consonant = divmod(value, len(_CONSONANTS))
        value, vowel = divmod(value, len(_VOWELS))
        letters += _CONSONANTS[consonant] + _VOWELS[vowel]
    return letters


def session(ordinal: int, texts: Sequence[str], *, speakers: Sequence[str] = ()) -> SessionInput:
    """A session as a run gives it: the same keys, a day after the one before.

    Args:
        ordinal: Its place; 0 is the first.
        texts: Of its turns.
        speakers: Taken in turn; Ann and Ben without any.
    """
    names = tuple(speakers) or ("Ann", "Ben")
    time = BEGIN + timedelta(days=ordinal)
    return SessionInput(
        key=f"s{ordinal:04d}",
        time=time,
        turns=tuple(
            TurnInput(
                key=f"s{ordinal:04d}.t{place:04d}",
                text=text,
                speaker=names[place % len(names)],
                time=time,
            )
            for place, text in enumerate(texts)
        ),
    )


def remote_file(name: str) -> RemoteSpec | None:
    """The file behind the name of a system; None for one of code."""
    if name.endswith(".toml") or name.startswith(RECIPE):
        return read_remote(recipe_path(name))[0]
    return None


class Store(NamedTuple):
    """An opened namespace."""

    memory: Memory
    space: Namespace

    def write(self, *sessions: SessionInput) -> None:
        """Write sessions, and wait until they can be found."""
        for one in sessions:
            self.memory.ingest(one)
        self.memory.settle()

    def ask(self, text: str, k: int = 10) -> tuple[Hit, ...]:
        """The hits of a search."""
        return self.memory.search(text, k, AT).hits


def shown(store: Store, hits: Sequence[Hit]) -> list[str | None]:
    """What an agent would be shown of each hit; None where nobody says."""
    stored: dict[str, str] = {}
    if any(hit.text is None for hit in hits) and isinstance(store.memory, ExportsLineage):
        stored = {item.id: item.text for item in store.memory.lineage()}
    return [stored.get(hit.item) if hit.text is None else hit.text for hit in hits]


class Subject:
    """A system under check.

    Args:
        name: As `--system` takes it.
        assignments: `key=value` words.
        root: An empty folder, for stores, data and logs.
        seed: Hexadecimal; makes this check's tokens.

    Attributes:
        root: The folder.
        left: Namespaces of which it cannot be said that they are gone.
    """

    def __init__(self, name: str, assignments: Sequence[str], root: Path, seed: str) -> None:
        self._spec = PlanSpec(corpus="", system=name, assignments=tuple(assignments))
        self._settings = parse_assignments(assignments)
        self.root = root
        self._seed = seed
        self._live: MemorySystem | None = None
        self._opened = 0
        self._spaces = 0
        self.left = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def data(self) -> Path:
        """Where its own server keeps its data."""
        return self.root / f"data-{self._opened}"

    @property
    def logs(self) -> Path:
        """Where its own server's logs go."""
        return self.root / "logs"

    @property
    def file(self) -> RemoteSpec | None:
        """What the memory's file says; None for a system without one."""
        return remote_file(self._spec.system)

    def word(self, number: int) -> str:
        """A word of this check that stands nowhere else."""
        return token(self._seed, number)

    def system(self) -> MemorySystem:
        """The system; opened when it is first needed, and again after `end`."""
        if self._live is None:
            self._opened += 1
            self._live = open_system(self._spec.system, self._settings).system
            if isinstance(self._live, RunsElsewhere):
                make_dir(self.data)
                make_dir(self.logs)
                self._live.place(self.data, self.logs)
        return self._live

    def end(self) -> None:
        """End its processes; a broken one is ended too."""
        live = self._live
        self._live = None
        if live is not None and isinstance(live, RunsElsewhere):
            live.shut()

    @contextmanager
    def store(self) -> Iterator[Store]:
        """A fresh namespace, noted before its first write, erased and closed afterwards."""
        self._spaces += 1
        folder = self.root / "stores" / f"{self._spaces:04d}"
        make_dir(folder)
        space = Namespace(fresh_name(self._spaces), folder)
        failure: MemrulerError | None = None
        with noted(self._spec, space, self.root) as note:
            memory = self.system().open(space)
            try:
                yield Store(memory, space)
            except MemrulerError as error:
                failure = error  # raised below: what was erased must be crossed off all the same
            finally:
                note.stays = not self._gone(memory)
                self.left += note.stays
                with suppress(MemrulerError):
                    memory.close()
        if failure is not None:
            raise failure
        with suppress(MemrulerError):
            remove_tree(folder)

    def reopened(self, store: Store) -> Memory:
        """The same namespace once more; the caller closes it."""
        return self.system().open(store.space)

    def _gone(self, memory: Memory) -> bool:
        """Erase it; whether it can be said that it is gone, or goes with its folder."""
        if not isinstance(memory, Erases):
            return True
        why = erase(memory, SearchRequest(text=FACTS[0], k=1, at=AT))
        system = self.system()
        stays = isinstance(system, RunsElsewhere) and system.outlives()
        # What lives in a folder of this check goes with it, whatever its erasure did.
        return why is None or not stays
