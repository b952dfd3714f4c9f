"""Studies whose noise has one known cause, built on this machine, and the causes found.

As a program it prints the table of docs/telemetry/calibration.md and writes it into the page, with
so many repetitions of each: ``python -m tests.diagnosis.noise_situations 3``.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.node.caches import touch_free_memory
from iostudy.results.noise_causes import NoiseCause, decompose_noise
from iostudy.study.model import Study
from iostudy.telemetry.covariates import FOREIGN_FIGURE
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import GIB, KIB, MIB
from tests.calibration.rows import Row, markdown, placed
from tests.report.factory import factor, study
from tests.telemetry.emulated import (
    Groups,
    Program,
    capped_group,
    favoured_group,
    filled_disk,
    io,
    on_core,
    set_read_cap,
    spin,
    stacked_loop,
)

PAGE = Path(__file__).parents[2] / "docs/telemetry/calibration.md"
BLOCKS = 12
LABELS = ("none", "bfq")
SECONDS = 1.0
LONG_SECONDS = 2.5
"""Long enough for the shape of the disk's rate."""
STUDY: Study = study(factor("block.scheduler", *LABELS), workloads=("file-reads",))
(WORKLOAD,) = STUDY.workloads
UNLIMITED, FLOOR, STOPPED = 1_000_000, 100, 1
"""Limits in reads a second."""
FEW = {"threads": 4, "think_seconds": 0.01}
"""A load so low that the disk serves it also on a busy machine."""


