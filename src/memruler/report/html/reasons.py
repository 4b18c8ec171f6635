"""A refusal on a page: the question that cannot be answered, every reason, and what to do."""

from collections.abc import Sequence

from markupsafe import Markup

from memruler.compare.record import Reason, Refused
from memruler.report.html.comparison_parts import QUESTION
from memruler.report.html.environment import render

__all__ = ["reasons_body", "refused_hero"]


def refused_hero(refused: Refused) -> Markup:
    """The question, and that it cannot be answered."""
    number = len(refused.reasons)
    reasons = "one reason" if number == 1 else f"{number} reasons"
    return render(
        "hero.html.j2",
        eyebrow=f"Baseline {refused.base} · candidate {refused.candidate}",
        question=QUESTION,
        outcome="Not comparable",
        sign="⊘",
        tone="warn",
        sentence=f"A difference between these two runs would not mean what it looks like, so none "
        f"is shown: {reasons}.",
        callouts=Markup(),
        value=None,
    )


def reasons_body(reasons: Sequence[Reason]) -> Markup:
    """Every reason, and what to do instead; those that share it stand together."""
    groups: dict[tuple[str, str], list[str]] = {}
    for reason in reasons:
        groups.setdefault((reason.code, reason.hint), []).append(reason.what)
    return render("reasons.html.j2", groups=[(*key, whats) for key, whats in groups.items()])
