"""The dates that a clause states: `7 May 2023` as it stands, `last week` by when it was said.

Only what the words settle is given: without the day of the talk a relative date is none, `7 May`
gets no year, and `this Friday` or `recently` is no date. Weeks begin on Monday.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import NamedTuple

__all__ = ["Stated", "stated"]


class Stated(NamedTuple):
    """A date in a clause.

    Attributes:
        label: `7 May 2023`, `7 May`, `May 2023`, `May`, `2023`, `the week of 1 May 2023` (its
            Monday) or `the weekend of 6 May 2023` (its Saturday).
        relative: Whether the day of the talk was needed to tell.
    """

    label: str
    relative: bool


_YEAR_ROUND = """
January February March April May June July August September October November December
"""
_WEEK = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_MONTHS, _DAYS = _YEAR_ROUND.split(), _WEEK.split()
_MONTH = rf"({'|'.join(_MONTHS)}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)"
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,? (\d{4})\b)?"
_LONGEST_MONTH = 31
_COUNTED = r"(?<!ty )(?<!half )"
"""Not the end of a longer count: `twenty two days ago`, `half a year ago`."""

_COUNTS = {"a": 1, "an": 1, "one": 1, "a couple of": 2, "two": 2, "three": 3, "four": 4}
_COUNTS |= {"five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_SHIFTS = {
    "day before yesterday": -2,
    "day after tomorrow": 2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
}
_SIDES = {"last": -1, "this": 0, "next": 1}


def _either(names: dict[str, int]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


def _day(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _month_number(name: str) -> int:
    return next(at for at, month in enumerate(_MONTHS, 1) if month.startswith(name[:3]))


def _named_day(day: str, month: str, year: str | None) -> str | None:
    number = _month_number(month)
    if year is not None:
        return _day(date(int(year), number, int(day)))
    return f"{int(day)} {_MONTHS[number - 1]}" if 1 <= int(day) <= _LONGEST_MONTH else None


def _iso(match: re.Match[str], _: date) -> str | None:
    return _day(date.fromisoformat(match[1]))


def _day_month(match: re.Match[str], _: date) -> str | None:
    return _named_day(match[1], match[2], match[3])


def _month_day(match: re.Match[str], _: date) -> str | None:
    return _named_day(match[2], match[1], match[3])


def _month_year(match: re.Match[str], _: date) -> str | None:
    return f"{_MONTHS[_month_number(match[1]) - 1]} {match[2]}"


def _year(match: re.Match[str], _: date) -> str | None:
    return match[1]


def _month(match: re.Match[str], _: date) -> str | None:
    return _MONTHS[_month_number(match[1]) - 1]


def _shift(match: re.Match[str], said: date) -> str | None:
    return _day(said + timedelta(_SHIFTS[match[1].lower()]))


def _ago(match: re.Match[str], said: date) -> str | None:
    count = _COUNTS.get(match[1].lower())
    return _away(-(int(match[1]) if count is None else count), match[2].lower(), said)


def _side(match: re.Match[str], said: date) -> str | None:
    return _away(_SIDES[match[1].lower()], match[2].lower(), said)


def _side_named(match: re.Match[str], said: date) -> str | None:
    """`last Friday`: the one before the day of the talk; `next Friday`: the one after it."""
    side = _SIDES[match[1].lower()]
    if match[2] in _DAYS:
        if not side:
            return None  # the coming one or the one just gone
        days = (_DAYS.index(match[2]) - said.weekday()) % 7
        return _day(said + timedelta((days or 7) if side > 0 else days - 7))
    number = _month_number(match[2])
    year = said.year
    if side < 0:
        year -= number >= said.month
    elif side > 0:
        year += number <= said.month
    return f"{_MONTHS[number - 1]} {year}"


def _away(count: int, unit: str, said: date) -> str:
    """The day, week, weekend, month or year that is `count` of them after that of the talk."""
    monday = said - timedelta(said.weekday())
    match unit:
        case "day":
            return _day(said + timedelta(count))
        case "week":
            return f"the week of {_day(monday + timedelta(7 * count))}"
        case "weekend":
            return f"the weekend of {_day(monday + timedelta(7 * count + 5))}"
        case "month":
            years, month = divmod(said.year * 12 + said.month - 1 + count, 12)
            return f"{_MONTHS[month]} {date(years, 1, 1).year}"
    return str(date(said.year + count, 1, 1).year)


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    label: Callable[[re.Match[str], date], str | None]
    relative: bool


def _rule(
    pattern: str, label: Callable[[re.Match[str], date], str | None], *, relative: bool = False
) -> _Rule:
    return _Rule(re.compile(rf"(?<![\w-])(?<!\d[.,]){pattern}(?!\w)"), label, relative)


_RULES = (
    _rule(r"(\d{4}-\d\d-\d\d)", _iso),
    _rule(rf"{_NTH} (?:of )?{_MONTH}{_YEAR}", _day_month),
    _rule(rf"{_MONTH} {_NTH}{_YEAR}", _month_day),
    _rule(rf"{_MONTH}(?: of|,)? (\d{{4}})", _month_year),
    _rule(r"(?i:in|since|until|by) ((?:19|20)\d\d)", _year),
    _rule(rf"(?i:in|since|until|by) {_MONTH}", _month),
    _rule(rf"(?i:({_either(_SHIFTS)}))", _shift, relative=True),
    _rule(
        rf"{_COUNTED}(?i:(\d{{1,3}}|{_either(_COUNTS)}) (day|week|month|year)s? ago)",
        _ago,
        relative=True,
    ),
    _rule(r"(?i:(last|this|next) (weekend|week|month|year))", _side, relative=True),
    _rule(rf"(?i:(last|this|next)) ({_MONTH[1:-1]}|{'|'.join(_DAYS)})", _side_named, relative=True),
)
"""In order of precedence: where two overlap, the former counts."""

_HINT = re.compile(r"\d|day|ago|tomorrow|tonight|(?i:last|this|next|in|since|until|by) \w")
"""Nothing is a date without one of these; most clauses have none, and are read only once."""


def stated(clause: str, said: datetime | None) -> list[Stated]:
    """The distinct dates that a clause states, in order.

    Args:
        clause: Any text.
        said: When it was said; None when unknown.
    """
    if not _HINT.search(clause):
        return []
    day = said.date() if said is not None else date.min
    taken: list[tuple[int, int]] = []
    found: dict[int, Stated] = {}
    for rule in _RULES:
        if rule.relative and said is None:
            continue
        for match in rule.pattern.finditer(clause):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())  # a date that no calendar has is no other date either
            try:
                label = rule.label(match, day)
            except (ValueError, OverflowError):
                continue
            if label is not None:
                found[match.start()] = Stated(label, rule.relative)
    return list(dict.fromkeys(found[at] for at in sorted(found)))
