from __future__ import annotations

import math
import random
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis import decision
from iostudy.analysis.comparison import decide_runs
from iostudy.analysis.paired import PairedRuns
from iostudy.analysis.rule import Rule
from iostudy.analysis.spending import CONTINUABLE, SPENT, AnalysisMethod
from iostudy.ledger.rows import TrialRow
from iostudy.results.comparisons import (
    InterimAnalysis,
    collect_runs,
    compare_configurations,
    decision_rule,
    guard_rule,
    pair_runs,
)
from iostudy.study.model import Study
from iostudy.study.sections import Decision, Goal
from tests.comparisons import compare_runs
from tests.report.factory import disturbed, rows, study


def test_every_look_is_what_all_rows_give() -> None:
    plan, kept = study(), InterimAnalysis(study())
    trials = disturbed(rows(plan))
    for end in (0, 4, 8, 8, 40, len(trials)):
        assert repr(kept.compare(trials[:end])) == repr(compare_configurations(plan, trials[:end]))


def test_rows_of_another_ledger_begin_anew() -> None:
    plan, kept = study(), InterimAnalysis(study())
    kept.compare(rows(plan, noise=0.05))
    for others in (rows(plan, blocks=3), rows(plan, noise=0.02)):
        assert repr(kept.compare(others)) == repr(compare_configurations(plan, others))


def test_a_block_adds_one_look_at_its_workload() -> None:
    plan = replace(study(), continuation=CONTINUABLE)
    kept = InterimAnalysis(plan)
    trials = rows(plan, blocks=12, noise=0.2)
    kept.compare(trials[:-4])
    with patch.object(decision, "exceeds", wraps=decision.exceeds) as tested:
        kept.compare(trials)
        kept.compare(trials)
    rules = {decision_rule(plan), guard_rule(plan)}
    assert [call.args[0].shape for call in tested.call_args_list] == [(3, 12)] * 2 * len(rules)


def _rule(draw: st.DrawFn) -> Rule:
    return Rule(
        margin=draw(st.sampled_from([0.01, 0.1])),
        risk=0.1,
        min_blocks=draw(st.integers(3, 6)),
        max_blocks=draw(st.integers(8, 24)),
        comparisons=draw(st.sampled_from([1, 3])),
        method=draw(st.sampled_from(AnalysisMethod)),
        bias=draw(st.sampled_from([0.0, 0.004])),
        rare=draw(st.sampled_from([None, 0.3])),
        continuation=draw(st.sampled_from([SPENT, CONTINUABLE])),
    )


@given(st.composite(_rule)(), st.integers(0, 10**6), st.sampled_from([0.0, 0.02, 0.1]))
def test_outcomes_continue_as_if_they_had_begun_anew(rule: Rule, seed: int, effect: float) -> None:
    """By each rule, with failed runs, equal figures, several stages, trials and windows."""
    draw = np.random.default_rng(seed)
    studies, most = 3, rule.longest
    noise = np.round(0.02 * draw.standard_t(3, (2, studies, most)), draw.integers(2, 9))
    noise[draw.random(noise.shape) < draw.choice([0.0, 0.02])] = -np.inf
    baseline, other = noise[:, :, ~np.isneginf(noise).all(axis=0).any(axis=0)]
    after = None if seed % 2 else draw.random(baseline.shape) < 0.5
    runs = PairedRuns(baseline, other + effect * np.arange(studies)[:, None], after)
    kept = None
    for count in np.unique(draw.integers(0, baseline.shape[-1], 3)):
        kept = decide_runs(runs.first(count), rule, kept)
        assert_equal(kept, decide_runs(runs.first(count), rule))
        for row in range(studies):
            own = decide_runs(runs.take(np.arange(studies) == row).first(count), rule)
            assert_equal(kept.take(np.array([row])), own)


def assert_equal(one: object, other: object) -> None:
    for name, values in vars(one).items():
        np.testing.assert_array_equal(values, vars(other)[name], strict=True)


GOAL = Goal(better=["file-writes"], not_worse=["file-reads"])


@given(
    guarded=st.booleans(),
    goal=st.sampled_from([None, GOAL]),
    rare=st.sampled_from([None, 0.3]),
    further_blocks=st.sampled_from([0, 20]),
    method=st.sampled_from(AnalysisMethod),
    noise=st.sampled_from([0.004, 0.05]),
    seed=st.integers(0, 10**6),
)
def test_looks_at_any_times_are_what_each_comparison_alone_gives(
    *,
    guarded: bool,
    goal: Goal | None,
    rare: float | None,
    further_blocks: int,
    method: AnalysisMethod,
    noise: float,
    seed: int,
) -> None:
    plan = study()
    time = replace(plan.workloads[0].figure, name="exec_time", unit="s", higher_is_better=False)
    plan = replace(
        plan,
        workloads=tuple(
            replace(own, figures=(own.figure, time) if guarded else own.figures)
            for own in plan.workloads
        ),
        decide=Decision(margin=0.03, risk=0.05, blocks=(5, 20), goal=goal, rare=rare),
        method=method,
        continuation=CONTINUABLE,
        further_blocks=further_blocks,
    )
    chance = random.Random(seed)
    trials, kept = _trials(plan, noise, chance), InterimAnalysis(plan)
    for end in (*sorted(chance.choices(range(len(trials)), k=3)), len(trials)):
        found = kept.compare(trials[:end])
        assert repr(found) == repr(compare_configurations(plan, trials[:end]))
        collected = collect_runs(plan, trials[:end])
        for result in found:
            (own,) = (own for own in plan.workloads if own.label == result.workload)
            runs = pair_runs(plan, own, result.figure, result.configuration, collected)
            alone = compare_runs(
                runs, higher_is_better=result.figure.higher_is_better, rule=decision_rule(plan)
            )
            assert repr(result.comparison) == repr(alone)
            base, other = (
                collected.get((own.label, label), {})
                for label in (plan.baseline.label, result.configuration)
            )
            lost = [
                block
                for block in base.keys() & other.keys()
                if all(math.isnan(of[block].figures[result.figure.name]) for of in (base, other))
            ]
            assert result.lost_blocks == len(lost)


def _trials(plan: Study, noise: float, chance: random.Random) -> list[TrialRow]:
    """Those of a study of which some failed, and in which some configurations ended early."""
    last = {own.label: chance.choice([4, 12, 20]) for own in plan.configurations()[1:]}
    return [
        replace(
            row,
            figures=None
            if chance.random() < 0.02
            else {**(row.figures or {}), "exec_time": 10 * chance.lognormvariate(0, 0.01)},
        )
        for row in disturbed(rows(plan, blocks=20, noise=noise))
        if row.block <= last.get(row.configuration, 20)
    ]
