"""Situations built on this machine, and their diagnoses.

As a program it prints the tables of docs/telemetry/calibration.md, all or those named, and writes
them into the page: ``python -m tests.diagnosis.situations [situations] [bystanders]``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis
from iostudy.diagnosis.context import DiagnosisContext, collect_operating_points
from iostudy.diagnosis.diagnose import diagnose
from iostudy.settings import catalog, kinds
from iostudy.settings.change import Change
from iostudy.settings.transaction.transaction import Transaction
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import KIB, MIB
from tests.calibration.rows import Row, markdown, placed
from tests.diagnosis import bystanders
from tests.telemetry.emulated import (
    capped_group,
    favoured_group,
    filled_disk,
    io,
    record,
    spin,
    stacked_loop,
)

CORES = os.cpu_count() or 1
BYSTANDER_TRIALS = 32
"""Of each kind. A promise of 95 % needs 59 right ones; on a busy host fewer than half have high
confidence."""
PAGE = Path(__file__).parents[2] / "docs/telemetry/calibration.md"


@dataclass(frozen=True)
class BuiltSituation:
    """The summary of a situation, and its diagnosis context."""

    summary: TelemetrySummary
    context: DiagnosisContext

    @property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis of its summary."""
        return diagnose(self.summary, self.context)


def device_with_a_queue() -> BuiltSituation:
    """16 threads on a disk of 500 reads a second, which one thread can have as well."""
    with (
        filled_disk() as below,
        stacked_loop(below) as disk,
        capped_group(below, riops=500) as group,
    ):
        alone = record([disk], [io([disk], "read", group)])
        summary = record([disk], [io([disk], "read", group, threads=16)])
    return BuiltSituation(
        summary,
        DiagnosisContext(
            (disk,), concurrency=16, operating_points=collect_operating_points([alone, summary])
        ),
    )


def device_with_asynchronous_requests() -> BuiltSituation:
    """One thread with 32 requests under way on a disk of 500 reads a second."""
    with (
        filled_disk() as below,
        stacked_loop(below) as disk,
        capped_group(below, riops=500) as group,
    ):
        summary = record([disk], [io([disk], "read", group, method="io_uring", depth=32)])
    return BuiltSituation(
        summary,
        DiagnosisContext(
            (disk,), concurrency=32, operating_points=collect_operating_points([summary])
        ),
    )


def low_concurrency() -> BuiltSituation:
    """One thread on a disk that serves eight requests at once, 200 a second each."""
    with filled_disk() as below, stacked_loop(below) as disk, ExitStack() as stack:
        channels = [stack.enter_context(capped_group(below, riops=200)) for _ in range(8)]
        eight = record([disk], [io([disk], "read", channel) for channel in channels])
        summary = record([disk], [io([disk], "read", channels[0])])
    return BuiltSituation(
        summary,
        DiagnosisContext(
            (disk,), concurrency=1, operating_points=collect_operating_points([eight, summary])
        ),
    )


def rate_capped() -> BuiltSituation:
    """8 threads in a control group with 500 reads a second on a disk that can do more."""
    with filled_disk() as disk, capped_group(disk, riops=500) as group:
        summary = record([disk], [io([disk], "read", group, threads=8)])
    return BuiltSituation(
        summary,
        DiagnosisContext(
            (disk,), concurrency=8, operating_points=collect_operating_points([summary])
        ),
    )


def capped_lower_disk() -> BuiltSituation:
    """The same below the target: on the disk that holds it."""
    with (
        filled_disk() as below,
        stacked_loop(below) as disk,
        capped_group(below, riops=500) as group,
    ):
        summary = record([disk, below], [io([disk], "read", group, threads=16)])
    return BuiltSituation(
        summary,
        DiagnosisContext(
            (disk,), concurrency=16, operating_points=collect_operating_points([summary])
        ),
    )


def one_slow_member() -> BuiltSituation:
    """16 threads that take turns on two disks, one of which has only 400 reads a second."""
    summary, disks = _record_slow_disk()
    return BuiltSituation(summary, DiagnosisContext(members={"volume": disks}, concurrency=16))


def one_slow_disk() -> BuiltSituation:
    """The same of disks that have no volume in common, as those of a data node."""
    summary, disks = _record_slow_disk()
    return BuiltSituation(summary, DiagnosisContext(disks, concurrency=16))


def _record_slow_disk() -> tuple[TelemetrySummary, tuple[str, ...]]:
    with ExitStack() as stack:
        below = [stack.enter_context(filled_disk()) for _ in range(2)]
        disks = tuple(stack.enter_context(stacked_loop(each)) for each in below)
        group = stack.enter_context(capped_group(below[0], riops=400))
        return record(disks, [io(disks, "read", group, threads=16)]), disks


