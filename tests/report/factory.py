"""Synthetic studies: values alone, seeded noise, known effects, telemetry that looks real."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import SamplesFile, StudyRow, TrialRow, TrialStatus
from iostudy.report import build
from iostudy.report.base import Span
from iostudy.report.topics.verdicts import Result
from iostudy.report.values import Report
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.combinations import Factor, FactorKind, Level
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import make_plan
from iostudy.study.requests import build_request as request_of
from iostudy.study.sections import Decision, Validity
from iostudy.study.targets.section import LoopbackTarget
from iostudy.telemetry.summary import Figures, TelemetrySummary
from iostudy.workloads import catalog

QUESTION = "Does the I/O scheduler matter for our streaming writes and reads?"
TEXT = f"""\
question: {QUESTION}
target:
  loopback: {{size: 2GiB, filesystem: ext4}}
factors:
  block.scheduler: [none, mq-deadline, kyber, bfq]
workloads:
  - io: {{label: file-writes, operation: write, files: 2, size: 256MiB}}
  - io: {{label: file-reads, files: 2, size: 256MiB}}
decide: {{margin: 3%, risk: 5%, blocks: [5, 20]}}
seed: 7
"""
CIRCUMSTANCES = {
    "host": {
        "name": "node17",
        "kernel": "6.1.0-38-amd64",
        "cpus": 32,
        "memory_bytes": 137438953472,
    },
    "versions": {"iostudy": "0.1.0", "python": "3.11.2"},
    "target": {"device": "loop0", "filesystem": "ext4", "mount_options": ["rw", "relatime"]},
    "devices": [
        {
            "name": "sda",
            "model": "INTEL SSDSC2KB96",
            "size_bytes": 960197124096,
            "rotational": False,
        },
        {"name": "loop0", "model": None, "size_bytes": 2147483648, "rotational": False},
    ],
}
EFFECTS = {("file-writes", "bfq"): -0.12, ("file-writes", "kyber"): 0.08}
BASE = {"file-writes": 412.0, "file-reads": 1290.0}
STARTED_AT = 1_790_000_000.0


SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")
WORKLOADS = ("file-writes", "file-reads")


def factor(name: str, *levels: str) -> Factor:
    kind = FactorKind.WORKLOAD_OPTION if name.startswith("workload.") else FactorKind.SETTING
    return Factor(name, kind, tuple(Level(level, level) for level in levels))


def study(
    *factors: Factor,
    workloads: Sequence[str] = WORKLOADS,
    text: str = TEXT,
    question: str = QUESTION,
) -> Study:
    """By default four schedulers on two workloads."""
    return Study(
        name="schedulers",
        question=question,
        text=text,
        target=LoopbackTarget(2 << 30, "ext4"),
        factors=factors or (factor("block.scheduler", *SCHEDULERS),),
        workloads=tuple(_request(name) for name in workloads),
        decide=Decision(margin=0.03, risk=0.05, blocks=(5, 20)),
        validity=Validity(foreign_io=0.05, steal=0.05),
        seed=7,
    )


def _request(label: str) -> WorkloadRequest:
    """The workload of that name, or io with that label."""
    if label in catalog.names():
        return request_of(label, catalog.get(label).options(files=2, size="256MiB"))
    operation = "write" if label == "file-writes" else "read"
    options = catalog.get("io").options(operation=operation, files=2, size="256MiB")
    return request_of("io", options, label)


def study_row(of: Study, circumstances: Mapping[str, object] = CIRCUMSTANCES) -> StudyRow:
    return StudyRow(
        name=of.name,
        text=of.text,
        root=True,
        offered={},
        left_out=of.left_out,
        seed=7,
        started_at=STARTED_AT,
        iostudy_version="0.1.0",
        circumstances=circumstances,
    )


def rows(
    of: Study,
    *,
    blocks: int = 8,
    noise: float = 0.01,
    effects: Mapping[tuple[str, str], float] = EFFECTS,
    workloads: Sequence[str] | None = None,
) -> list[TrialRow]:
    """Every trial of the first ``blocks`` blocks of the plan, all of them counted."""
    draw = random.Random(1)
    found: list[TrialRow] = []
    for block in make_plan(of, 7).blocks:
        if block.index > blocks or (workloads is not None and block.workload not in workloads):
            continue
        for position, configuration in enumerate(block.order, start=1):
            effect = effects.get((block.workload, configuration), 0.0)
            base = BASE.get(block.workload, 500.0)
            value = base * (1 + effect) * math.exp(draw.gauss(0.0, noise))
            found.append(
                row(len(found) + 1, block.index, position, block.workload, configuration, value)
            )
    return found


def row(
    number: int, block: int, position: int, workload: str, configuration: str, value: float
) -> TrialRow:
    return TrialRow(
        id=number,
        block=block,
        attempt=1,
        position=position,
        workload=workload,
        configuration=configuration,
        status=TrialStatus.FINISHED,
        started_at=STARTED_AT + 3.0 * number,
        figures={"bandwidth": value, "exec_time": 512 / value, "bytes": 512.0 * 2**20},
        settings={"block.scheduler@loop0": configuration},
        devices=("loop0",),
        summary=TelemetrySummary(
            seconds=30.0,
            devices=_devices(value, reads="read" in workload),
            machine={
                "%user": 1.5,
                "%system": 2e4 / value,
                "%iowait": 12.0,
                "%idle": 60.0,
                "io_some": 3.0,
            },
        ),
        phases={"settings": 0.01, "caches": 0.12, "workload": 512 / value},
        notes=("page cache dropped before the trial",),
        telemetry=SamplesFile(f"telemetry/{number:06d}.npz"),
        counts=True,
    )


def _devices(value: float, *, reads: bool) -> dict[str, dict[str, float]]:
    rates = {"rkB/s": 1024 * value if reads else 0.0, "wkB/s": 0.0 if reads else 1024 * value}
    waits = {"r_await": 900 / value if reads else 0.0, "w_await": 0.0 if reads else 900 / value}
    loop = {"r/s": rates["rkB/s"] / 128, "w/s": rates["wkB/s"] / 128, **rates, **waits}
    loop |= {"f/s": 0.0, "f_await": 0.0, "aqu-sz": 44.0, "%util": 96.0 - value / 100}
    return {"loop0": loop, "sda": {**loop, "%util": 40.0}}


def disturbed(trials: Sequence[TrialRow]) -> list[TrialRow]:
    """The same trials and, at their end, a block that failed and one that was cut short."""
    invalid = replace(
        trials[-1],
        id=len(trials) + 1,
        status=TrialStatus.INVALID,
        reason="foreign I/O on loop0: 12 % of the workload's own bytes, limit 5 %",
        counts=False,
    )
    interrupted = replace(
        trials[-2],
        id=len(trials) + 2,
        status=TrialStatus.INTERRUPTED,
        reason="iostudy ended before this trial did",
        figures=None,
        summary=None,
        counts=False,
    )
    return [*trials, invalid, interrupted]


def renamed(trials: Sequence[TrialRow]) -> list[TrialRow]:
    """The same trials, of which the first half saw the disk as loop1."""
    before = [
        replace(
            row,
            devices=("loop1",),
            summary=replace(row.summary, devices=_renamed(row.summary.devices)),
        )
        for row in trials[: len(trials) // 2]
        if row.summary is not None
    ]
    return [*before, *trials[len(before) :]]


def _renamed(devices: Mapping[str, Figures]) -> Mapping[str, Figures]:
    return {"loop1": devices["loop0"], "sda": devices["sda"]}


def outlying(trials: Sequence[TrialRow], index: int = 3, factor: float = 0.7) -> list[TrialRow]:
    """The same trials, one of them far from the rest."""
    row = trials[index]
    figures = dict(row.figures or {})
    figures["bandwidth"] *= factor
    return [*trials[:index], replace(row, figures=figures), *trials[index + 1 :]]


def build_report(
    of: Study,
    row: StudyRow,
    trials: Iterable[TrialRow],
    place: str = "DIR",
    **parts: Any,
) -> Report:
    """The report of a study with these trials; ``parts`` as of RecordedStudy.

    Reports are values, and each costs a quarter of a second: tests share those of equal studies.
    """
    recorded = RecordedStudy(place, of, row, tuple(trials), **parts)
    if parts:
        return build.build_report(recorded)
    key = repr(recorded)
    if key not in _REPORTS:
        _REPORTS[key] = build.build_report(recorded)
    return _REPORTS[key]


_REPORTS: dict[str, Report] = {}
"""Text of a recorded study -> its report."""


def report(**options: object) -> Report:
    """The report of the standard study; ``options`` as of rows."""
    experiment = study()
    return build_report(experiment, study_row(experiment), rows(experiment, **options))  # type: ignore[arg-type]


def two_factors() -> Report:
    """Four configurations with long labels, of which one costs much."""
    experiment = study(
        factor("workload.direct", "true", "false"),
        factor("workload.record_size", "1MiB", "64KiB"),
    )
    effects = {("file-writes", "direct=true, record_size=64KiB"): -0.2}
    return build_report(
        experiment, study_row(experiment), rows(experiment, effects=effects, noise=0.02)
    )


def result(label: str, verdict: Verdict | None = None, **changes: object) -> Result:
    """One row of a table; the baseline where there is no verdict."""
    fields = {
        "blocks": 8,
        "value": 400.0,
        "baseline": verdict is None,
        "verdict": verdict,
        **changes,
    }
    return Result(configuration=label, **fields)  # type: ignore[arg-type]


def span(low: float, high: float) -> Span:
    return Span(low=low, high=high)
