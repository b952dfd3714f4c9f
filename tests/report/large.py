"""Synthetic studies of thousands of trials, with figures and telemetry of realistic size."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from iostudy.ledger.rows import SamplesFile, StudyRow, TrialRow, TrialStatus
from iostudy.ledger.samples import FOLDER, write_samples
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import CONTINUATION, METHOD
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.parser import parse
from iostudy.study.plan import make_plan
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog
from iostudy.workloads.measurement import Histogram
from iostudy.workloads.native.latency import merge_buckets
from tests.report.factory import CIRCUMSTANCES, study_row

SEED = 7
WORKLOADS = (
    "{io: {label: file-writes, operation: write}}",
    "{io: {label: file-reads}}",
    "iozone",
    "{io: {label: random reads, order: random}}",
    "{io: {label: mixed, operation: mix}}",
)
_TEXT = """\
question: What does a large study cost to analyse and to tell?
target: {{loopback: {{size: 2GiB}}}}
factors:
  block.scheduler: [none, mq-deadline, kyber, bfq]
  block.read_ahead_kb: [{read_ahead}]
workloads: [{workloads}]
decide: {{margin: 0.01%, risk: 5%, blocks: [5, {blocks}]}}
seed: {seed}
"""
DEVICES = ("loop0", "sda")
"""Devices of the target, and one more."""
_EFFECTS = {"bfq": -0.1, "kyber": 0.02}
_COUNTERS = (
    *("r/s", "w/s", "d/s", "f/s", "rkB/s", "wkB/s", "rrqm/s", "wrqm/s", "%rrqm", "%wrqm"),
    *("r_await", "w_await", "f_await", "rareq-sz", "wareq-sz", "aqu-sz", "%util"),
)
_MACHINE = (
    *("%user", "%nice", "%system", "%iowait", "%steal", "%idle", "%foreign"),
    *("cpu_some", "io_some", "io_full", "memory_some", "memory_full"),
)
_IDLE = ("d/s", "%nice", "%steal", "memory_some", "memory_full", "f_await")
_PHASES = ("prepare", "apply", "reset", "sync", "run", "restore")


def study(
    blocks: int, workloads: int = len(WORKLOADS), read_ahead: Sequence[int] = (128, 4096)
) -> Study:
    """Four configurations for each read-ahead; 250 blocks of all workloads make 10,000 trials."""
    text = _TEXT.format(
        workloads=", ".join(WORKLOADS[:workloads]),
        read_ahead=", ".join(map(str, read_ahead)),
        blocks=blocks,
        seed=SEED,
    )
    return parse(text, where="large.yaml", name="large")


def row_of(study: Study) -> StudyRow:
    """What the ledger of the study begins with; its verdicts are those of new studies."""
    method = {METHOD: study.method, CONTINUATION: asdict(study.continuation)}
    return study_row(study, {**CIRCUMSTANCES, **method})


def rows(study: Study, devices: Sequence[str] = DEVICES) -> Iterator[TrialRow]:
    """Every trial of the plan, all of them counted."""
    draw = random.Random(SEED)
    requests = {request.label: request for request in study.workloads}
    number = 0
    for block in make_plan(study, SEED).blocks:
        for position, configuration in enumerate(block.order, start=1):
            number += 1
            request = requests[block.workload]
            yield _row(number, block.index, position, request, configuration, devices, draw)


def _row(
    number: int,
    block: int,
    position: int,
    request: WorkloadRequest,
    configuration: str,
    devices: Sequence[str],
    draw: random.Random,
) -> TrialRow:
    scheduler, read_ahead = (level.partition("=")[2] for level in configuration.split(", "))
    speed = 1 + _EFFECTS.get(scheduler, 0.0)
    return TrialRow(
        id=number,
        block=block,
        attempt=1,
        position=position,
        workload=request.label,
        configuration=configuration,
        status=TrialStatus.FINISHED,
        started_at=1_790_000_000 + 3.1 * number,
        figures=_figures(request, speed, draw),
        settings={
            "block.scheduler@loop0": scheduler,
            "block.read_ahead_kb@loop0": read_ahead,
            "block.scheduler@sda": "mq-deadline",
        },
        devices=tuple(devices[:-1]),
        summary=TelemetrySummary(
            seconds=60.0,
            devices={name: _meters(_COUNTERS, draw) | _totals(draw) for name in devices},
            machine=_meters(_MACHINE, draw),
        ),
        phases={name: _about(0.1, draw) for name in _PHASES},
        notes=("dirty pages written out before every trial",),
        telemetry=SamplesFile(f"{FOLDER}/{number:06d}.npz"),
        counts=True,
        latencies={"read": _histogram(draw)},
    )


def _figures(request: WorkloadRequest, speed: float, draw: random.Random) -> dict[str, float]:
    figures = catalog.get(request.name).figures(request.options)
    return {
        figure.name: 500 * (speed if figure.higher_is_better else 1 / speed) * _about(1, draw)
        for figure in figures
    }


def _meters(names: tuple[str, ...], draw: random.Random) -> dict[str, float]:
    return {name: 0.0 if name in _IDLE else _about(40, draw) for name in names}


def _totals(draw: random.Random) -> dict[str, float]:
    return {name: 4.0 * draw.randrange(10**6) for name in ("kB_read", "kB_wrtn")}


def _about(value: float, draw: random.Random) -> float:
    return value * math.exp(draw.gauss(0, 0.06))


def _histogram(draw: random.Random) -> Histogram:
    return merge_buckets((_about(900, draw) * draw.paretovariate(2), 40) for _ in range(60))


def write(folder: Path, study: Study, devices: Sequence[str] = DEVICES) -> None:
    """The study's ledger, and a file of samples for every trial (all of them the same)."""
    with closing(Ledger.create(folder, row_of(study))) as ledger:
        trials = list(rows(study, devices))
        first = write_samples(folder, trials[0].id, _samples())
        for trial in trials:
            name = trial.telemetry.name
            ledger.begin(trial)
            ledger.finish(replace(trial, telemetry=replace(first, name=name)))
            if name != first.name:
                os.link(folder / first.name, folder / name)
        for workload, block in {(trial.workload, trial.block) for trial in trials}:
            ledger.complete(workload, block, 1)


def _samples() -> Samples:
    """As a recorder takes them in a minute."""
    draw = random.Random(SEED)
    names = [*(f"disk.loop0.{name}" for name in _COUNTERS), *(f"cpu.{name}" for name in _MACHINE)]
    columns = {name: np.array([_about(40, draw) for _ in range(60)]) for name in names}
    return Samples(np.arange(60.0), columns)
