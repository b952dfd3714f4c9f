"""Pilot of a workload: noise of the baseline, response of every level, and the window plan.

Pilot data decide nothing.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.switchback.allan import compute_allan_deviations, compute_bin_variance
from iostudy.analysis.switchback.response import MIN_BINS, Response, estimate_response
from iostudy.analysis.switchback.slow_response import (
    LongStay,
    SlowCheck,
    StayCounts,
    count_stays,
    long_stay_seconds,
)
from iostudy.analysis.switchback.window_plan import (
    FIRST_LOOK,
    LONGEST_WASHOUT_SECONDS,
    TOLERANCES,
    Pilot,
    WindowPlan,
    bound_level,
    choose_windows,
    has_windows,
    list_unsettled,
)
from iostudy.execution.switchback.measure import collect, measure_bins, open_bins
from iostudy.ledger.rows import PilotRow, ResponseCurve
from iostudy.node.protocol import SwitchedRun
from iostudy.results.comparisons import decision_rule
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.switchback import slowest_response_seconds
from iostudy.units import format_seconds
from iostudy.workloads.definition import Figure
from iostudy.workloads.windows import WindowCount, required_for_figure

Array = NDArray[np.float64]

CURVES = 8
"""Switches to each configuration; their curves are replicates."""
STEADY_SECONDS = 6.0
SHORTEST_CURVE_SECONDS = 0.3
CURVE_CONSTANTS = 3
"""Length of a curve in units of the slowest time constant: its later half is then nearly flat."""
_BIN_SECONDS = (0.02, 1.0)
"""Shortest and longest bin of the pilot."""
_BIN_OPERATIONS = 10
_SWITCH_SECONDS = 0.5
"""Time of the first switch for which bins are added; a slow disk drains its queue in that time.

