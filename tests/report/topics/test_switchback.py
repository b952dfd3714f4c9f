"""Windows in every form of the report: plan, confirmation, telemetry."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from iostudy.analysis.switchback.confirmation import ConfirmationOutcome
from iostudy.analysis.switchback.window_plan import EarlierPlan, WindowPlan
from iostudy.errors import LedgerError
from iostudy.ledger.rows import (
    NO_SAMPLES,
    PlanRow,
    RunRow,
    SamplesFile,
    SwitchbackRows,
    WindowRow,
)
from iostudy.report.render import json_, markdown, terminal
from iostudy.report.topics.registry import build_summary_sections
from iostudy.study.sections import DecisionMode
from iostudy.telemetry.covariates import Covariate
from iostudy.telemetry.samples import Samples
from tests.report.factory import STARTED_AT, build_report, factor, rows, study, study_row

WORKLOAD = "file-writes"
STUDY = study(factor("block.scheduler", "none", "mq-deadline", "noop"), workloads=(WORKLOAD,))
LABELS = [own.label for own in STUDY.configurations()]
PLAN = WindowPlan(0.04, 0.025, 0.3, 1)
EARLIER = EarlierPlan(0.5, {"none": 0.1, "noop": 2.1}, 0.003, 24, 40, 2)


def windows(*, blocks=20, rounds=2, noise=0.01, levels=None):
    """Half windows of pairs of rounds in random order."""
    draw, found = random.Random(3), []
    for number in range(blocks * rounds):
        order = draw.sample(LABELS, len(LABELS))
        for place, label in enumerate(each for each in order for _ in range(2)):
            log = (levels or {}).get(label, 0.0) + draw.gauss(0.0, noise)
            row = WindowRow(
                workload=WORKLOAD,
                block=number // rounds + 1,
                round=number % rounds + 1,
                position=place + 1,
                configuration=label,
                previous=order[max(0, place - 1) // 2],
                start=STARTED_AT + 100.0 + 4 * number + place / 2,
                seconds=0.25,
                operations=100,
                figures={"bandwidth": 400 * math.exp(log)},
            )
            found.append(row)
    return tuple(found)


def report(measured=None, *, trials=(), runs=(), samples=None, plan=PLAN):
    plans = (PlanRow(WORKLOAD, plan),)
    switchback = SwitchbackRows(plans, tuple(runs), windows() if measured is None else measured)
    own = replace(STUDY, decide=replace(STUDY.decide, mode=DecisionMode.SWITCHBACK))
    own = replace(own, has_windows=True, bias=0.003)
    return build_report(own, study_row(STUDY), trials, switchback=switchback, samples=samples)


def own(of):
    (found,) = of.switchback
    return found


def plain(of):
    return " ".join(markdown.render(of).split())


def confirmation_trials(**effects):
    changes = {(WORKLOAD, label): effect for label, effect in effects.items()}
    return rows(STUDY, blocks=5, noise=0.002, effects=changes)


def test_the_plan_and_the_measured_windows_are_shown():
    found = own(report())
    assert (found.rounds_per_block, found.blocks, found.windows) == (2, 20, 120)
    assert (found.window_seconds, found.washout_seconds, found.bias) == (0.04, 0.025, 0.003)
    assert "| 40 ms | 25 ms |" in plain(report())


def test_windows_of_an_earlier_version_are_shown():
    found = own(report(plan=EARLIER, runs=[run(STARTED_AT)]))
    assert (found.window_seconds, found.washout_seconds, found.windows) == (0.5, 2.1, 240)
    assert found.runs[0].windows == found.windows


def test_the_method_is_that_of_windows():
    text = report().method.text
    assert "windows of each of 3 configurations. One run of each workload continues" in text
    assert "applies the settings again" not in text
    assert "ran first in two blocks" not in text


def test_trials_confirm_a_recommendation():
    found = report(windows(levels={"noop": 0.2}), trials=confirmation_trials(noop=0.22))
    (confirmed,) = own(found).confirmations
    assert (confirmed.configuration, confirmed.outcome) == ("noop", ConfirmationOutcome.AGREE)
    assert confirmed.difference_interval.low <= confirmed.difference
    assert "| agrees |" in plain(found)


def test_a_disagreement_is_the_first_sentence():
    found = report(windows(levels={"noop": 0.2}), trials=confirmation_trials(noop=0.0))
    (confirmed,) = own(found).confirmations
    assert confirmed.outcome is ConfirmationOutcome.DISAGREE
    assert confirmed.difference < -0.1
    assert found.headline.startswith(
        "Whole trials contradict the windows of scheduler=noop on file-writes:"
    )
    assert "better" in found.answer[0]
    assert "decide: {mode: trials}" in found.next_steps[0].text


def test_a_confirmation_without_trials_is_named():
    found = report(windows(levels={"noop": 0.2}))
    assert own(found).unconfirmed == ("noop",)
    assert "Nothing confirms scheduler=noop on file-writes: too few whole trials" in plain(found)


def test_windows_with_a_failed_block_have_no_confirmation():
    """A failed run leaves no standard deviation of the windows."""
    measured = [
        replace(row, figures={}) if (row.block, row.configuration) == (3, "none") else row
        for row in windows(levels={"noop": 0.2})
    ]
    found = report(tuple(measured), trials=confirmation_trials(noop=0.22))
    assert (own(found).confirmations, own(found).unconfirmed) == ((), ("noop",))
    assert "or a block of windows failed." in plain(found)


def run(started_at, **machine):
    summary = rows(STUDY, blocks=1)[0].summary
    summary = replace(summary, machine={**summary.machine, **machine})
    return RunRow(WORKLOAD, started_at, {}, ("loop0",), summary, ("a note",), NO_SAMPLES)


def test_telemetry_of_every_run_is_reported():
    steal = {"%steal": 12.0, "foreign_%cpu": 80.0, "cores": 4}
    found = report(runs=[run(STARTED_AT, **steal), run(STARTED_AT + 50)])
    first, measured = own(found).runs
    assert (first.windows, measured.windows) == (0, own(found).windows) == (0, 120)
    assert first.shares == {
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
    file = SamplesFile("telemetry/run-000002.npz", "")
    return [run(STARTED_AT), replace(run(STARTED_AT + 50), telemetry=file)]


def test_covariates_of_windows_are_tested_by_configuration():
    found = report(runs=two_runs(), samples=stolen_under("noop"))
    (steal,) = found.covariates
    shares = {each.configuration: each.share for each in steal.shares}
    assert 0.3 < shares["noop"] < 0.45
    assert max(shares["none"], shares["mq-deadline"]) < 0.1
    assert steal.imbalance is not None
    assert steal.imbalance.configuration == "noop"
    text = plain(found)
    assert "Means over the windows" in text
    assert "steal took" in text


def test_samples_that_cannot_be_read_are_named_with_their_run():
    def damaged(file, prefixes):
        raise LedgerError("samples", found="it is damaged", where=file.name, remedy="none")

    found = report(runs=two_runs(), samples=damaged)
    assert found.covariates == ()
    note = "no covariates by configuration: telemetry/run-000002.npz: it is damaged"
    assert own(found).runs[1].notes == ("a note", note)


def test_every_form_has_the_section():
    found = report(
        windows(levels={"noop": 0.2}),
        trials=confirmation_trials(noop=0.22),
        runs=[run(STARTED_AT)],
    )
    assert terminal.render(found)
    section = next(each for each in build_summary_sections(found) if each.name == "switchback")
    assert [table.title for table in section.tables[1:]] == [
        "Confirmation by whole trials",
        "Telemetry of the runs, under all configurations together",
    ]
    assert '"outcome": "agree"' in json_.render(found)
