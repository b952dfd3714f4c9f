"""Windows in every form of the report: rounds, tests of carry-over, confirmation, telemetry."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from iostudy.analysis.switchback.confirmation import ConfirmationOutcome
from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.errors import LedgerError
from iostudy.ledger.rows import (
    NO_SAMPLES,
    PilotRow,
    ResponseCurve,
    RunRow,
    SamplesFile,
    SwitchbackRows,
    WindowRow,
)
from iostudy.report.render import json_, markdown, terminal
from iostudy.report.render.legend import read_legend
from iostudy.report.topics.registry import build_summary_sections
from iostudy.report.topics.switchback.values import CarryOver
from iostudy.telemetry.covariates import Covariate
from iostudy.telemetry.samples import Samples
from tests.report.factory import STARTED_AT, build_report, factor, rows, study, study_row

WORKLOAD = "dfsio-write"
STUDY = study(factor("block.scheduler", "none", "mq-deadline", "bfq"), workloads=(WORKLOAD,))
LABELS = [own.label for own in STUDY.configurations()]
WASHOUTS = {"none": 0.1, "mq-deadline": 0.1, "bfq": 2.1}
CURVE = ResponseCurve(0.5, (-0.1, 0.0, 0.0), (-0.2, -0.1, -0.1), (0.0, 0.1, 0.1))


def windows(*, blocks=20, rounds=2, noise=0.01, levels=None, change=lambda row: 0.0):
    """Rounds in random order; ``change`` gives the effect on the log figure of a window."""
    draw, found = random.Random(3), []
    for number in range(blocks * rounds):
        order = draw.sample(LABELS, len(LABELS))
        for place, label in enumerate(order):
            own = WindowRow(
                workload=WORKLOAD,
                block=number // rounds + 1,
                round=number % rounds + 1,
                position=place + 1,
                configuration=label,
                previous=order[max(0, place - 1)],
                start=STARTED_AT + 100.0 + 4 * number + place,
                seconds=0.5,
                operations=100,
                figures={},
            )
            log = (levels or {}).get(label, 0.0) + change(own) + draw.gauss(0.0, noise)
            found.append(replace(own, figures={"aggregate": 400 * math.exp(log)}))
    return tuple(found)


def report(measured=None, *, trials=(), runs=(), samples=None):
    plan = WindowPlan(0.5, WASHOUTS, 0.003, 0.02, 2.5, 24, 40, 2)
    pilot = PilotRow(WORKLOAD, plan, "", ((0.1, 0.05),), dict.fromkeys(LABELS, CURVE))
    switchback = SwitchbackRows((pilot,), tuple(runs), windows() if measured is None else measured)
    return build_report(STUDY, study_row(STUDY), trials, switchback=switchback, samples=samples)


def own(of):
    (found,) = of.switchback
    return found


def flagged(of):
    return {each.source: each.group for each in own(of).carry_over if each.flagged}


def plain(of):
    return " ".join(markdown.render(of).split())


def confirmation_trials(**effects):
    changes = {(WORKLOAD, label): effect for label, effect in effects.items()}
    return rows(STUDY, blocks=5, noise=0.002, effects=changes)


def test_rounds_without_an_effect_raise_no_flag():
    found = own(report())
    assert (found.rounds_per_block, found.blocks, found.tested_rounds) == (2, 20, 40)
    assert [each.source for each in found.carry_over] == list(CarryOver)
    assert not flagged(report())
    assert "No effect of position, previous configuration" in plain(report())


def test_carry_over_is_flagged_with_its_configuration():
    found = report(windows(change=lambda row: -0.05 * (row.previous == "bfq")))
    assert flagged(found)[CarryOver.PREVIOUS] == "bfq"
    assert "Carry-over on dfsio-write: windows after scheduler=bfq differ by -" in plain(found)


def test_an_unsettled_response_is_flagged_with_its_configuration():
    first = lambda row: 0.08 * (row.position == 1 and row.configuration == "bfq")  # noqa: E731
    found = report(windows(change=first))
    assert flagged(found)[CarryOver.RESIDENCE] == "bfq"
    assert "may not have settled" in plain(found)


def test_position_is_flagged():
    found = report(windows(change=lambda row: 0.03 * (row.position == 3)))
    assert flagged(found)[CarryOver.POSITION] == "3"
    assert "windows at position 3 of a round differ by +" in plain(found)


def test_drift_is_flagged_with_the_bias_of_the_longest_washout():
    """2 % a second; the windows of bfq are 1 s later than those of the baseline."""
    found = report(windows(change=lambda row: 0.02 * (row.start - STARTED_AT)))
    assert flagged(found)[CarryOver.DRIFT] == "bfq"
    drift = next(each for each in own(found).carry_over if each.source is CarryOver.DRIFT)
    assert drift.slope == pytest.approx(0.02, rel=0.1)
    assert drift.slope_interval.low < drift.slope < drift.slope_interval.high
    assert drift.effect == pytest.approx(drift.slope, rel=0.01)
    assert "which biases its comparison by +" in plain(found)


def test_a_window_without_figure_leaves_its_round_out():
    """The figure of a block is the mean of its rounds, so one of them may be 0."""
    measured = list(windows())
    measured[1] = replace(measured[1], figures={"aggregate": 0.0})
    found = report(tuple(measured))
    assert own(found).tested_rounds == 39
    assert not flagged(found)


def test_rounds_of_the_last_comparisons_are_not_tested():
    measured = windows()
    later = [row for row in measured if row.block <= 10 or row.configuration != "bfq"]
    assert own(report(tuple(later))).tested_rounds == 20


def test_few_rounds_are_not_tested():
    found = report(windows(blocks=2))
    assert own(found).carry_over == ()
    assert "too few rounds" in plain(found)


def test_trials_confirm_a_slow_level_that_nobody_recommends():
    found = report(windows(levels={"bfq": -0.2}), trials=confirmation_trials(bfq=-0.18))
    (confirmed,) = own(found).confirmations
    assert (confirmed.configuration, confirmed.outcome) == ("bfq", ConfirmationOutcome.AGREE)
    assert confirmed.difference_interval.low <= confirmed.difference
    assert "low_latency" in confirmed.reason
    assert "trials and windows agree within the margin" in plain(found)


def test_a_disagreement_is_the_first_sentence():
    found = report(windows(levels={"bfq": -0.2}), trials=confirmation_trials(bfq=0.0))
    (confirmed,) = own(found).confirmations
    assert confirmed.outcome is ConfirmationOutcome.DISAGREE
    assert confirmed.difference > 0.1
    assert found.headline.startswith(
        "Whole trials contradict the windows of scheduler=bfq on dfsio-write:"
    )
    assert "worse" in found.answer[0]
    assert "decide: {mode: trials}" in found.next_steps[0].text


def test_a_confirmation_without_trials_is_named():
    found = report(windows(levels={"bfq": -0.2}))
    assert own(found).unconfirmed == ("bfq",)
    assert "Too few whole trials ran to confirm scheduler=bfq on dfsio-write." in plain(found)


def run(started_at, **machine):
    summary = rows(STUDY, blocks=1)[0].summary
    summary = replace(summary, machine={**summary.machine, **machine})
    return RunRow(WORKLOAD, started_at, {}, ("loop0",), summary, ("a note",), NO_SAMPLES)


def test_telemetry_of_every_run_is_reported():
    steal = {"%steal": 12.0, "foreign_%cpu": 80.0, "cores": 4}
    found = report(runs=[run(STARTED_AT, **steal), run(STARTED_AT + 50)])
    pilot, measured = own(found).runs
    assert (pilot.windows, measured.windows) == (0, 120)
    assert pilot.shares == {
        Covariate.STEAL: pytest.approx(0.12),
        Covariate.FOREIGN_CPU: pytest.approx(0.2),
    }
    assert measured.shares == {}
    assert measured.diagnosis.sentence
    text = plain(found)
    assert "Telemetry of the runs" in text
    assert measured.diagnosis.sentence.split(";")[0] in text


def stolen_under(label):
    """A reader of samples every 0.1 s, with 40 % of steal in the windows of a configuration."""
    at = STARTED_AT + 99 + np.arange(2000) / 10
    stolen = np.zeros(len(at))
    for row in windows():
        if row.configuration == label:
            stolen[(at >= row.start) & (at < row.start + row.seconds)] = 0.4
    columns = {
        "clock.realtime_ns": 1e9 * at,
        "cpu.steal": np.cumsum(10 * stolen),
        "cpu.user": np.cumsum(10 * (1 - stolen)),
    }
    return lambda file, prefixes: Samples(at - at[0], columns)


def two_runs():
    file = SamplesFile("telemetry/run-000002.parquet", "")
    return [run(STARTED_AT), replace(run(STARTED_AT + 50), telemetry=file)]


def test_covariates_of_windows_are_tested_by_configuration():
    found = report(runs=two_runs(), samples=stolen_under("bfq"))
    (steal,) = found.covariates
    shares = {each.configuration: each.share for each in steal.shares}
    assert 0.3 < shares["bfq"] < 0.45
    assert max(shares["none"], shares["mq-deadline"]) < 0.1
    assert steal.imbalance is not None
    assert steal.imbalance.configuration == "bfq"
    text = plain(found)
    assert "Means over the windows" in text
    assert "steal took" in text


def test_samples_that_cannot_be_read_are_named_with_their_run():
    def damaged(file, prefixes):
        raise LedgerError("samples", found="it is damaged", where=file.name, remedy="none")

    found = report(runs=two_runs(), samples=damaged)
    assert found.covariates == ()
    note = "no covariates by configuration: telemetry/run-000002.parquet: it is damaged"
    assert own(found).runs[1].notes == ("a note", note)


def test_every_form_has_the_section():
    found = report(
        windows(levels={"bfq": -0.2}),
        trials=confirmation_trials(bfq=-0.18),
        runs=[run(STARTED_AT)],
    )
    assert terminal.render(found)
    section = next(each for each in build_summary_sections(found) if each.name == "switchback")
    assert len(section.charts) == 2
    assert [entry.label for entry in read_legend(section.charts[1].spec)] == [
        "windows",
        "whole trials",
    ]
    assert [table.title for table in section.tables[1:]] == [
        "Washout after a switch",
        "Tests of carry-over and drift",
        "Confirmation by whole trials",
        "Telemetry of the runs, under all configurations together",
    ]
    assert '"outcome": "agree"' in json_.render(found)
