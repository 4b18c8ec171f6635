"""The published JSON Schemas, made from the records so that they cannot drift apart."""

from pathlib import Path
from typing import Any

import msgspec

from memruler.compare.failure_shift import FailureShift
from memruler.compare.gate import Band, Gate
from memruler.compare.judge_calibration import JudgeCalibration
from memruler.compare.record import Comparison, Refused
from memruler.compare.repeats import Repeats
from memruler.compare.sensitivity_record import Sensitivity
from memruler.compare.target_record import TargetScores
from memruler.compare.timed import TimeComparison
from memruler.exchange.bundle_record import BundleManifest, Verification
from memruler.model.abstention import Abstention
from memruler.model.answers import AnswersManifest
from memruler.model.card import Card
from memruler.model.failures import Failures
from memruler.report.document import ReportDocument, encode
from memruler.scoring.grade_record import GradesDocument
from memruler.studies.ab_record import Ab
from memruler.studies.ab_spec import AbSpec
from memruler.studies.ablation_record import Ablation
from memruler.studies.ablation_spec import AblationSpec
from memruler.studies.audit_record import Audit
from memruler.studies.baseline_record import BaselineCheck
from memruler.studies.canary_record import Canary
from memruler.studies.judge_agree import JudgeAgreement
from memruler.studies.lineup_record import Lineup
from memruler.studies.power_record import PowerStudy
from memruler.studies.sweep_record import Sweep
from memruler.studies.sweep_spec import SweepSpec

__all__ = ["SCHEMAS", "publish", "schema"]

SCHEMAS: dict[str, tuple[str, Any]] = {
    "report.schema.json": ("A memruler report of a run (report.json)", ReportDocument),
    "answers.schema.json": ("What `memruler answer --json` prints", AnswersManifest),
    "comparison.schema.json": ("What `memruler compare --json` prints", Comparison | Refused),
    "gate.schema.json": ("What `memruler gate --json` prints, but for a refusal", Gate),
    "baseline.schema.json": ("What `memruler baseline check --json` prints", BaselineCheck),
    "band.schema.json": ("What `memruler band --json` prints", Band),
    "repeats.schema.json": ("What `memruler repeats --json` prints, but for a refusal", Repeats),
    "card.schema.json": ("What `memruler systems check --json` prints", Card),
    "time.schema.json": ("What `memruler time --json` prints", TimeComparison),
    "canary.schema.json": ("What `memruler canary --json` prints", Canary),
    "power.schema.json": ("What `memruler power --json` prints", PowerStudy),
    "ablation.schema.json": ("What `memruler ablate --json` prints", Ablation),
    "ablation-spec.schema.json": ("A SPEC.toml of `memruler ablate`", AblationSpec),
    "lineup.schema.json": ("What `memruler lineup --json` prints", Lineup),
    "sweep.schema.json": ("What `memruler sweep --json` prints", Sweep),
    "sweep-spec.schema.json": ("A SPEC.toml of `memruler sweep`", SweepSpec),
    "ab.schema.json": ("What `memruler ab --json` prints", Ab),
    "ab-spec.schema.json": ("A SPEC.toml of `memruler ab`", AbSpec),
    "target-scores.schema.json": ("What `memruler score --json` prints", TargetScores),
    "sensitivity.schema.json": ("What `memruler targets --json` prints", Sensitivity),
    "bundle.schema.json": ("MANIFEST.json of a bundle", BundleManifest),
    "verification.schema.json": ("What `memruler verify --json` prints", Verification),
    "failures.schema.json": ("What `memruler failures --json` prints", Failures | FailureShift),
    "abstention.schema.json": ("What `memruler abstention --json` prints", Abstention),
    "audit.schema.json": ("What `memruler audit read --json` prints", Audit),
    "grades.schema.json": ("What `memruler grade --json` prints", GradesDocument),
    "calibration.schema.json": (
        "What `memruler judge calibrate --json` prints, and --out writes",
        JudgeCalibration,
    ),
    "judge-agreement.schema.json": ("What `memruler judge agree --json` prints", JudgeAgreement),
}
"""File name to title and record."""


def schema(name: str) -> bytes:
    """One schema as the bytes of its file.

    Raises:
        KeyError: `name` is not in `SCHEMAS`.
    """
    title, record = SCHEMAS[name]
    made = msgspec.json.schema(record)
    return encode(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **made}
    )


def publish(folder: Path) -> None:
    """Write every schema into `folder`."""
    for name in SCHEMAS:
        (folder / name).write_bytes(schema(name))
