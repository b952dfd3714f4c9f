"""One result of a trial from the results of all nodes (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from iostudy.node.protocol import TrialResult
from iostudy.telemetry.covariates import Covariate, compute_covariates
from iostudy.telemetry.recorder import Telemetry
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import MIB
from iostudy.workloads.measurement import AGGREGATE, BYTES, EXEC_TIME, Histogram
from iostudy_fleet.clock_offset import ClockOffset
from iostudy_fleet.together.joint_run import JointRun, NodePart, NodeRun, join_runs
from iostudy_fleet.together.trial_messages import NodeTrial

_DISTURBANCES = ("suspended_s", "longest_gap_s")
"""Figures of the machine that make a trial invalid, as shares of the CPU time do."""
_NO_SAMPLES = Samples(np.zeros(2), {})
_STEAL, _FOREIGN_CPU = ("%steal",), ("cores", "foreign_%cpu")


def join_trials(
    results: Mapping[str, NodeTrial],
    offsets: Mapping[str, tuple[ClockOffset, ClockOffset]],
    margin: float,
) -> TrialResult:
    """Join the results by node; ``offsets`` are those of its clock before and after the run.

    Figures are those with a meaning for all nodes: the bytes, the time from the first start to the
    last end, and their rate.
    """
    runs = [_node_run(node, result, offsets[node]) for node, result in results.items()]
    joint = join_runs(runs, margin)
    return TrialResult(
        figures={
            AGGREGATE: joint.bytes_per_second / MIB,
            EXEC_TIME: joint.seconds,
            BYTES: float(joint.size),
        },
        settings={
            f"{name}@{node}": value
            for node, result in results.items()
            for name, value in result.settings.items()
        },
        telemetry=Telemetry(_join_summaries(results, joint), _NO_SAMPLES),
        devices=(),
        phases=_longest_phases(results),
        notes=tuple(dict.fromkeys(note for result in results.values() for note in result.notes)),
        latencies=_add_latencies(results),
        parts=tuple(_build_part(run, runs).to_part() for run in runs),
        departures=tuple(
            f"{node}: {text}" for node, result in results.items() for text in result.departures
        ),
    )


def _node_run(node: str, result: NodeTrial, offsets: tuple[ClockOffset, ClockOffset]) -> NodeRun:
    size = round(result.figures[BYTES])
    return NodeRun(node, result.span.began, result.span.ended, size, *offsets)


def _build_part(run: NodeRun, runs: list[NodeRun]) -> NodePart:
    return NodePart(
        node=run.node,
        seconds=run.seconds,
        start_after=run.start - min(other.start for other in runs),
        error=max(run.offset_before.error, run.offset_after.error),
        size=run.size,
    )


def _join_summaries(results: Mapping[str, NodeTrial], joint: JointRun) -> TelemetrySummary:
    """Disturbances of the node that has most of each; figures of devices are of one host only."""
    summaries = [
        TelemetrySummary(result.span.seconds, {}, result.machine) for result in results.values()
    ]
    machine = {
        name: max(summary.machine.get(name, 0.0) for summary in summaries) for name in _DISTURBANCES
    }
    most_steal = max(summaries, key=partial(_share, Covariate.STEAL))
    most_foreign = max(summaries, key=partial(_share, Covariate.FOREIGN_CPU))
    machine |= _select(most_steal, _STEAL) | _select(most_foreign, _FOREIGN_CPU)
    return TelemetrySummary(seconds=joint.seconds, devices={}, machine=machine)


def _share(of: Covariate, summary: TelemetrySummary) -> float:
    return compute_covariates(summary).get(of, 0.0)


def _select(summary: TelemetrySummary, names: Sequence[str]) -> dict[str, float]:
    return {name: summary.machine[name] for name in names if name in summary.machine}


def _longest_phases(results: Mapping[str, NodeTrial]) -> dict[str, float]:
    names = dict.fromkeys(name for result in results.values() for name in result.phases)
    return {
        name: max(result.phases.get(name, 0.0) for result in results.values()) for name in names
    }


def _add_latencies(results: Mapping[str, NodeTrial]) -> dict[str, Histogram]:
    latencies: dict[str, Counter[float]] = {}
    for result in results.values():
        for operation, histogram in result.latencies.items():
            latencies.setdefault(operation, Counter()).update(dict(histogram))
    return {operation: tuple(sorted(counts.items())) for operation, counts in latencies.items()}
