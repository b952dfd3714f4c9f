"""Several figures of one workload: the first decides, and the others must not get worse."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import TrialRow
from iostudy.persist.winner import describe_provenance
from iostudy.report.answer import build_answer
from iostudy.report.render import markdown
from iostudy.report.render.verdict_cases import list_report_cases, render_junit, select_cases
from iostudy.report.values import Report
from iostudy.results.comparisons import compare_configurations, exclude_guards
from iostudy.results.recommendation import is_undecided, meets_goal, recommend
from iostudy.study.model import Study
from iostudy.study.sections import Goal
from tests.report.factory import build_report, factor, rows, study, study_row

ONE = study(factor("block.scheduler", "none", "bfq"), workloads=["file-writes"])
BOTH = study(factor("block.scheduler", "none", "bfq"))
GAIN = {("file-writes", "bfq"): 0.31}


def with_guard(own: Study) -> Study:
    """The study, whose writes must not take longer."""
    first, *others = own.workloads
    time = replace(first.figure, name="exec_time", unit="s", higher_is_better=False)
    return replace(own, workloads=(replace(first, figures=(first.figure, time)), *others))


def measured(own: Study, change: float, *, noise: float = 0.01, blocks: int = 20) -> list[TrialRow]:
    """Runs that gain 31 % of their rate under bfq, and whose time changes by so much."""
    draw = random.Random(2)
    return [
        replace(
            row,
            figures={
                **(row.figures or {}),
                "exec_time": 10
                * (1 + change * (row.configuration == "bfq"))
                * math.exp(draw.gauss(0, noise)),
            },
        )
        for row in rows(own, blocks=blocks, effects=GAIN)
    ]


def reported(own: Study, change: float, **options: float) -> Report:
    return build_report(own, study_row(own), measured(own, change, **options))  # type: ignore[arg-type]


def test_both_parts_of_the_goal_are_one_sentence() -> None:
    report = reported(with_guard(ONE), 0.0)
    assert report.headline.startswith("scheduler=bfq is better than scheduler=none: by 3")
    assert report.headline.endswith("on bandwidth, and equivalent within 3 % on exec_time.")
    assert recommend(with_guard(ONE), compare_configurations(with_guard(ONE), measured(ONE, 0)))


def test_a_worse_guard_forbids_the_recommendation() -> None:
    own = with_guard(ONE)
    found = compare_configurations(own, measured(own, 0.2))
    assert [(each.figure.name, str(each.comparison.verdict)) for each in found] == [
        ("bandwidth", "better"),
        ("exec_time", "worse"),
    ]
    assert recommend(own, found) is None
    assert recommend(ONE, exclude_guards(found)) == "bfq"
    assert reported(own, 0.2).headline == (
        "No scheduler is better on all figures: scheduler=bfq is better than scheduler=none on "
        "bandwidth, and worse on exec_time."
    )


def test_a_noisy_guard_is_no_evidence_of_harmlessness_and_keeps_the_comparison_open() -> None:
    own = with_guard(ONE)
    rate, time = compare_configurations(own, measured(own, 0.0, noise=0.1, blocks=15))
    assert not meets_goal(own, [rate, time])
    assert not is_undecided(own, rate)
    assert is_undecided(own, time)


def test_a_guard_without_a_verdict_has_the_reason_of_its_workload() -> None:
    own = with_guard(ONE)
    trials = []
    for row in measured(own, 0.0, noise=0.1, blocks=15):
        assert row.summary is not None
        machine = {**row.summary.machine, "%steal": 40.0}
        trials.append(replace(row, summary=replace(row.summary, machine=machine)))
    report = build_report(own, study_row(own), trials)
    reasons = build_answer(report, None).reasons
    assert not report.workloads[0].results[1].is_open
    assert "the hypervisor took 40 % of the CPU" in "; ".join([report.headline, *reasons])
    assert not any("vary by" in reason for reason in reasons)


def test_a_guard_that_is_shown_to_be_harmless_takes_no_further_blocks() -> None:
    own = with_guard(ONE)
    own = replace(own, decide=replace(own.decide, margin=0.05))
    rate, time = compare_configurations(own, measured(own, -0.03, noise=0.04, blocks=15))
    assert time.comparison.verdict is Verdict.NOT_WORSE
    assert not is_undecided(own, time)
    assert meets_goal(own, [rate, time])


@pytest.mark.parametrize(("goal", "met"), [(("file-writes",), False), (("file-reads",), True)])
def test_a_guard_belongs_to_the_workload_of_the_goal(goal: tuple[str, ...], *, met: bool) -> None:
    own = with_guard(BOTH)
    own = replace(own, decide=replace(own.decide, goal=Goal(goal, not_worse=())))
    gains = GAIN | {("file-reads", "bfq"): 0.3}
    trials = [
        replace(
            row, figures={**(row.figures or {}), "exec_time": 1.0 + (row.configuration == "bfq")}
        )
        for row in rows(own, blocks=10, effects=gains)
    ]
    assert meets_goal(own, compare_configurations(own, trials)) == met


def test_levels_of_the_deciding_figure_do_not_depend_on_guards() -> None:
    own = with_guard(ONE)
    trials = measured(own, 0.0)
    (alone,) = compare_configurations(ONE, trials)
    assert exclude_guards(compare_configurations(own, trials)) == (alone,)


def test_every_report_has_every_figure() -> None:
    own = with_guard(BOTH)
    report = reported(own, 0.2)
    (guard,) = report.workloads[0].guards
    assert (guard.figure.name, guard.results[1].verdict) == ("exec_time", Verdict.WORSE)
    assert not report.workloads[1].guards
    assert "exec_time" not in [each.figure.name for each in report.workloads[0].others]
    assert any("exec_time of file-writes" in sentence for sentence in report.answer)
    assert "must not get worse" in report.method.text
    assert "exec_time, lower is better" in markdown.render(report)
    cases = tuple(list_report_cases(report))
    assert [case.name for case in select_cases(cases, {"worse"})] == [
        "bfq against none by exec_time"
    ]
    assert b'failures="1"' in render_junit("study", cases, {"worse"})


def test_a_run_without_a_guard_figure_counts_as_worst_in_it_alone() -> None:
    own = with_guard(ONE)
    trials = measured(own, 0.0)
    lost = next(n for n, row in enumerate(trials) if row.configuration == "bfq")
    figures = {k: v for k, v in (trials[lost].figures or {}).items() if k != "exec_time"}
    trials[lost] = replace(trials[lost], figures=figures)
    rate, time = compare_configurations(own, trials)
    assert rate.comparison.slow is not None and time.comparison.slow is not None
    assert (rate.comparison.slow.slow, time.comparison.slow.slow) == (0, 1)


def test_a_kept_configuration_names_its_guards() -> None:
    own = with_guard(ONE)
    lines = describe_provenance(
        own, study_row(own, {}), compare_configurations(own, measured(own, 0))
    )
    assert lines[0].endswith("on file-writes, not worse by 3 % on exec_time of file-writes.")
    assert lines[2].startswith("exec_time of file-writes: equivalent")


def test_a_kept_configuration_names_the_loss_that_its_goal_allows() -> None:
    own = replace(BOTH, decide=replace(BOTH.decide, goal=Goal(("file-writes", "file-reads"))))
    effects = GAIN | {("file-reads", "bfq"): -0.2}
    results = compare_configurations(own, rows(own, blocks=20, effects=effects))
    assert recommend(own, results) == "bfq"
    assert describe_provenance(own, study_row(own, {}), results)[0] == (
        "Verdict: better than the baseline none on file-writes, worse on file-reads, which the "
        "goal allows."
    )


def test_a_kept_configuration_claims_no_guard_outside_its_goal() -> None:
    own = with_guard(BOTH)
    own = replace(own, decide=replace(own.decide, goal=Goal(("file-reads",), not_worse=())))
    trials = [
        replace(row, figures={**(row.figures or {}), "exec_time": 1.0})
        for row in rows(own, blocks=20, effects={("file-reads", "bfq"): 0.3})
    ]
    lines = describe_provenance(own, study_row(own, {}), compare_configurations(own, trials))
    assert lines[0] == "Verdict: better than the baseline none on file-reads."
