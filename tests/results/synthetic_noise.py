"""Studies whose noise has one known cause, as telemetry would show it; synthetic.

Every other figure has its own noise, and some are consequences or companions of the cause: a
program that computes attracts steal, one that writes pauses writers, throttling lowers the
frequency, steal stalls the device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from iostudy.ledger.rows import TrialRow
from iostudy.results.noise_causes import NoiseCause, decompose_noise
from iostudy.telemetry.covariates import FOREIGN_FIGURE
from iostudy.telemetry.summary import ForeignProcess
from tests.report.factory import STARTED_AT, factor, row, study

LABELS = ("none", "bfq")
STUDY = study(factor("block.scheduler", *LABELS), workloads=("file-writes",))
(WORKLOAD,) = STUDY.workloads
BLOCKS = 12
OWN_NOISE = 0.03
SECONDS = 30.0
FLOOR_KB = 20_000.0

Figures = dict[str, float]
Generator = np.random.Generator


def quiet(draw: Generator) -> tuple[Figures, Figures]:
    """The figures of machine and device in a trial without a cause."""
    machine = {
        "%steal": draw.exponential(0.3),
        "MHz": draw.normal(3000, 10),
        "throttles": 0.0,
        "%throttled": 0.0,
        "cache_growth_kB/s": 4e5,
        "cache_growth_ms/MiB": draw.normal(0.3, 0.02),
        "foreign_%cpu": draw.exponential(3),
        FOREIGN_FIGURE: draw.exponential(0.5),
    }
    return machine, {"%stalled": draw.exponential(0.2)}


def steal(draw: Generator, machine: Figures, device: Figures) -> float:
    """The hypervisor takes some; at times the device looks stalled for it."""
    machine["%steal"] = draw.exponential(8)
    device["%stalled"] += 0.2 * machine["%steal"] * draw.random()
    return -1.3 * machine["%steal"] / 100


def frequency(draw: Generator, machine: Figures, device: Figures) -> float:
    """Turbo or not."""
    machine["MHz"] = draw.uniform(2200, 3600)
    return 0.7 * float(np.log(machine["MHz"] / 3000))


def throttling(draw: Generator, machine: Figures, device: Figures) -> float:
    """Events in half of the trials, which lower the frequency."""
    machine["throttles"] = float(draw.poisson(20)) if draw.random() < 0.5 else 0.0
    machine["MHz"] -= 40 * machine["throttles"]
    return 0.7 * float(np.log(machine["MHz"] / 3000))


def token_bucket(draw: Generator, machine: Figures, device: Figures) -> float:
    """A burst four times as fast for a part of each trial."""
    share = float(np.clip(draw.uniform(-0.2, 1.2), 0, 1))
    rate = FLOOR_KB * (share + 4 * (1 - share))
    if 0.1 < share < 0.9:
        device |= {"%floor": 100 * share, "floor_kB/s": FLOOR_KB * draw.normal(1, 0.01)}
    device |= {"rkB/s": 0.0, "wkB/s": rate}
    return float(np.log(rate / FLOOR_KB))


def writeback(draw: Generator, machine: Figures, device: Figures) -> float:
    """Writers are paused for a part of the trial."""
    machine["%throttled"] = draw.uniform(0, 60)
    return -0.5 * machine["%throttled"] / 100


def first_touch(draw: Generator, machine: Figures, device: Figures) -> float:
    """Half of the trials get memory that the host has taken back."""
    if draw.random() < 0.5:
        machine["cache_growth_ms/MiB"] = draw.uniform(1, 3)
    return -float(np.log1p(machine["cache_growth_ms/MiB"]))


def device_stalls(draw: Generator, machine: Figures, device: Figures) -> float:
    """The device does nothing for a part of half of the trials."""
    device["%stalled"] = draw.uniform(5, 40) if draw.random() < 0.5 else 0.0
    return float(np.log(1 - device["%stalled"] / 100))


def foreign_cpu(draw: Generator, machine: Figures, device: Figures) -> float:
    """A program that computes, for which the host also takes more."""
    machine["foreign_%cpu"] = 150.0 if draw.random() < 0.4 else draw.exponential(3)
    machine["%steal"] += 0.02 * machine["foreign_%cpu"] * draw.random()
    return -0.2 * machine["foreign_%cpu"] / 100


def foreign_io(draw: Generator, machine: Figures, device: Figures) -> float:
    """A program that writes, for which writers are paused at times, and which computes a bit."""
    machine[FOREIGN_FIGURE] = draw.uniform(50, 150) if draw.random() < 0.4 else 0.0
    machine["%throttled"] = 0.1 * machine[FOREIGN_FIGURE] * draw.random()
    machine["foreign_%cpu"] += 0.05 * machine[FOREIGN_FIGURE] * draw.random()
    return -0.3 * machine[FOREIGN_FIGURE] / 100


def nothing(draw: Generator, machine: Figures, device: Figures) -> float:
    """No cause that telemetry shows."""
    return float(draw.normal(0, 0.1))


Situation = Callable[[Generator, Figures, Figures], float]
SITUATIONS: dict[Situation, NoiseCause | None] = {
    steal: NoiseCause.STEAL,
    frequency: NoiseCause.FREQUENCY,
    throttling: NoiseCause.THROTTLING,
    token_bucket: NoiseCause.TOKEN_BUCKET,
    writeback: NoiseCause.WRITEBACK,
    first_touch: NoiseCause.FIRST_TOUCH,
    device_stalls: NoiseCause.DEVICE_STALLS,
    foreign_cpu: NoiseCause.FOREIGN_CPU,
    foreign_io: NoiseCause.FOREIGN_IO,
    nothing: None,
}


def build_rows(situation: Situation, seed: int, blocks: int = BLOCKS) -> list[TrialRow]:
    """The trials of a study, two configurations a block in random order."""
    draw, rows = np.random.default_rng(seed), list[TrialRow]()
    for block in range(1, blocks + 1):
        hour = draw.normal(0, 0.2)
        for position, label in enumerate(draw.permutation(LABELS), start=1):
            machine, device = quiet(draw)
            effect = situation(draw, machine, device) + hour + draw.normal(0, OWN_NOISE)
            rows.append(_row(len(rows) + 1, block, position, str(label), effect, machine, device))
    return rows


def _row(
    number: int,
    block: int,
    position: int,
    label: str,
    effect: float,
    machine: Figures,
    device: Figures,
) -> TrialRow:
    value = 400 * float(np.exp(effect))
    own = row(number, block, position, WORKLOAD.label, label, value)
    assert own.summary is not None
    foreign = (ForeignProcess(7, "backup", machine["foreign_%cpu"] * SECONDS / 100, 0.0, 1024.0),)
    devices = {**own.summary.devices, "loop0": {**own.summary.devices["loop0"], **device}}
    summary = replace(
        own.summary, seconds=SECONDS, machine=machine, devices=devices, foreign=foreign
    )
    return replace(own, summary=summary, started_at=STARTED_AT + 40 * number)


def find_causes(situation: Situation, seed: int, blocks: int = BLOCKS) -> dict[NoiseCause, float]:
    """The named causes of one study with their shares, the largest first."""
    found = decompose_noise(STUDY, WORKLOAD, build_rows(situation, seed, blocks))
    assert found is not None
    return {own.indicator.cause: own.share.share for own in found.contributions}