def build_row(number: int, summary: TelemetrySummary, rate: float, disk: str) -> TrialRow:
    """A trial of an A/A study, two labels a block, whose figure is ``rate``."""
    seconds, own = summary.seconds, summary.workload
    moved = (own["read_kB"] + own["written_kB"]) * KIB
    on_disk = summary.devices.get(disk, {"kB_read": 0.0, "kB_wrtn": 0.0})
    foreign = (on_disk["kB_read"] + on_disk["kB_wrtn"]) * KIB - moved
    share = 100 * foreign / moved if foreign > MIB and moved else 0.0
    machine = {**summary.machine, FOREIGN_FIGURE: share}
    return TrialRow(
        id=number,
        block=number // len(LABELS) + 1,
        attempt=1,
        position=number % len(LABELS) + 1,
        workload=WORKLOAD.label,
        configuration=LABELS[(number + number // len(LABELS)) % len(LABELS)],
        status=TrialStatus.FINISHED,
        started_at=time.time() - seconds,
        figures={WORKLOAD.figure.name: rate, "bytes": moved},
        devices=(disk,),
        summary=TelemetrySummary(
            seconds, summary.devices, machine, workload=own, foreign=summary.foreign
        ),
        counts=True,
    )


def record_trials(
    disk: str, program: Program, disturb: Callable[[], object], seconds: float = SECONDS
) -> list[TrialRow]:
    """The trials of a study on one running program; ``disturb`` is called as each begins."""
    rows = []
    with program.running() as pid:
        for number in range(BLOCKS * len(LABELS)):
            recorder = ProcRecorder([disk], [pid], hz=20)
            recorder.start()
            disturb()
            time.sleep(seconds)
            summary = recorder.stop().summary
            rows.append(build_row(number, summary, summary.devices[disk]["r/s"], disk))
    return rows


@contextmanager
def on_a_timer(programs: Sequence[Program], seconds: float, period: float) -> Iterator[None]:
    """The programs run for so many seconds of every period."""
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            with ExitStack() as stack:
                for program in programs:
                    stack.enter_context(program.running())
                ended.wait(seconds)
            ended.wait(period - seconds)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def spinner_on_a_timer(draw: random.Random) -> list[TrialRow]:
    """Reads of one thread, while a program computes on the same core for 3 s of every 7."""
    with filled_disk() as disk, favoured_group() as group:
        spinner, reader = spin(group), io([disk], "read", group)
        with on_a_timer([on_core(spinner, 0)], 3, 7):
            return record_trials(disk, on_core(reader, 0), lambda: None)


def periodic_writer(draw: random.Random) -> list[TrialRow]:
    """Reads of one thread, while a program writes to the disk for 3 s of every 7."""
    with filled_disk() as disk, favoured_group() as group:
        writer = io([disk], "write", threads=16, record_bytes=MIB)
        with on_a_timer([writer], 3, 7):
            return record_trials(disk, io([disk], "read", group), lambda: None)


@contextmanager
def limited_disk() -> Iterator[tuple[str, Callable[[int], None], Groups]]:
    """A disk, and what changes the reads a second that it serves to processes of the groups."""
    with (
        filled_disk() as below,
        stacked_loop(below) as disk,
        capped_group(below, riops=UNLIMITED) as group,
    ):
        yield disk, lambda reads: set_read_cap(group, below, reads), group


def token_bucket(draw: random.Random) -> list[TrialRow]:
    """A disk with a burst of random length, as the pause before it was, and then a floor."""
    with limited_disk() as (disk, limit, group):

        def disturb() -> None:
            burst = draw.uniform(-0.2, 1.2) * LONG_SECONDS
            limit(UNLIMITED if burst > 0 else FLOOR)
            if burst > 0:
                threading.Timer(burst, limit, [FLOOR]).start()

        rows = record_trials(disk, io([disk], "read", group, **FEW), disturb, LONG_SECONDS)
        time.sleep(LONG_SECONDS)  # for the last timer
        return rows


def device_stalls(draw: random.Random) -> list[TrialRow]:
    """A disk that stops for up to half of a trial, in two of three trials."""
    with limited_disk() as (disk, limit, group):

        def disturb() -> None:
            limit(UNLIMITED)
            if draw.random() < 2 / 3:
                begin, length = draw.uniform(0, 1), draw.uniform(0.3, 1.2)
                threading.Timer(begin, limit, [STOPPED]).start()
                threading.Timer(begin + length, limit, [UNLIMITED]).start()

        return record_trials(disk, io([disk], "read", group, **FEW), disturb, LONG_SECONDS)


def memory_of_the_host(draw: random.Random) -> list[TrialRow]:
    """Writes through the page cache: half of the trials to memory that the host has taken back."""
    rows = []
    with TemporaryDirectory() as folder:
        for number in range(BLOCKS * len(LABELS)):
            time.sleep(4.0)  # free pages are reported to the host after two seconds
            if draw.random() < 0.5:
                touch_free_memory(2 * GIB)
            file = Path(folder) / "data"
            rows.append(build_row(number, *write_once(file), "none"))
            file.unlink()
    return rows


def write_once(file: Path) -> tuple[TelemetrySummary, float]:
    """A GiB through the page cache in records of a MiB: the summary, and MiB/s."""
    recorder = ProcRecorder([], [os.getpid()])
    recorder.start()
    begin, record = time.monotonic(), bytes(MIB)
    with file.open("wb", buffering=0) as stream:
        for _ in range(GIB // MIB):
            stream.write(record)
    seconds = time.monotonic() - begin
    return recorder.stop().summary, GIB / MIB / seconds


SITUATIONS: dict[Callable[[random.Random], list[TrialRow]], NoiseCause] = {
    spinner_on_a_timer: NoiseCause.FOREIGN_CPU,
    periodic_writer: NoiseCause.FOREIGN_IO,
    token_bucket: NoiseCause.TOKEN_BUCKET,
    device_stalls: NoiseCause.DEVICE_STALLS,
    memory_of_the_host: NoiseCause.FIRST_TOUCH,
}


def find_causes(rows: Sequence[TrialRow]) -> dict[NoiseCause, float]:
    """The named causes with their shares, the largest first."""
    found = decompose_noise(STUDY, WORKLOAD, rows)
    assert found is not None
    return {own.indicator.cause: own.share.share for own in found.contributions}


def build_table(repetitions: int) -> list[Row]:
    """How often each cause was the first that was named, and which others were."""
    rows: list[Row] = [("noise built", "named first", "share", "also named")]
    for build, expected in SITUATIONS.items():
        first, others, shares = 0, Counter[str](), list[float]()
        for seed in range(repetitions):
            found = find_causes(build(random.Random(seed)))
            first += next(iter(found), None) is expected
            shares.append(found.get(expected, 0.0))
            others.update(found.keys() - {expected})
            print(build.__name__, seed, found, file=sys.stderr, flush=True)  # noqa: T201
        also = ", ".join(f"{cause}: {count}" for cause, count in others.most_common())
        share = f"{100 * sum(shares) / repetitions:.0f} %"
        rows.append((str(build.__doc__), f"{first} of {repetitions}", share, also))
    return rows


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.environ["IOSTUDY_STATE_DIR"] = os.environ["IOSTUDY_LOCK_DIR"] = folder
        table = markdown(build_table(int(sys.argv[1])))
    PAGE.write_text(placed(PAGE.read_text(), "noise_situations", table))
    print(table)  # noqa: T201 - its purpose
