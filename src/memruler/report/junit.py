"""A check against a baseline as JUnit XML, which most CI systems show."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

from memruler.errors import printable
from memruler.report.baseline_words import headline, title
from memruler.studies.baseline_record import BaselineCheck

__all__ = ["junit"]

_SUITE = "memruler.baseline"
_LONGEST = 10_000


def junit(check: BaselineCheck) -> bytes:
    """Three test cases: the instrument, the comparison, and the score, which never fails.

    A broken instrument is an `error`, two sides that do not compare are a `failure`, and a score
    that moved passes with what it did as its output. A step that was not reached is `skipped`.
    """
    cases = list(_cases(check))
    suite = Element(
        "testsuite",
        name=_SUITE,
        tests=str(len(cases)),
        errors=str(sum(kind == "error" for _, kind, _, _ in cases)),
        failures=str(sum(kind == "failure" for _, kind, _, _ in cases)),
        skipped=str(sum(kind == "skipped" for _, kind, _, _ in cases)),
    )
    for name, kind, said, output in cases:
        case = SubElement(suite, "testcase", classname=_SUITE, name=name)
        if kind:
            fault = SubElement(case, kind, message=_text(said))
            if kind != "skipped":
                fault.set("type", check.outcome)
                fault.text = _text(output)
        elif output:
            SubElement(case, "system-out").text = _text(output)
    root = Element("testsuites")
    root.append(suite)
    data: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _cases(check: BaselineCheck) -> Iterator[tuple[str, str, str, str]]:
    """Name, kind of fault (empty for none), what is said of it, output."""
    said = headline(check)
    if check.outcome == "broken":
        yield "instrument", "error", said, said
        yield "comparable", "skipped", "the instrument is broken", ""
    elif check.outcome == "no-baseline":
        yield "instrument", "", "", ""
        yield "comparable", "skipped", said, ""
    elif check.outcome == "incomparable":
        reasons = check.refused.reasons if check.refused else ()
        yield "instrument", "", "", ""
        yield "comparable", "failure", said, "; ".join(f"{r.what} ({r.hint})" for r in reasons)
    else:
        yield "instrument", "", "", ""
        yield "comparable", "", "", ""
    if check.figures is None:
        yield "score", "skipped", "nothing was compared", ""
    else:
        yield "score", "", "", f"{title(check)}: {said}"


def _text(value: str) -> str:
    # What XML 1.0 cannot write is never printable.
    return printable(value, _LONGEST)
