"""A synthetic study with a load: three file systems at four numbers of jobs, with known curves."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from iostudy.ledger.rows import TrialRow
from iostudy.report.topics.scaling import ScalingReport
from iostudy.report.values import Report
from iostudy.study.model import Study
from iostudy.study.plan import make_plan
from tests.report import factory
from tests.report.factory import build_report
from tests.study.files import parse_once

TEXT = """\
question: Which file system scales best?
target: {loopback: {size: 1GiB}}
factors: {filesystem.type: [ext4, xfs, btrfs]}
load: {workload.jobs: [1, 2, 4, 8]}
workloads: [{io: {label: readers, size: 1MiB}}]
decide: {blocks: [5, 12]}
"""
EVENTS = (
    TEXT.replace("{io: {label: readers, size: 1MiB}}", "events: {events: 20}") + "reference: R5\n"
)
"""With published curves next to it."""
CURVES = {
    "ext4": (100.0, 190.0, 330.0, 330.0),
    "xfs": (90.0, 170.0, 360.0, 420.0),
    "btrfs": (80.0, 120.0, 110.0, 90.0),
}


SECONDARY = "read_rate"


def study(text: str = TEXT) -> Study:
    return parse_once(text)


def rows(
    of: Study,
    curves: Mapping[str, Sequence[float]] = CURVES,
    *,
    blocks: int = 10,
    noise: float = 0.005,
) -> list[TrialRow]:
    """Every trial of the first blocks; a secondary figure is in proportion to it."""
    draw = random.Random(1)
    levels = [workload.label for workload in of.workloads]
    found: list[TrialRow] = []
    for block in make_plan(of, 7).blocks:
        for position, label in enumerate(block.order if block.index <= blocks else (), start=1):
            value = curves[label][levels.index(block.workload)] * math.exp(draw.gauss(0, noise))
            name = of.workloads[0].figure.name
            row = factory.row(len(found) + 1, block.index, position, block.workload, label, value)
            found.append(replace(row, figures={SECONDARY: 1.7 * value, name: value}))
    return found


def report(text: str = TEXT, **options: object) -> Report:
    experiment = study(text)
    return build_report(experiment, factory.study_row(experiment), rows(experiment, **options))  # type: ignore[arg-type]


def curves(text: str = TEXT, **options: object) -> ScalingReport:
    (own_curves,) = report(text, **options).curves
    return own_curves
