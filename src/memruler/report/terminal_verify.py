"""What was checked in a bundle, a line a check."""

from rich.console import Console

from memruler.exchange.bundle_record import Verification
from memruler.report.layout import facts, stdout_console, unpadded

__all__ = ["print_verification", "render_verification"]

_WORDS = {True: "ok", False: "FAILED", None: "not looked at"}


def print_verification(found: Verification) -> None:
    """Print to stdout."""
    with unpadded(stdout_console()) as console:
        render_verification(found, console)


def render_verification(found: Verification, console: Console) -> None:
    """Print a line a check, and the verdict first.

    Args:
        found: What to print.
        console: Where to print; 80 columns suffice.
    """
    console.print("VERIFIED" if found.passed else "NOT VERIFIED")
    console.print()
    facts(console, [("bundle", found.bundle), ("of", found.name)])
    facts(
        console,
        [(check.name, f"{_WORDS[check.passed]}: {check.what}") for check in found.checks],
    )
