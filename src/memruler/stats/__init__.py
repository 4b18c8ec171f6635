"""Numbers in, intervals and verdicts out: pure functions that know nothing of runs."""

from memruler.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    pairwise_agreement,
)
from memruler.stats.agreement_record import Agreement
from memruler.stats.bootstrap import paired_bootstrap, paired_bootstraps
from memruler.stats.calibration import (
    Calibration,
    Corrected,
    calibrate,
    corrected_delta,
    corrected_prevalence,
    observed_accuracy,
)
from memruler.stats.effects import (
    Effect,
    Outcomes,
    cohen_dz,
    cohen_h,
    net_win_rate,
    odds_ratio,
    outcomes,
    rank_biserial,
)
from memruler.stats.gate import gate_exact, gate_interval, own_band
from memruler.stats.holm import AdjustedP, Holm, holm
from memruler.stats.interval import Interval
from memruler.stats.mcnemar import McNemar, mcnemar
from memruler.stats.noise import NoisyDelta, noisy_delta
from memruler.stats.noise_design import schedule
from memruler.stats.noise_verdict import noise_verdict
from memruler.stats.power import needed, one_query, power_curve, smallest_effect
from memruler.stats.power_repeats import split_repeats
from memruler.stats.repeats import Repeat, RepeatedSide, repeated_side
from memruler.stats.repeats_pair import RepeatedPair, repeated_pair
from memruler.stats.shapley import shapley_values
from memruler.stats.wilcoxon import Wilcoxon, task_means, wilcoxon_signed_rank

__all__ = [
    "AdjustedP",
    "Agreement",
    "Calibration",
    "Corrected",
    "Effect",
    "Holm",
    "Interval",
    "McNemar",
    "NoisyDelta",
    "Outcomes",
    "Repeat",
    "RepeatedPair",
    "RepeatedSide",
    "Wilcoxon",
    "calibrate",
    "cohen_dz",
    "cohen_h",
    "cohen_kappa",
    "corrected_delta",
    "corrected_prevalence",
    "fleiss_kappa",
    "gate_exact",
    "gate_interval",
    "holm",
    "krippendorff_alpha",
    "mcnemar",
    "needed",
    "net_win_rate",
    "noise_verdict",
    "noisy_delta",
    "observed_accuracy",
    "odds_ratio",
    "one_query",
    "outcomes",
    "own_band",
    "paired_bootstrap",
    "paired_bootstraps",
    "pairwise_agreement",
    "power_curve",
    "rank_biserial",
    "repeated_pair",
    "repeated_side",
    "schedule",
    "shapley_values",
    "smallest_effect",
    "split_repeats",
    "task_means",
    "wilcoxon_signed_rank",
]
