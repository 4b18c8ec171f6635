"""What a judge's errors do to a result, and how to take them out again.

A judge that accepts right answers at the rate `TPR` and wrong ones at `FPR` shows an accuracy of
`TPR p + FPR (1 - p)` where the truth is `p`. Both rates are estimates from probes, so whatever is
corrected with them carries their uncertainty too.
"""

from math import sqrt

import msgspec

from memruler.errors import UsageError
from memruler.stats.interval import Interval
from memruler.stats.proportion import Z, whole, wilson

__all__ = [
    "Calibration",
    "Corrected",
    "calibrate",
    "corrected_delta",
    "corrected_prevalence",
    "observed_accuracy",
]


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's rates, from probes whose truth is known.

    Attributes:
        true_positives: Right answers that the judge accepted.
        positives: Right answers that it was shown; at least 1.
        false_positives: Wrong answers that it accepted.
        negatives: Wrong answers that it was shown; at least 1.
        tpr: `true_positives / positives`.
        tpr_low: Lower end of its 95 % Wilson interval.
        tpr_high: Upper end.
        fpr: `false_positives / negatives`.
        fpr_low: Lower end of its 95 % Wilson interval.
        fpr_high: Upper end.
        j: Youden's J, `tpr - fpr`: the share of a true difference that the judge lets through.
        j_low: Lower end of its 95 % interval (Newcombe's, from the two Wilson intervals).
        j_high: Upper end.
        j_variance: `tpr (1 - tpr) / positives + fpr (1 - fpr) / negatives`.
        warnings: What a reader must know, one sentence each.
    """

    true_positives: int
    positives: int
    false_positives: int
    negatives: int
    tpr: float
    tpr_low: float
    tpr_high: float
    fpr: float
    fpr_low: float
    fpr_high: float
    j: float
    j_low: float
    j_high: float
    j_variance: float
    warnings: tuple[str, ...] = ()


class Corrected(msgspec.Struct, frozen=True, kw_only=True):
    """A result as a perfect judge would have given it.

    Attributes:
        value: The corrected value; the observed one where `corrected` is False.
        low: Lower end of its 95 % interval, the calibration's uncertainty included.
        high: Upper end.
        observed: The interval that was corrected.
        j: Of the calibration that was used.
        corrected: False where the calibration carries no information and all passes through.
        reason: Why it was not corrected; None where it was.
        widening: Width of the interval over what it would be with rates known exactly; at least 1.
            1 where nothing was corrected or the observed interval is a point.
        warnings: The calibration's and the interval's too, one sentence each.
    """

    value: float
    low: float
    high: float
    observed: Interval
    j: float
    corrected: bool
    reason: str | None
    widening: float
    warnings: tuple[str, ...] = ()


def calibrate(
    true_positives: int, positives: int, false_positives: int, negatives: int
) -> Calibration:
    """A judge's rates and their intervals, from counts of independent probes.

    Intervals of the rates: Wilson (1927). Of J: `J - sqrt((tpr - tpr_low)^2 + (fpr_high - fpr)^2)`
    and `J + sqrt((tpr_high - tpr)^2 + (fpr - fpr_low)^2)` (Newcombe, Interval estimation for the
    difference between independent proportions, Statistics in Medicine 17, 1998, method 10). J is
    Youden's (Index for rating diagnostic tests, Cancer 3, 1950).

    Args:
        true_positives: See `Calibration`.
        positives: See `Calibration`.
        false_positives: See `Calibration`.
        negatives: See `Calibration`.

    Raises:
        UsageError: A count is out of range, or one kind of probe is missing.

    Example:
        >>> found = calibrate(true_positives=45, positives=50, false_positives=10, negatives=50)
        >>> found.tpr, found.fpr, round(found.j, 2), round(found.j_variance, 4)
        (0.9, 0.2, 0.7, 0.005)
    """
    hits, shown = whole(true_positives, "true_positives"), whole(positives, "positives", 1)
    slips, foils = whole(false_positives, "false_positives"), whole(negatives, "negatives", 1)
    (tpr_low, tpr_high), (fpr_low, fpr_high) = wilson(hits, shown), wilson(slips, foils)
    tpr, fpr = hits / shown, slips / foils
    j = tpr - fpr
    j_low = j - sqrt((tpr - tpr_low) ** 2 + (fpr_high - fpr) ** 2)
    variance = tpr * (1 - tpr) / shown + fpr * (1 - fpr) / foils
    told = []
    if variance == 0:
        told.append(
            "each kind of probe was judged all one way, so the calibration's variance is estimated"
            f" as 0; J may be as low as {j_low:.2f}"
        )
    if j > 0 >= j_low:
        told.append("J cannot be told from 0 with these probes: show the judge more of them")
    return Calibration(
        true_positives=hits,
        positives=shown,
        false_positives=slips,
        negatives=foils,
        tpr=tpr,
        tpr_low=tpr_low,
        tpr_high=tpr_high,
        fpr=fpr,
        fpr_low=fpr_low,
        fpr_high=fpr_high,
        j=j,
        j_low=j_low,
        j_high=j + sqrt((tpr_high - tpr) ** 2 + (fpr - fpr_low) ** 2),
        j_variance=variance,
        warnings=tuple(told),
    )


def observed_accuracy(true: float, calibration: Calibration) -> float:
    """What the judge shows where the truth is `true`: `TPR p + FPR (1 - p)`.

    Args:
        true: Share of answers that are right, from 0 to 1.
        calibration: The judge's.

    Raises:
        UsageError: `true` is out of range.

    Example:
        >>> observed_accuracy(0.5, calibrate(45, 50, 10, 50))
        0.55
    """
    _check_share(true, "the true accuracy")
    return calibration.tpr * true + calibration.fpr * (1 - true)


def corrected_prevalence(observed: Interval, calibration: Calibration) -> Corrected:
    """The share of right answers behind the share that the judge accepted.

    `p = (observed - FPR) / J` (Rogan and Gladen, Estimating prevalence from the results of a
    screening test, American Journal of Epidemiology 107, 1978). By the delta method the rates add
    `(p^2 TPR (1 - TPR) / positives + (1 - p)^2 FPR (1 - FPR) / negatives) / J^2` to its variance.
    Value and ends are cut to 0 and 1.

    Args:
        observed: `paired_bootstrap` of the judge's labels (1 accepted, 0 not), clusters and all.
        calibration: The judge's.

    Raises:
        UsageError: The observed mean is no share.

    Example:
        >>> from memruler.stats import paired_bootstrap
        >>> labels = paired_bootstrap([1] * 55 + [0] * 45)
        >>> found = corrected_prevalence(labels, calibrate(45, 50, 10, 50))
        >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
        (0.5, 0.326, 0.674)
    """
    _check_share(observed.mean, "the observed accuracy")
    if calibration.j <= 0:
        return _passed_through(observed, calibration)
    c = calibration
    p = (observed.mean - c.fpr) / c.j
    of_tpr = c.tpr * (1 - c.tpr) / c.positives
    of_fpr = c.fpr * (1 - c.fpr) / c.negatives
    found = _widened(observed, c, p, (p**2 * of_tpr + (1 - p) ** 2 * of_fpr) / c.j**2)
    if 0 <= p <= 1:
        told = found.warnings
    else:
        told = (*found.warnings, f"the corrected accuracy is {p:.3f} and was cut to a share")
    value, low, high = (min(1.0, max(0.0, end)) for end in (found.value, found.low, found.high))
    return msgspec.structs.replace(found, value=value, low=low, high=high, warnings=told)


def corrected_delta(observed: Interval, calibration: Calibration) -> Corrected:
    """The true difference behind the difference of two accuracies under one judge.

    `delta / J`: FPR is in both accuracies and cancels. By the delta method the variance is
    `var(delta) / J^2 + delta^2 var(J) / J^4`. Each side of the observed interval stands for its own
    `1.96 sqrt(var(delta))`, so that a skewed interval stays skewed.

    The judge must err alike on both sides; where its errors depend on the system, nothing here
    helps.

    Args:
        observed: `paired_bootstrap` of candidate minus baseline labels, clusters and all.
        calibration: The judge's.

    Example:
        >>> from memruler.stats import paired_bootstrap
        >>> delta = paired_bootstrap([1] * 30 + [0] * 60 + [-1] * 10)
        >>> found = corrected_delta(delta, calibrate(45, 50, 10, 50))
        >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
        (0.286, 0.105, 0.466)
    """
    if calibration.j <= 0:
        return _passed_through(observed, calibration)
    j = calibration.j
    added = observed.mean**2 * calibration.j_variance / j**4
    return _widened(observed, calibration, observed.mean / j, added)


def _widened(observed: Interval, calibration: Calibration, value: float, added: float) -> Corrected:
    """Scale each side of the interval by 1 / J and add the calibration's variance to it."""
    below = (observed.mean - observed.low) / calibration.j
    above = (observed.high - observed.mean) / calibration.j
    low = value - sqrt(below**2 + Z * Z * added)
    high = value + sqrt(above**2 + Z * Z * added)
    scaled = below + above
    return Corrected(
        value=value,
        low=low,
        high=high,
        observed=observed,
        j=calibration.j,
        corrected=True,
        reason=None,
        widening=(high - low) / scaled if scaled > 0 else 1.0,
        warnings=(*observed.warnings, *calibration.warnings),
    )


def _passed_through(observed: Interval, calibration: Calibration) -> Corrected:
    return Corrected(
        value=observed.mean,
        low=observed.low,
        high=observed.high,
        observed=observed,
        j=calibration.j,
        corrected=False,
        reason=(
            f"J is {calibration.j:.3f}: the judge accepts wrong answers at least as often as right"
            " ones, so its labels carry no information and nothing was corrected"
        ),
        widening=1.0,
        warnings=(*observed.warnings, *calibration.warnings),
    )


def _check_share(share: float, what: str) -> None:
    if not 0 <= share <= 1:
        raise UsageError(f"{what} is {share}", hint="a share from 0 to 1")
