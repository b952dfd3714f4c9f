"""Tests of covariates in every form of the report: shares, imbalance and its meaning."""

from __future__ import annotations

import io
import random
from dataclasses import replace

import pytest
from rich.console import Console

from iostudy.analysis.series import LEVEL, Flag
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.given_up_workloads import GivenUpWorkload
from iostudy.report.render import html, json_, markdown, terminal
from iostudy.report.topics.caveats import compute_shared_level
from iostudy.report.topics.covariates import build_covariates, build_covariates_section
from iostudy.results.comparisons import compare_configurations
from iostudy.results.covariates import covariate_values
from iostudy.telemetry.covariates import Covariate
from tests.report.factory import build_report, factor, rows, study, study_row

STUDY = study(workloads=("file-writes",))


def disturbed(share_of, *, effects=None, blocks=15, noise=0.01, of=STUDY):
    """The report of a study whose trials have ``share_of(row)`` as steal, a fraction."""
    trials = rows(of, blocks=blocks, noise=noise, effects=effects or {})
    return build_report(
        of, study_row(of), [_with(row, {"%steal": 100 * share_of(row)}) for row in trials]
    )


def _with(row, machine):
    return replace(row, summary=replace(row.summary, machine={**row.summary.machine, **machine}))


def even(draw):
    return lambda row: draw.uniform(0.15, 0.4)


def more_under(label, draw, more=0.2):
    return lambda row: draw.uniform(0.1, 0.2) + (more if row.configuration == label else 0.0)


def of_steal(report):
    return next(own for own in report.covariates if own.covariate is Covariate.STEAL)


def results(report):
    return {result.configuration: result for result in report.workloads[0].results}


def test_the_share_of_every_configuration_is_reported():
    report = disturbed(lambda row: 0.3 if row.configuration == "bfq" else 0.1)
    shares = {own.configuration: own.share for own in of_steal(report).shares}
    assert shares == pytest.approx({"none": 0.1, "mq-deadline": 0.1, "kyber": 0.1, "bfq": 0.3})
    assert all(own.trials == 15 for own in of_steal(report).shares)


def test_a_long_table_is_folded():
    tables = {}
    for count in (4, 13):
        levels = [f"level{index}" for index in range(count)]
        many = study(factor("block.scheduler", *levels), workloads=("file-writes",))
        section = build_covariates_section(disturbed(lambda row: 0.1, of=many, blocks=2))
        tables[count] = (len(section.tables), len(section.folded))
    assert tables == {4: (1, 0), 13: (0, 1)}


def test_balanced_steal_raises_no_flag():
    report = disturbed(even(random.Random(1)))
    assert of_steal(report).testable
    assert of_steal(report).imbalance is None
    assert not any(Flag.IMBALANCE in result.flags for result in report.workloads[0].results)


@pytest.mark.parametrize(
    ("effect", "verdict", "meaning"),
    [
        (-0.2, Verdict.WORSE, "(worse) may be an effect of the disturbance"),
        (0.2, Verdict.BETTER, "(better) holds in spite of the disturbance"),
        (0.0, Verdict.EQUIVALENT, "may hide a difference"),
    ],
)
def test_an_imbalance_names_the_configuration_and_what_it_means(effect, verdict, meaning):
    effects = {("file-writes", "bfq"): effect}
    report = disturbed(more_under("bfq", random.Random(2)), effects=effects)
    assert results(report)["bfq"].verdict is verdict
    found = of_steal(report).imbalance
    assert found.configuration == "bfq"
    assert found.share == pytest.approx(0.35, abs=0.02)
    assert found.others == pytest.approx(0.15, abs=0.02)
    assert meaning in found.meaning
    assert Flag.IMBALANCE in results(report)["bfq"].flags
    assert Flag.IMBALANCE not in results(report)["kyber"].flags


def test_imbalance_of_the_baseline_questions_better_verdicts():
    report = disturbed(more_under("none", random.Random(3)))
    assert of_steal(report).imbalance.configuration == "none"
    assert "verdict of better may be" in of_steal(report).imbalance.meaning


def test_a_difference_too_small_to_change_a_verdict_raises_no_flag():
    """Half of the margin of 3 %."""
    report = disturbed(more_under("bfq", random.Random(4), more=0.0), blocks=15)
    assert of_steal(report).imbalance is None
    small = disturbed(lambda row: 0.012 if row.configuration == "bfq" else 0.0)
    assert of_steal(small).p < 0.001
    assert of_steal(small).imbalance is None
    assert of_steal(disturbed(lambda row: 0.02 * (row.configuration == "bfq"))).imbalance


def test_too_few_blocks_for_the_imbalance_test_are_reported():
    alone = study(factor("block.scheduler", "none", "bfq"), workloads=("file-writes",))
    report = disturbed(even(random.Random(5)), blocks=5, of=alone)
    assert not of_steal(report).testable
    assert "Too few blocks of file-writes" in markdown.render(report)


def test_a_report_has_the_shares_and_the_imbalance():
    report = disturbed(more_under("bfq", random.Random(2)))
    text = markdown.render(report)
    assert "Covariates" in text
    assert "steal took" in text
    assert "under the others in the same blocks" in text
    assert "imbalanced covariate" in text
    assert '"imbalance": {' in json_.render(report)


def test_trials_without_telemetry_have_no_covariates():
    report = build_report(STUDY, study_row(STUDY), rows(STUDY))
    assert report.covariates == ()
    assert "Covariates" not in markdown.render(report)


def test_clean_studies_are_flagged_no_more_often_than_the_level():
    """Steal and foreign CPU that change from block to block, and fall on trials by chance."""
    studies, raised = 100, 0
    trials = rows(STUDY, blocks=8, noise=0.02, effects={})
    compared = compare_configurations(STUDY, trials)
    for number in range(studies):
        values = covariate_values(STUDY, _with_noise(trials, random.Random(number)))
        shared = compute_shared_level(STUDY, values)
        found = list(build_covariates(STUDY, values, compared, shared))
        raised += any(own.imbalance for own in found)
    assert raised <= studies * LEVEL


def _with_noise(trials, draw):
    block = [draw.uniform(0.0, 0.5) for _ in range(20)]
    for row in trials:
        foreign = 200 * block[row.block] * draw.random()
        steal = 100 * draw.uniform(0, block[row.block])
        yield _with(row, {"%steal": steal, "cores": 2.0, "foreign_%cpu": foreign})


def test_a_workload_given_up_is_in_every_form():
    given_up = [
        GivenUpWorkload("file-writes", 4, 10, "bfq: the hypervisor took 15 %", disturbed=True)
    ]
    trials = rows(STUDY, blocks=3)
    report = build_report(STUDY, study_row(STUDY), trials, given_up=given_up)
    screen = Console(file=io.StringIO(), width=300)
    screen.print(terminal.render(report))
    for text in (screen.file.getvalue(), markdown.render(report), html.render(report)):
        assert "given up in block 4: none of 10 attempts counts" in text
        assert "the last: bfq: the hypervisor took" in text
    assert report.given_up[0].disturbed
