"""Which forms of a corpus a system is given: the turns, and the data set's own derived memories.

A data set may publish memories that were made from its dialogue, with the turns that each came
from. Given to a system, they are a transformed store that needs no language model. They are no
part of the conversation, so a run gives them only where it is told to, and says so.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal, TypeAlias

from memruler.errors import UsageError
from memruler.model.corpus import CorpusInfo, Derived, Session

__all__ = ["KINDS", "TURNS_ONLY", "Form", "Forms", "check_forms", "given", "parse_forms", "units"]

Form = Literal["turns", "observations", "summaries"]
Forms: TypeAlias = tuple[Form, ...]

KINDS: Mapping[Form, str] = MappingProxyType(
    {"turns": "turn", "observations": "fact", "summaries": "summary"}
)
"""Form to the kind of its items, in the order in which forms are named and given."""

TURNS_ONLY: Forms = ("turns",)


def parse_forms(text: str) -> Forms:
    """Read forms with commas between them; their order does not matter.

    Raises:
        UsageError: None is named, one is unknown, or one is named twice.
    """
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in KINDS:
            near = get_close_matches(name, KINDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(KINDS)}"
            raise UsageError(f"unknown form `{name}`", where=f"--forms {text}", hint=hint)
    if len(set(names)) < len(names):
        raise UsageError("a form is named twice", where=f"--forms {text}")
    return tuple(form for form in KINDS if form in names)


def check_forms(info: CorpusInfo, forms: Forms, granularity: str) -> None:
    """Refuse forms that a corpus does not have, or that its units have no place for.

    Raises:
        UsageError: It does not come with such memories, or whole sessions are its units.
    """
    where = f"--forms {','.join(forms)}"
    lacking = [form for form in forms if form != "turns" and KINDS[form] not in info.derived]
    if lacking:
        own = [form for form, kind in KINDS.items() if kind in info.derived]
        raise UsageError(
            f"{info.name} comes without {' and '.join(lacking)}",
            where=where,
            hint=f"of such memories it has {' and '.join(own) or 'none: leave --forms out'}",
        )
    if granularity == "session" and forms != TURNS_ONLY:
        raise UsageError(
            "derived memories stand beside turns, and here a whole session is one unit",
            where=where,
            hint="leave out --granularity session, or --forms",
        )


def given(session: Session, forms: Forms) -> Sequence[tuple[int, Derived]]:
    """The derived memories of a session that a system is given, each with its place among all."""
    if forms == TURNS_ONLY:
        return ()
    kinds = {KINDS[form] for form in forms}
    return [(n, derived) for n, derived in enumerate(session.derived) if derived.kind in kinds]


def units(session: Session, forms: Forms) -> int:
    """How many units of a session a system is given, one for each turn or derived memory."""
    turns = len(session.turns) if "turns" in forms else 0
    return turns + (len(given(session, forms)) if session.turns else 0)
