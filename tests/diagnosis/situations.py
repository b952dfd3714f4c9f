"""Situations built for real on this machine, and what is told of them.

As a program it prints the table of docs/telemetry.md, and writes it into the page:
``python -m tests.telemetry.situations``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis
from iostudy.diagnosis.context import DiagnosisContext, shown
from iostudy.diagnosis.diagnose import diagnose
from iostudy.settings import catalog, kinds
from iostudy.settings.change import Change
from iostudy.settings.transaction.transaction import Transaction
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import KIB, MIB
from tests.calibration.rows import Row, markdown
from tests.calibration.table import placed
from tests.telemetry.emulated import capped, favoured, filled_disk, io, recorded, spin, upon

CORES = os.cpu_count() or 1
PAGE = Path(__file__).parents[2] / "docs/telemetry.md"


@dataclass(frozen=True)
class Built:
    """What was seen of a situation, and what is known beside that."""

    seen: TelemetrySummary
    ground: DiagnosisContext

    @property
    def diagnosis(self) -> Diagnosis:
        """What is told of it."""
        return diagnose(self.seen, self.ground)


def device_with_a_queue() -> Built:
    """16 threads on a disk of 500 reads a second, which one thread can have as well."""
    with filled_disk() as below, upon(below) as disk, capped(below, riops=500) as group:
        alone = recorded([disk], [io([disk], "read", group)])
        seen = recorded([disk], [io([disk], "read", group, threads=16)])
    return Built(seen, DiagnosisContext((disk,), concurrency=16, shown=shown([alone, seen])))


def device_with_asynchronous_requests() -> Built:
    """One thread with 32 requests under way on a disk of 500 reads a second."""
    with filled_disk() as below, upon(below) as disk, capped(below, riops=500) as group:
        seen = recorded([disk], [io([disk], "read", group, method="io_uring", depth=32)])
    return Built(seen, DiagnosisContext((disk,), concurrency=32, shown=shown([seen])))


def too_little_concurrency() -> Built:
    """One thread on a disk that serves eight requests at once, 200 a second each."""
    with filled_disk() as below, upon(below) as disk, ExitStack() as stack:
        channels = [stack.enter_context(capped(below, riops=200)) for _ in range(8)]
        eight = recorded([disk], [io([disk], "read", channel) for channel in channels])
        seen = recorded([disk], [io([disk], "read", channels[0])])
    return Built(seen, DiagnosisContext((disk,), concurrency=1, shown=shown([eight, seen])))


def rate_capped() -> Built:
    """8 threads in a control group with 500 reads a second on a disk that can do more."""
    with filled_disk() as disk, capped(disk, riops=500) as group:
        seen = recorded([disk], [io([disk], "read", group, threads=8)])
    return Built(seen, DiagnosisContext((disk,), concurrency=8, shown=shown([seen])))


def capped_below() -> Built:
    """The same below the target: on the disk that holds it."""
    with filled_disk() as below, upon(below) as disk, capped(below, riops=500) as group:
        seen = recorded([disk, below], [io([disk], "read", group, threads=16)])
    return Built(seen, DiagnosisContext((disk,), concurrency=16, shown=shown([seen])))


def one_slow_member() -> Built:
    """16 threads that take turns on two disks, one of which has only 400 reads a second."""
    seen, disks = _with_a_slow_one()
    return Built(seen, DiagnosisContext(members={"volume": disks}, concurrency=16))


def one_slow_disk() -> Built:
    """The same of disks that have no volume in common, as those of a data node."""
    seen, disks = _with_a_slow_one()
    return Built(seen, DiagnosisContext(disks, concurrency=16))


def _with_a_slow_one() -> tuple[TelemetrySummary, tuple[str, ...]]:
    with ExitStack() as stack:
        below = [stack.enter_context(filled_disk()) for _ in range(2)]
        disks = tuple(stack.enter_context(upon(each)) for each in below)
        group = stack.enter_context(capped(below[0], riops=400))
        return recorded(disks, [io(disks, "read", group, threads=16)]), disks


def writeback() -> Built:
    """Four threads that write through the page cache, of which 8 MiB may be dirty."""
    # With less the figure drowns in what each processor has counted and not told yet (vmstat's
    # threshold, up to 125 pages); with more the device is saturated.
    with filled_disk() as disk, favoured() as group, Transaction() as transaction:
        transaction.perform(*_sysctl("vm.dirty_bytes", "8MiB"))
        writes = {"direct": False, "order": "sequential"}
        seen = recorded([disk], [io([disk], "write", group, threads=4, **writes)])
    return Built(seen, DiagnosisContext((disk,), concurrency=4))


def _sysctl(key: str, value: str) -> Sequence[Change]:
    (setting,) = kinds.bind(f"sysctl.{key}", ".")
    return kinds.changes({setting: catalog.get(f"sysctl.{key}").parse(value)})


def one_core() -> Built:
    """One program that computes."""
    with filled_disk() as disk, favoured() as group:
        seen = recorded([disk], [spin(group)])
    return Built(seen, DiagnosisContext((disk,), concurrency=1))


def all_cores() -> Built:
    """A program that computes on every core."""
    with filled_disk() as disk, favoured() as group:
        seen = recorded([disk], [spin(group)] * CORES)
    return Built(seen, DiagnosisContext((disk,), concurrency=CORES))


def quota() -> Built:
    """A program that computes in a control group with a third of a core."""
    with filled_disk() as disk, favoured(cores=0.33) as group:
        seen = recorded([disk], [spin(group)])
    return Built(seen, DiagnosisContext((disk,), concurrency=1))


def reclaim() -> Built:
    """Four threads that write through the page cache in a control group with 60 MiB of memory."""
    with filled_disk() as disk, favoured(memory_bytes=60 * MIB) as group:
        writes = {"direct": False, "order": "sequential", "record_bytes": 64 * KIB}
        seen = recorded([disk], [io([disk], "write", group, threads=4, **writes)])
    return Built(seen, DiagnosisContext((disk,), concurrency=4))


def foreign_io() -> Built:
    """Two threads that read from a disk, beside another program with 16 that write to it."""
    with filled_disk() as below, upon(below) as disk, capped(below, riops=200, wiops=800) as group:
        own, other = io([disk], "read", group, threads=2), io([disk], "write", group, threads=16)
        seen = recorded([disk], [own], beside=[other])
    return Built(seen, DiagnosisContext((disk,), concurrency=2))


def foreign_cpu() -> Built:
    """A program that computes, beside others that are favoured and do so on all cores."""
    with filled_disk() as disk, favoured() as group:
        seen = recorded([disk], [spin()], beside=[spin(group)] * 2 * CORES)
    return Built(seen, DiagnosisContext((disk,), concurrency=1))


def asks_for_little() -> Built:
    """One thread that reads, and thinks for 20 ms after each."""
    with filled_disk() as disk:
        seen = recorded([disk], [io([disk], "read", think_seconds=0.02)])
    return Built(seen, DiagnosisContext((disk,), concurrency=1))


SITUATIONS: dict[Callable[[], Built], Bottleneck] = {
    device_with_a_queue: Bottleneck.DEVICE,
    device_with_asynchronous_requests: Bottleneck.DEVICE,
    too_little_concurrency: Bottleneck.CONCURRENCY,
    rate_capped: Bottleneck.CAP,
    capped_below: Bottleneck.CAP,
    one_slow_member: Bottleneck.MEMBER,
    one_slow_disk: Bottleneck.MEMBER,
    writeback: Bottleneck.WRITEBACK,
    one_core: Bottleneck.CORE,
    all_cores: Bottleneck.CPU,
    quota: Bottleneck.QUOTA,
    reclaim: Bottleneck.RECLAIM,
    foreign_io: Bottleneck.FOREIGN,
    foreign_cpu: Bottleneck.FOREIGN,
    asks_for_little: Bottleneck.UNCLEAR,
}


def told() -> list[Row]:
    """What is told of each, the heads first."""
    rows: list[Row] = [("situation", "told as", "in words")]
    for build, expected in SITUATIONS.items():
        diagnosis = build().diagnosis
        right = f"{diagnosis.limit}" + f", not {expected}" * (diagnosis.limit is not expected)
        rows.append((str(build.__doc__), right, "; ".join((diagnosis.sentence, *diagnosis.also))))
    return rows


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.environ["IOSTUDY_STATE_DIR"] = os.environ["IOSTUDY_LOCK_DIR"] = folder
        table = markdown(told())
    PAGE.write_text(placed(PAGE.read_text(), "situations", table))
    print(table)  # noqa: T201 - its purpose
