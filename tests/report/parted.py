"""A study of a workload with latencies, and with parts: a matrix of sizes, or jobs."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from unittest.mock import patch

from iostudy.ledger.rows import TrialRow
from iostudy.report.values import Report
from iostudy.study.model import Study
from iostudy.units import KIB, format_size
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure, fixed_figures
from iostudy.workloads.measurement import Part
from iostudy.workloads.native.io import IO
from iostudy.workloads.native.latency import merge_buckets
from tests.report.factory import build_report, rows, study, study_row

RATE = Figure("rate", "KiB/s", "bytes over time of this cell", higher_is_better=True)
NAME = "file-reads"
OPERATIONS = ("write", "read", "random-read")
FILES = tuple(64 * KIB << power for power in range(6))
RECORDS = tuple(4 * KIB << power for power in range(6))
EFFECT = {"none": 1.0, "mq-deadline": 1.02, "kyber": 1.2, "bfq": 0.8}


def cells(
    operations: Sequence[str] = OPERATIONS,
    files: Sequence[int] = FILES,
    records: Sequence[int] = RECORDS,
) -> list[dict[str, str]]:
    """The labels of a matrix; no record is larger than its file."""
    return [
        {"operation": o, "file_size": format_size(f), "record_size": format_size(r)}
        for o in operations
        for f in files
        for r in records
        if r <= f
    ]


JOBS = [{"job": str(number)} for number in range(8)]


def measured(trials: Sequence[TrialRow], labels: Sequence[dict[str, str]]) -> Iterator[TrialRow]:
    """The trials with latencies, and with a part for each of the labels."""
    draw = random.Random(5)
    for row in trials:
        speed = EFFECT.get(row.configuration, 1.0)
        usual = {operation: 80.0 * (1 + n) / speed for n, operation in enumerate(OPERATIONS)}
        latencies = {
            operation: merge_buckets(
                (us * math.exp(abs(draw.gauss(0, 0.6))), 1) for _ in range(400)
            )
            for operation, us in usual.items()
        }
        parts = tuple(
            Part(own, {"rate": 1000 * speed * (1 + n % 7) * math.exp(draw.gauss(0, 0.02))})
            for n, own in enumerate(labels)
        )
        yield replace(row, latencies=latencies, parts=parts)


def parted_report(
    labels: Sequence[dict[str, str]] | None = None,
    *,
    own_study: Study | None = None,
    blocks: int = 6,
) -> Report:
    """A report of one workload under four configurations; a matrix by default."""
    studied = own_study or study(workloads=[NAME])
    definition = replace(IO, part_figures=fixed_figures(RATE))
    trials = list(measured(rows(studied, blocks=blocks), cells() if labels is None else labels))
    with patch.dict(catalog._ALL, {"io": definition}):
        return build_report(studied, study_row(studied), trials)