Later switches get twice the time of the longest one so far.
"""
_WARM_UP_SECONDS = 1.0
_PAUSED_SHARE = 0.25
"""Largest share of bins without the figure: on a busy host all threads may wait for a CPU."""


def run_pilot(study: Study, request: WorkloadRequest, run: SwitchedRun, seed: int) -> PilotRow:
    """Measure noise and responses, and choose the windows of the workload."""
    bin_seconds = _find_bin_seconds(run, request.figure)
    if bin_seconds is None:
        reason = f"a window of {_BIN_SECONDS[1]:g} s has too few operations for its figure"
        return PilotRow(request.label, None, f"{request.label}: {reason}", (), {})
    pilot, curves, steady = _measure(study, request, run, bin_seconds, seed)
    row = build_plan(study, request, pilot)
    if row.plan is None:
        return row
    slow = find_slow(study, request, run, pilot, row.plan, curves, steady)
    return (
        replace(row, plan=None, reason=f"{request.label}: {_explain_slow(slow)}") if slow else row
    )


def pilot_seconds(configurations: Sequence[Configuration]) -> float:
    """Return the duration of a pilot with the shortest bins and without a suspicious level."""
    return _seconds_before_stays(configurations) + _seconds_of_stays(configurations)


def _seconds_before_stays(configurations: Sequence[Configuration]) -> float:
    curves = sum(map(_curve_seconds, configurations))
    return _WARM_UP_SECONDS + STEADY_SECONDS + CURVES * curves


def _seconds_of_stays(configurations: Sequence[Configuration]) -> float:
    """Return the duration of one long stay of each configuration but the baseline."""
    return sum(
        _stay_seconds(own) + 2 * _curve_seconds(_choose_following(configurations, own))
        for own in configurations[1:]
    )


def find_slow(
    study: Study,
    request: WorkloadRequest,
    run: SwitchedRun,
    pilot: Pilot,
    plan: WindowPlan,
    curves: Mapping[str, Array],
    steady: LongStay,
) -> tuple[str, ...]:
    """Return the configurations that respond more slowly than declared, from long stays.

    ``steady`` is a long stay of the baseline.
    """
    configurations = study.configurations()
    before_stays = _seconds_before_stays(configurations)
    stay_seconds = sum(map(_stay_seconds, configurations[1:]))
    counts = count_stays(plan, before_stays, stay_seconds, study.decide.time)
    tolerance = max(TOLERANCES) * decision_rule(study).delta
    measure = partial(_measure_long_stay, run, request.figure, pilot.bin_seconds)
    slow = []
    for own in configurations:
        following = _choose_following(configurations, own)
        check = SlowCheck(
            curves[own.label],
            curves[following.label],
            pilot.bin_seconds,
            slowest_response_seconds(own),
            tolerance,
        )
        is_baseline = own is configurations[0]
        own_counts = StayCounts(0, counts.most) if is_baseline else counts
        known = (steady,) if is_baseline else ()
        if check.is_slow(own_counts, partial(measure, own, following), known):
            slow.append(own.label)
    return tuple(slow)


def _choose_following(configurations: Sequence[Configuration], own: Configuration) -> Configuration:
    """Return the configuration that follows long stays of another: that of the shortest curve."""
    return min((each for each in configurations if each is not own), key=_curve_seconds)


def _measure_long_stay(
    run: SwitchedRun, figure: Figure, bin_seconds: float, own: Configuration, other: Configuration
) -> LongStay:
    """Switch from ``other`` to a configuration for a long stay, and back for a curve."""
    run.switch(other.label)
    run.wait(run.now() + _curve_seconds(other))
    spare = math.ceil(_SWITCH_SECONDS / bin_seconds)
    count = _count_bins(_stay_seconds(own), bin_seconds)
    _, counts = _measure_curve(run, own.label, bin_seconds, count, spare)
    return _follow(run, figure, bin_seconds, _values(counts, figure), other)


def _follow(
    run: SwitchedRun, figure: Figure, bin_seconds: float, rates: Array, following: Configuration
) -> LongStay:
    """Measure the curve of the configuration that follows a long stay."""
    count = _count_bins(_curve_seconds(following), bin_seconds)
    spare = math.ceil(_SWITCH_SECONDS / bin_seconds)
    _, counts = _measure_curve(run, following.label, bin_seconds, count, spare)
    return LongStay(rates, _values(counts, figure))


def _explain_slow(labels: Sequence[str]) -> str:
    verb = "responds" if len(labels) == 1 else "respond"
    return (
        f"{', '.join(labels)} {verb} to a switch more slowly than declared: the rate still changes "
        "in a longer stay"
    )


def _stay_seconds(configuration: Configuration) -> float:
    return long_stay_seconds(slowest_response_seconds(configuration))


def build_plan(study: Study, request: WorkloadRequest, pilot: Pilot) -> PilotRow:
    """Choose windows and blocks from a pilot; without a plan where a level does not settle."""
    rule = decision_rule(study)
    plan = choose_windows(pilot, rule.delta, rule.risk / rule.comparisons, study.decide.time)
    reason = "" if plan else _explain_trials(study, pilot, rule.delta)
    return PilotRow(
        workload=request.label,
        plan=plan,
        reason=f"{request.label}: {reason}" if reason else "",
        allan=tuple(
            (own.seconds, own.deviation)
            for own in compute_allan_deviations(pilot.rates, pilot.bin_seconds)
        ),
        responses={label: _curve(response) for label, response in pilot.responses.items()},
    )


def _explain_trials(study: Study, pilot: Pilot, margin: float) -> str:
    """Explain why a pilot gives no plan."""
    if not has_windows(pilot):
        return (
            f"the slowest configuration completes {pilot.operation_rate:.2g} operations a second, "
            f"and a window needs {pilot.min_operations}"
        )
    if unsettled := list_unsettled(pilot, margin):
        verb = "does" if len(unsettled) == 1 else "do"
        return (
            f"{', '.join(unsettled)} {verb} not settle after a switch: a bias is possible for more "
            f"than {LONGEST_WASHOUT_SECONDS:g} s, or the rate still changes at the end of its curve"
        )
    return (
        f"{FIRST_LOOK} blocks of windows with their washouts take more than "
        f"{format_seconds(study.decide.time)}"
    )


def _find_bin_seconds(run: SwitchedRun, figure: Figure) -> float | None:
    """Return the shortest bin with the figure but for pauses; None if even the longest lacks it."""
    shortest, longest = _BIN_SECONDS
    run.wait(run.now() + _WARM_UP_SECONDS)
    (count,) = measure_bins(run, longest, 1)
    seconds = max(shortest, _BIN_OPERATIONS * longest / max(count.operations, 1))
    while seconds <= longest:
        counts = measure_bins(run, seconds, MIN_BINS)
        lacking = sum(not own.figures.get(figure.name, 0.0) > 0 for own in counts)
        if lacking <= MIN_BINS * _PAUSED_SHARE:
            return seconds
        seconds *= 2
    return None


def _measure(
    study: Study, request: WorkloadRequest, run: SwitchedRun, bin_seconds: float, seed: int
) -> tuple[Pilot, dict[str, Array], LongStay]:
    """Return the pilot, the curves x bins of rates by configuration, and the steady baseline."""
    configurations = {own.label: own for own in study.configurations()}
    following = _choose_following(study.configurations(), study.baseline)
    counts = measure_bins(run, bin_seconds, _count_bins(STEADY_SECONDS, bin_seconds))
    steady = _follow(run, request.figure, bin_seconds, _values(counts, request.figure), following)
    run.switch(study.baseline.label)
    draw = random.Random(f"{seed} {request.label} pilot")
    curves, switches = _measure_curves(run, configurations, bin_seconds, draw)
    level = bound_level(study.decide.risk, len(configurations) * len(study.workloads))
    stacked = {
        label: _stack([_values(counts, request.figure) for counts in own])
        for label, own in curves.items()
    }
    pilot = Pilot(
        rates=steady.rates,
        bin_seconds=bin_seconds,
        operation_rate=min(_operation_rate(own, bin_seconds) for own in curves.values()),
        responses={
            label: estimate_response(
                own, bin_seconds, slowest_response_seconds(configurations[label]), level
            )
            for label, own in stacked.items()
        },
        switch_seconds={label: float(np.mean(own)) for label, own in switches.items()},
        min_operations=required_for_figure(request.figure.name),
        excess_variance=measure_excess_variance(steady.rates, stacked.values()),
    )
    return pilot, stacked, steady


def _measure_curves(
    run: SwitchedRun,
    configurations: Mapping[str, Configuration],
    bin_seconds: float,
    draw: random.Random,
) -> tuple[dict[str, list[list[WindowCount]]], dict[str, list[float]]]:
    """Return the curves of every configuration, and the durations of its switches.

    The first configuration is the baseline, which runs before the first switch.
    """
    curves: dict[str, list[list[WindowCount]]] = {label: [] for label in configurations}
    switches: dict[str, list[float]] = {label: [] for label in configurations}
    before = next(iter(configurations))
    for _ in range(CURVES):
        for label in _draw_order(draw, list(configurations), before):
            before = label
            count = _count_bins(_curve_seconds(configurations[label]), bin_seconds)
            longest = max(itertools.chain(*switches.values()), default=_SWITCH_SECONDS / 2)
            spare = math.ceil(2 * longest / bin_seconds)
            seconds, counts = _measure_curve(run, label, bin_seconds, count, spare)
            switches[label].append(seconds)
            curves[label].append(counts)
    return curves, switches


def measure_excess_variance(steady: Array, curves: Iterable[Array]) -> float:
    """Return the variance of a bin of the noisiest configuration beyond the baseline's.

    ``steady`` are the rates of the baseline, ``curves`` those of every configuration, of which the
    later half is used. Variances are relative.
    """
    largest = max(compute_bin_variance(own[:, own.shape[1] // 2 :]) for own in curves)
    return max(0.0, largest - compute_bin_variance(steady[np.newaxis]))


def _operation_rate(curves: Sequence[Sequence[WindowCount]], bin_seconds: float) -> float:
    """Return the operations per second in the later half of the curves of a configuration.

    One operation a bin stands for curves that a slow switch has left without bins.
    """
    late = [count.operations for counts in curves for count in counts[len(counts) // 2 :]]
    return max(sum(late), 1) / (max(len(late), 1) * bin_seconds)


def _draw_order(draw: random.Random, labels: Sequence[str], before: str) -> list[str]:
    """Draw an order whose first switch changes something, if there are several labels."""
    order = draw.sample(labels, len(labels))
    return order if order[0] != before or len(order) == 1 else [*order[1:], order[0]]


def _stack(curves: Sequence[Array]) -> Array:
    """Return the curves x bins that all curves have."""
    common = min(map(len, curves))
    return np.stack([own[:common] for own in curves])


def _curve_seconds(configuration: Configuration) -> float:
    return max(SHORTEST_CURVE_SECONDS, CURVE_CONSTANTS * slowest_response_seconds(configuration))


def _count_bins(seconds: float, bin_seconds: float) -> int:
    return max(MIN_BINS, math.ceil(seconds / bin_seconds))


def _measure_curve(
    run: SwitchedRun, label: str, bin_seconds: float, count: int, spare: int
) -> tuple[float, list[WindowCount]]:
    """Return the duration of the switch, and the bins that begin after it.

    The bins are opened before the switch, so that the first one follows it at once. A switch that
    takes longer than ``spare`` bins leaves fewer bins.
    """
    windows = open_bins(run, bin_seconds, count + spare)
    run.wait(windows[0].start)
    began = run.now()
    run.switch(label)
    ended = run.now()
    counts = [own for own in collect(run, windows) if own.window.start >= ended]
    return ended - began, counts[:count]


def _values(counts: Sequence[WindowCount], figure: Figure) -> Array:
    """Return the figure by bin; 0 where a bin has none."""
    return np.array([own.figures.get(figure.name, 0.0) for own in counts])


def _curve(response: Response) -> ResponseCurve:
    return ResponseCurve(
        response.bin_seconds,
        tuple(map(float, response.curve)),
        tuple(map(float, response.low)),
        tuple(map(float, response.high)),
    )
