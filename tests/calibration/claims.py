"""Simulated studies in which an earlier rule of verdicts was wrong: see "Corrected claims"."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from iostudy.analysis.decision import decide, has_rare_slow_runs, is_balanced
from iostudy.analysis.distributions import Flags
from iostudy.analysis.paired import PairedRuns
from iostudy.analysis.rule import Rule
from iostudy.analysis.slow_runs import bound_share, is_slow
from iostudy.analysis.spending import AnalysisMethod
from iostudy.analysis.unpaired import combine_rules, compare_effects, difference_interval
from iostudy.analysis.verdict import Verdict
from tests.calibration.simulation import SEED, Array, Outcomes, carry_out

RULE = Rule(margin=0.05, risk=0.05, min_blocks=5, max_blocks=30)


def earlier(rule: Rule) -> Rule:
    """The same rule by Student's t alone."""
    return replace(rule, method=AnalysisMethod.ERROR_SPENDING)


def _draw(case: int) -> np.random.Generator:
    return np.random.default_rng([SEED, 40, case])


def runs_with_slow_ones(share: float, studies: int) -> tuple[Array, Array]:
    """s ln y of two configurations, noise 2 %; slow runs bring the second's mean to -margin."""
    draw, shape = _draw(1), (studies, RULE.max_blocks)
    slow = draw.random(shape) < share
    first, second = 0.02 * draw.standard_normal((2, *shape))
    return first, second - slow * RULE.delta / share


def slow_runs(share: float, studies: int) -> tuple[float, float, float, float]:
    """Rates of equivalence: earlier, now, with `rare` at the true share; and of too low bounds."""
    first, second = runs_with_slow_ones(share, studies)
    ratios, rare_rule = second - first, replace(RULE, rare=share)
    rare = has_rare_slow_runs(first, second, rare_rule)
    now = carry_out(ratios, RULE)
    counts = is_slow(second, RULE.margin).sum(axis=-1)
    bounds = np.array([bound_share(k, RULE.max_blocks, RULE.risk) for k in range(31)])
    return (
        carry_out(ratios, earlier(RULE)).share(Verdict.EQUIVALENT),
        now.share(Verdict.EQUIVALENT),
        carry_out(ratios, rare_rule, rare=rare).share(Verdict.EQUIVALENT),
        float(np.mean(bounds[counts] < share)),
    )


def first_run_slower(workloads: int, studies: int, *, waits: bool) -> float:
    """The share of studies with a false winner if the first run of a block is 5 % slower."""
    draw = _draw(2)
    rule = replace(RULE, margin=0.01, comparisons=workloads)
    wrong = np.zeros(studies, dtype=bool)
    for _ in range(workloads):
        after = draw.random((studies, rule.max_blocks)) < 0.5
        noise = 0.01 * draw.standard_normal(after.shape)
        ratios = noise + np.where(after, 1, -1) * math.log(1.05)
        ended = (
            carry_out(ratios, rule, ready=is_balanced(after))
            if waits
            else carry_out(ratios, earlier(rule))
        )
        wrong |= np.isin(ended.verdicts, [str(Verdict.BETTER), str(Verdict.WORSE)])
    return float(wrong.mean())


def recommended(noise: float, loss: float, studies: int) -> tuple[float, float]:
    """Recommendations by "worse in none", and by the goal, of a configuration with a loss.

    It gains 20 % on three workloads and loses on a noisy fourth one.
    """
    draw = _draw(3)
    rule = replace(RULE, comparisons=4)
    ratios = noise * draw.standard_normal((studies, rule.max_blocks)) + math.log1p(-loss)
    verdict = carry_out(ratios, earlier(rule))
    return 1 - verdict.share(Verdict.WORSE), float(decide(ratios, RULE).not_worse.mean())


