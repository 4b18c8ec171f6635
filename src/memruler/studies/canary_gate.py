"""The controls on the gate: rows whose interval and outcome are known beforehand."""

from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.gate import gate_exact, gate_interval
from memruler.studies.canary_record import Check

__all__ = ["check_gate"]

_ROWS = (
    # wins, ties, losses; the ends of the exact bootstrap interval in items; the outcome at zero
    ((6, 52, 2), (-1, 10), "unresolved"),
    ((40, 440, 20), (5, 35), "pass"),
    ((20, 440, 40), (-35, -5), "fail"),
)


def check_gate() -> tuple[Check, ...]:
    """Known rows through the interval and the gate, and known facts through the exact gate."""
    right = ends = 0
    for (wins, ties, losses), (low, high), outcome in _ROWS:
        n = wins + ties + losses
        found = paired_bootstrap([1] * wins + [0] * ties + [-1] * losses)
        ends += (round(found.low * n, 6), round(found.high * n, 6)) == (low, high)
        right += gate_interval(found)[0] == outcome
    facts = [gate_exact(delta) for delta in (0.01, 0.0, -0.01)]
    return (
        Check(
            name="gate: intervals",
            seen=ends == len(_ROWS),
            expected="the known ends of three rows",
            found=f"{ends} of {len(_ROWS)} right",
        ),
        Check(
            name="gate: outcomes",
            seen=right == len(_ROWS) and facts == ["pass", "fail", "fail"],
            expected="unresolved, pass, fail; facts pass above zero only",
            found=f"{right} of {len(_ROWS)} right; facts {', '.join(facts)}",
        ),
    )
