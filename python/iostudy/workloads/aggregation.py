"""Combines the measurements of several rounds, or of concurrent workloads, into one."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TypeVar

from iostudy.workloads.measurement import Histogram, Measurement, Part
from iostudy.workloads.native.latency import pool_histograms

T = TypeVar("T")


def average_rounds(rounds: Sequence[Measurement]) -> Measurement:
    """Return the mean of every figure that all rounds have, and their pooled histograms.

    Parts with the same labels are averaged. One round is returned unchanged; without rounds the
    result is empty.
    """
    return Measurement(
        mean_figures([run.figures for run in rounds]),
        pool_latencies([run.latencies for run in rounds]),
        _mean_parts([part for run in rounds for part in run.parts]),
        tuple(dict.fromkeys(note for run in rounds for note in run.notes)),
        tuple(dict.fromkeys(departure for run in rounds for departure in run.departures)),
    )


def combine_workloads(measured: Mapping[str, Measurement]) -> Measurement:
    """Combine the measurements of concurrent workloads, each under its label.

    ``neighbour.aggregate`` is a figure, ``neighbour.write`` the latencies of an operation.
    Parts get the label ``workload`` before their own.
    """
    return Measurement(
        _prefixed({label: run.figures for label, run in measured.items()}),
        _prefixed({label: run.latencies for label, run in measured.items()}),
        tuple(
            Part({"workload": label, **part.labels}, _prefixed({label: part.figures}))
            for label, run in measured.items()
            for part in run.parts
        ),
        tuple(f"{label}: {note}" for label, run in measured.items() for note in run.notes),
        tuple(f"{label}: {text}" for label, run in measured.items() for text in run.departures),
    )


def _prefixed(measured: Mapping[str, Mapping[str, T]]) -> dict[str, T]:
    return {
        f"{label}.{name}": value for label, run in measured.items() for name, value in run.items()
    }


def mean_figures(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every figure that all rounds have."""
    first, *others = rounds or [{}]
    common = [name for name in first if all(name in other for other in others)]
    return {name: statistics.fmean(figures[name] for figures in rounds) for name in common}


def pool_latencies(rounds: Sequence[Mapping[str, Histogram]]) -> dict[str, Histogram]:
    """Return the pooled histograms of each operation."""
    operations = dict.fromkeys(operation for latencies in rounds for operation in latencies)
    return {
        operation: pool_histograms(latencies.get(operation, ()) for latencies in rounds)
        for operation in operations
    }


def _mean_parts(parts: Sequence[Part]) -> tuple[Part, ...]:
    by_labels: dict[tuple[tuple[str, str], ...], list[Part]] = {}
    for part in parts:
        by_labels.setdefault(tuple(part.labels.items()), []).append(part)
    return tuple(
        Part(dict(labels), mean_figures([part.figures for part in parts]))
        for labels, parts in by_labels.items()
    )