def several_figures(
    correlation: float, first: float, guard: float, studies: int
) -> tuple[float, float]:
    """Claims that a configuration is better in the first figure, and also not worse in the second.

    ``first`` and ``guard`` are the true log-ratios; the noise of a pair is 10 % in both figures.
    """
    draw, shape = _draw(9), (studies, RULE.max_blocks)
    common, *own = 0.1 * draw.standard_normal((3, *shape))
    shared, rest = math.sqrt(correlation), math.sqrt(1 - correlation)
    ratios = [shared * common + rest * noise for noise in own]
    better = decide(ratios[0] + first, RULE).words == str(Verdict.BETTER)
    guarded = decide(ratios[1] + guard, RULE)
    harmless = guarded.not_worse | (guarded.words == str(Verdict.BETTER))
    return float(better.mean()), float((better & harmless).mean())


def failing_stalls(studies: int) -> tuple[float, float]:
    """False winners if both stall in 10 % of runs and the second's stalls fail.

    Stalls take three times as long. In the first rate the block of a failed run is repeated, in
    the second the run ranks below everything.
    """
    draw, shape = _draw(4), (studies, RULE.max_blocks)
    stalls = draw.random((2, *shape)) < 0.1
    first, second = 0.02 * draw.standard_normal((2, *shape))
    first = first - stalls[0] * math.log(3)
    repeated = carry_out(second - first, earlier(RULE))
    failed = np.where(stalls[1], -np.inf, second)
    return repeated.wrong, carry_out(failed - first, RULE).wrong


def words_of_six(difference: float, studies: int) -> Outcomes:
    """The verdicts of one of six comparisons, noise of a pair 6 %, margin 3 %."""
    rule = replace(RULE, margin=0.03, comparisons=6)
    ratios = 0.06 * _draw(5).standard_normal((studies, rule.max_blocks)) + difference
    return carry_out(ratios, rule)


def false_words(studies: int) -> float:
    """The share of false words at a true difference of exactly -margin, noise 15 %."""
    ratios = 0.15 * _draw(6).standard_normal((studies, RULE.max_blocks)) - RULE.delta
    ended = carry_out(ratios, RULE)
    return ended.share(Verdict.EQUIVALENT, Verdict.BETTER, Verdict.NOT_WORSE)


def ever_wrong(blocks: tuple[int, int], risk: float, studies: int) -> tuple[float, float]:
    """False winners of normal noise by t, and by normal scores, in the same studies."""
    rule = Rule(margin=1e-6, risk=risk, min_blocks=blocks[0], max_blocks=blocks[1])
    wrong = [0.0, 0.0]
    draw, part = _draw(7), 10_000
    for _ in range(studies // part):
        ratios = draw.standard_normal((part, blocks[1]))
        for index, own in enumerate((earlier(rule), rule)):
            wrong[index] += float(_crossed(ratios, own).sum())
    return wrong[0] / studies, wrong[1] / studies


def _crossed(ratios: Array, rule: Rule) -> Flags:
    """Whether any analysis finds a difference, without a stop for futility."""
    from iostudy.analysis.decision import exceeds

    found = np.zeros(len(ratios), dtype=bool)
    for count in rule.boundaries.looks:
        own, level = ratios[:, :count], rule.boundaries_of(count).level(count, equivalence=False)
        found |= exceeds(own, 0.0, level, rule).any(axis=0)
    return found


def between_days(deviation: float, studies: int) -> tuple[float, float]:
    """False claims about two equal studies, by raw figures and by effects.

    The figures of a day have a common deviation. Noise 3 %, ten blocks of two configurations.
    """
    draw, rule = _draw(8), replace(RULE, margin=0.005)
    raw = combine_rules(rule, rule, comparisons=2)
    wrong = np.zeros((studies, 2), dtype=bool)
    for study in range(studies):
        days = [
            0.03 * draw.standard_normal((10, 2)) + deviation * draw.standard_normal()
            for _ in range(2)
        ]
        intervals = [difference_interval(days[0][:, k], days[1][:, k], raw) for k in range(2)]
        wrong[study, 0] = any(each.low > 0 or each.high < 0 for each in intervals)
        effects = [PairedRuns(day[:, 0], day[:, 1]) for day in days]
        found = compare_effects(
            *effects, higher_is_better=True, rule=combine_rules(rule, rule, comparisons=1)
        )
        wrong[study, 1] = found.verdict in (Verdict.BETTER, Verdict.WORSE)
    raw_rate, effect_rate = wrong.mean(axis=0)
    return float(raw_rate), float(effect_rate)
