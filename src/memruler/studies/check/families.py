"""Every family of probes, in the order of the card."""

from memruler.studies.check.depth import DEPTH
from memruler.studies.check.erasing import ERASE
from memruler.studies.check.identity import IDS
from memruler.studies.check.isolation import ISOLATION
from memruler.studies.check.landing import LANDING
from memruler.studies.check.question import DECLARE, Family, Question
from memruler.studies.check.reading import READS
from memruler.studies.check.repeating import REPEATS
from memruler.studies.check.texts import TEXTS
from memruler.studies.check.times import TIMES
from memruler.studies.check.writing import WRITING

__all__ = ["FAMILIES", "NETWORK", "family"]

FAMILIES = (ISOLATION, WRITING, DEPTH, IDS, REPEATS, TIMES, READS, ERASE, TEXTS, LANDING)
"""All that a system is asked."""

NETWORK = Family(
    "network",
    (Question("declared", "Is every network connection one that was declared?", DECLARE),),
    lambda _: iter(()),
)
"""What is not asked but watched for, from the first probe to the last."""


def family(name: str) -> Family:
    """A family by its name."""
    return next(one for one in FAMILIES if one.name == name)
