"""Tests of flags in the report: next to the verdict, each explained once, in every format."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import pytest
from rich.console import Console

from iostudy.analysis.series import Flag
from iostudy.ledger.rows import TrialRow
from iostudy.report.render import json_, markdown, terminal
from iostudy.report.topics.caveats import MEANINGS, build_caveats_section
from iostudy.report.topics.verdicts import Result, format_verdict
from iostudy.report.values import Report
from tests.report.factory import build_report, factor, rows, study, study_row

STUDY = study(factor("block.scheduler", "none", "bfq"), workloads=("file-writes",))


def changed_report(change: object) -> Report:
    """Twelve blocks whose figures a function of block and configuration multiplies."""
    trials = rows(STUDY, blocks=12, noise=0.002, effects={})
    return build_report(STUDY, study_row(STUDY), [_times(row, change) for row in trials])


def _times(row: TrialRow, change: object) -> TrialRow:
    factor = change(row.block, row.configuration)  # type: ignore[operator]
    figures = dict(row.figures or {})
    return replace(row, figures=figures | {"bandwidth": factor * figures["bandwidth"]})


def printed(report: Report) -> str:
    file = io.StringIO()
    Console(file=file, width=200).print(terminal.render(report))
    return file.getvalue()


def other(report: Report) -> Result:
    return report.workloads[0].results[1]


def test_clean_noise_has_no_flag_and_no_section() -> None:
    report = build_report(STUDY, study_row(STUDY), rows(STUDY, blocks=12, effects={}))
    assert report.workloads[0].flags == ()
    assert other(report).flags == ()
    assert build_caveats_section(report) is None


def test_drift_is_of_the_workload_and_no_mark_of_the_verdict() -> None:
    report = changed_report(lambda block, _: 1 + block / 10)
    assert Flag.DRIFT in report.workloads[0].flags
    assert other(report).flags == ()
    assert "flagged" not in format_verdict(other(report))
    section = build_caveats_section(report)
    assert section is not None
    assert section.tables[0].rows[0] == ("file-writes", "all", "drift")


@pytest.mark.parametrize("strength", [1.0, 2.0])
def test_slow_noise_that_is_felt_unequally_is_a_caveat(strength: float) -> None:
    waves = {"none": 1.0, "bfq": strength}
    report = changed_report(lambda block, name: 1 + waves[name] * math.sin(block / 2) / 10)
    section = build_caveats_section(report)
    assert section is not None
    flags = [flag for _, _, flag in section.tables[0].rows]
    assert any("feels slow noise" in flag for flag in flags) == (strength > 1)


def test_a_growing_difference_marks_the_verdict() -> None:
    report = changed_report(lambda block, label: 1 + (label == "bfq") * block / 20)
    assert Flag.DRIFTING_DIFFERENCE in other(report).flags
    assert format_verdict(other(report)).endswith("flagged)")
    words = " ".join(markdown.render(report).split())
    assert "Caveats" in words
    assert "drifting difference" in words
    assert "the difference grows or shrinks" in words
    own = json.loads(json_.render(report))["workloads"][0]["results"][1]
    assert "drifting difference" in own["flags"]


def test_blocks_without_pairs_raise_no_flag() -> None:
    trials = [
        row
        for row in rows(STUDY, blocks=12, effects={})
        if row.block <= 3 or row.configuration == "none"
    ]
    assert other(build_report(STUDY, study_row(STUDY), trials)).flags == ()


def test_uncounted_trials_raise_no_flag() -> None:
    trials = rows(STUDY, blocks=12, effects={})
    spoilt = [replace(row, id=row.id + 100, counts=False, figures=None) for row in trials]
    report = build_report(STUDY, study_row(STUDY), [*trials, *spoilt])
    assert report.workloads[0].flags == ()


def test_no_trial_has_no_flag() -> None:
    assert build_report(STUDY, study_row(STUDY), []).workloads[0].flags == ()


@pytest.mark.parametrize("flag", list(Flag))
def test_every_flag_has_a_remedy(flag: Flag) -> None:
    meaning = MEANINGS[flag]
    assert meaning.endswith(".")
    assert any(word in meaning for word in ("Repeat", "repeat", "See", "Check", "Reduce"))


def limited_report(limited: set[str]) -> Report:
    """Equal configurations, of which some ran at a limit of the bytes written."""
    trials = rows(STUDY, blocks=12, noise=0.002, effects={})
    return build_report(STUDY, study_row(STUDY), [_limit(row, limited) for row in trials])


def _limit(row: TrialRow, limited: set[str]) -> TrialRow:
    assert row.summary is not None
    figures = dict(row.summary.devices["loop0"])
    rate = figures["wkB/s"]
    cap = rate if row.configuration in limited else 10 * rate
    figures |= {"cap_wkB/s": cap, "capped_wkB/s": rate}
    return replace(row, summary=replace(row.summary, devices={"loop0": figures}))


@pytest.mark.parametrize("limited", [{"none"}, {"bfq"}, {"none", "bfq"}])
def test_an_equivalence_at_the_limit_of_the_load_is_no_evidence(limited: set[str]) -> None:
    report = limited_report(limited)
    baseline, other = report.workloads[0].results
    assert Flag.RATE_LIMIT in other.flags
    assert Flag.RATE_LIMIT not in baseline.flags
    assert "trials ran at the limit of the load" in report.workloads[0].explanation
    text = printed(report)
    assert "which hides larger differences" in text
    assert "says only that both reach the limit" in text


def test_below_the_limit_there_is_no_flag() -> None:
    report = limited_report(set())
    assert all(Flag.RATE_LIMIT not in result.flags for result in report.workloads[0].results)
    assert "limit of the load" not in printed(report)
