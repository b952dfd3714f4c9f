"""Errors of the simulator in the report of a simulated study."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.report.render import html, markdown
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy_lab.prediction import (
    EXPLANATION,
    NOT_VALIDATED,
    build_prediction,
)
from iostudy_lab.study.target import SimulatedTarget
from iostudy_lab.study.validation import Validation, ValidationRow, load_validation
from tests.report.factory import build_report, factor, rows, study, study_row

DRIVE = "ultrastar-7k8"
STUDY = replace(
    study(factor("block.scheduler", "bfq", "cfq")), target=SimulatedTarget(DRIVE, 8 << 30)
)


def row(scheduler: str, rate: float, p99_ms: float, order: float) -> ValidationRow:
    return ValidationRow(
        drive=DRIVE,
        scheduler=scheduler,
        workload="readers",
        runs=3,
        late_runs=1,
        kernel_rate=100.0,
        kernel_range=(95.0, 105.0),
        predicted_rate=rate,
        kernel_p99_ms=10.0,
        predicted_p99_ms=p99_ms,
        order=order,
        punctual=1.0,
    )


@pytest.fixture
def validation(monkeypatch: pytest.MonkeyPatch) -> Validation:
    found = Validation(
        command="python -m benches.simulator_validation --write",
        date="2026-11-25",
        kernel="6.18.44",
        circumstances="2 processors",
        signs_decided=4,
        signs_right=3,
        rows=(row("bfq", 104.0, 8.0, 0.98), row("bfq", 91.0, 10.5, 0.97)),
    )
    path = "iostudy_lab.prediction.load_validation"
    monkeypatch.setattr(path, lambda: found)
    return found


def test_the_largest_error_of_a_scheduler_counts(validation: Validation) -> None:
    found = build_prediction(STUDY)
    assert found is not None
    bfq, cfq = found.errors
    assert (bfq.scheduler, bfq.workloads, bfq.order) == ("bfq", 2, 0.97)
    assert (bfq.rate, bfq.p99) == (pytest.approx(0.09), pytest.approx(0.2))
    assert (cfq.scheduler, cfq.workloads, cfq.rate) == ("cfq", 0, None)
    assert found.signs_right == validation.signs_right


def test_comparisons_with_a_drive_say_nothing_about_a_volume(validation: Validation) -> None:
    volume = SimulatedTarget(DRIVE, 8 << 30, volume=VolumeLayout("md-raid10"), count=4)
    found = build_prediction(replace(STUDY, target=volume))
    assert found is not None
    assert [(error.workloads, error.rate) for error in found.errors] == [(0, None)] * 2
    assert found.describe_error(found.errors[0].configuration) == NOT_VALIDATED
    notes = found.build_section(factor="", risk=0.05, several=False).notes
    assert any(note.startswith(NOT_VALIDATED) and "volume" in note for note in notes)


def test_every_figure_has_its_error(validation: Validation) -> None:
    report = build_report(STUDY, study_row(STUDY), rows(STUDY))
    assert EXPLANATION in report.answer
    texts = [result.simulator_error for result in report.workloads[0].results]
    assert texts == ["error up to 9 %", NOT_VALIDATED]
    for page in (markdown.render(report), html.render(report)):
        assert "(error up to 9 %)" in page
        assert f"({NOT_VALIDATED})" in page
        assert validation.command in page


def test_a_simulated_host_has_no_bottleneck(validation: Validation) -> None:
    report = build_report(STUDY, study_row(STUDY), rows(STUDY))
    assert not report.limits
    (prediction,) = report.topics
    assert prediction.build_section(factor="", risk=0.05, several=False).name == "prediction"


def test_a_measured_study_has_none() -> None:
    assert build_prediction(replace(STUDY, target=study().target)) is None


def test_the_measurement_of_this_version_has_every_scheduler_of_today() -> None:
    found = load_validation()
    assert {row.scheduler for row in found.rows} == {"none", "mq-deadline", "kyber", "bfq"}
    assert all(row.kernel_rate > 0 and 0 < row.order <= 1 for row in found.rows)
