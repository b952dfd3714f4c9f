"""Causes of the noise in the report, and in ``iostudy power``."""

from __future__ import annotations

import json

import pytest

from iostudy.report.documents.power import build_power
from iostudy.report.render import json_, markdown
from iostudy.report.topics.noise import REMEDIES, build_noise_section
from iostudy.results.noise_causes import NoiseCause
from iostudy.results.recorded_study import RecordedStudy
from tests.report.factory import build_report, study_row
from tests.results.synthetic_noise import STUDY, build_rows, nothing, steal


@pytest.fixture(scope="module")
def report():
    return build_report(STUDY, study_row(STUDY), build_rows(steal, 1))


def test_the_table_has_cause_share_evidence_and_remedy(report):
    table = build_noise_section(report).tables[1]
    assert table.heads == ("workload", "cause", "share of the variance", "evidence", "remedy")
    first, rest = table.rows
    assert first[1] == "steal"
    assert first[2].startswith("9") and first[2].endswith("]")
    assert first[3].endswith("% of the CPU time, correlation -0.98")
    assert first[4] == REMEDIES[NoiseCause.STEAL]
    assert rest[1] == "unexplained"
    assert "24 trials; examined: " in rest[3]


def test_a_report_has_the_section(report):
    assert "dedicated CPUs" in markdown.render(report)


def test_json_has_the_figures(report):
    (own,) = json.loads(json_.render(report))["noise_causes"]
    (cause,) = own["causes"]
    assert cause["cause"] == "steal"
    assert cause["interval"]["low"] < cause["share"] < cause["interval"]["high"]
    assert cause["minimum"] < cause["maximum"]
    assert cause["p"] < 0.05
    assert own["unexplained"] == pytest.approx(1 - cause["share"])


def test_noise_without_a_cause_is_unexplained():
    report = build_report(STUDY, study_row(STUDY), build_rows(nothing, 1))
    ((*_, cause, share, _, remedy),) = build_noise_section(report).tables[1].rows
    assert (cause, share, remedy) == ("unexplained", "100 %", "average it over more blocks")


def test_every_cause_has_a_remedy():
    assert set(REMEDIES) == set(NoiseCause)


def test_power_gives_the_share_and_the_remedy():
    rows = tuple(build_rows(steal, 1))
    result = build_power(STUDY, RecordedStudy("DIR", STUDY, study_row(STUDY), rows))
    (own,) = result.noise_causes
    assert own.causes[0].cause is NoiseCause.STEAL
    said = next(text for text in result.sentences if "variance goes with steal" in text)
    assert REMEDIES[NoiseCause.STEAL] in said
    assert any("of the variance is unexplained" in text for text in result.sentences)