def writeback() -> BuiltSituation:
    """Four threads that write through the page cache, of which 8 MiB may be dirty."""
    # With less the figure drowns in what each processor has counted and not reported yet (vmstat's
    # threshold, up to 125 pages); with more the device is saturated.
    with filled_disk() as disk, favoured_group() as group, Transaction() as transaction:
        transaction.apply(*_sysctl("vm.dirty_bytes", "8MiB"))
        writes = {"direct": False, "order": "sequential"}
        summary = record([disk], [io([disk], "write", group, threads=4, **writes)])
    return BuiltSituation(summary, DiagnosisContext((disk,), concurrency=4))


def _sysctl(key: str, value: str) -> Sequence[Change]:
    (setting,) = kinds.bind(f"sysctl.{key}", ".")
    return kinds.prepare_changes({setting: catalog.get(f"sysctl.{key}").parse(value)})


def one_core() -> BuiltSituation:
    """One program that computes."""
    with filled_disk() as disk, favoured_group() as group:
        summary = record([disk], [spin(group)])
    return BuiltSituation(summary, DiagnosisContext((disk,), concurrency=1))


def all_cores() -> BuiltSituation:
    """A program that computes on every core."""
    with filled_disk() as disk, favoured_group() as group:
        summary = record([disk], [spin(group)] * CORES)
    return BuiltSituation(summary, DiagnosisContext((disk,), concurrency=CORES))


def quota() -> BuiltSituation:
    """A program that computes in a control group with a third of a core."""
    with filled_disk() as disk, favoured_group(cores=0.33) as group:
        summary = record([disk], [spin(group)])
    return BuiltSituation(summary, DiagnosisContext((disk,), concurrency=1))


def reclaim() -> BuiltSituation:
    """Four threads that write through the page cache in a control group with 60 MiB of memory."""
    with filled_disk() as disk, favoured_group(memory_bytes=60 * MIB) as group:
        writes = {"direct": False, "order": "sequential", "record_bytes": 64 * KIB}
        summary = record([disk], [io([disk], "write", group, threads=4, **writes)])
    return BuiltSituation(summary, DiagnosisContext((disk,), concurrency=4))


def foreign_io() -> BuiltSituation:
    """Two threads that read from a disk, while another program writes to it with 16."""
    with (
        filled_disk() as below,
        stacked_loop(below) as disk,
        capped_group(below, riops=200, wiops=800) as group,
    ):
        own, other = io([disk], "read", group, threads=2), io([disk], "write", group, threads=16)
        summary = record([disk], [own], others=[other])
    return BuiltSituation(summary, DiagnosisContext((disk,), concurrency=2))


def foreign_cpu() -> BuiltSituation:
    """A program that computes, while others with priority compute on all cores."""
    with filled_disk() as disk, favoured_group() as group:
        summary = record([disk], [spin()], others=[spin(group)] * 2 * CORES)
    return BuiltSituation(summary, DiagnosisContext((disk,), concurrency=1))


def thinking_thread() -> BuiltSituation:
    """One thread that reads, and thinks for 20 ms after each."""
    with filled_disk() as disk:
        summary = record([disk], [io([disk], "read", think_seconds=0.02)])
    return BuiltSituation(summary, DiagnosisContext((disk,), concurrency=1))


SITUATIONS: dict[Callable[[], BuiltSituation], Bottleneck] = {
    device_with_a_queue: Bottleneck.DEVICE,
    device_with_asynchronous_requests: Bottleneck.DEVICE,
    low_concurrency: Bottleneck.CONCURRENCY,
    rate_capped: Bottleneck.CAP,
    capped_lower_disk: Bottleneck.CAP,
    one_slow_member: Bottleneck.MEMBER,
    one_slow_disk: Bottleneck.MEMBER,
    writeback: Bottleneck.WRITEBACK,
    one_core: Bottleneck.CORE,
    all_cores: Bottleneck.CPU,
    quota: Bottleneck.QUOTA,
    reclaim: Bottleneck.RECLAIM,
    foreign_io: Bottleneck.FOREIGN,
    foreign_cpu: Bottleneck.FOREIGN,
    thinking_thread: Bottleneck.UNCLEAR,
}


def build_table() -> list[Row]:
    """The diagnosis of each situation, the column heads first."""
    rows: list[Row] = [("situation", "limit", "diagnosis")]
    for build, expected in SITUATIONS.items():
        diagnosis = build().diagnosis
        right = f"{diagnosis.limit}" + f", not {expected}" * (diagnosis.limit is not expected)
        rows.append(
            (
                str(build.__doc__),
                right,
                "; ".join((diagnosis.sentence, *diagnosis.further_sentences)),
            )
        )
    return rows


def build_bystanders() -> list[Row]:
    """Trials of a study beside innocent bystanders, so many of each."""
    return bystanders.build_table(list(bystanders.judge_trials(BYSTANDER_TRIALS)))


TABLES: Mapping[str, Callable[[], list[Row]]] = {
    "situations": build_table,
    "bystanders": build_bystanders,
}

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.environ["IOSTUDY_STATE_DIR"] = os.environ["IOSTUDY_LOCK_DIR"] = folder
        for name in sys.argv[1:] or TABLES:
            table = markdown(TABLES[name]())
            PAGE.write_text(placed(PAGE.read_text(), name, table))
            print(table)  # noqa: T201 - its purpose
