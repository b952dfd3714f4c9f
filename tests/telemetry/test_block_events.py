"""Block requests from the tracepoints, compared with the kernel's counters."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from iostudy.errors import TrialError
from iostudy.host.devices import read_device
from iostudy.settings.trace_instance import TraceInstance
from iostudy.settings.transaction.transaction import Transaction
from iostudy.telemetry.block_events import BlockEvents, find_foreign_submitters
from iostudy.telemetry.iostat import SECTOR_BYTES
from iostudy.telemetry.summary import BlockRequests
from iostudy.workloads.native.latency import compact_histogram
from tests.fixtures_loop import MIB, loop_disk

NAMES = (
    *("reads", "reads_merged", "sectors_read", "read_ms"),
    *("writes", "writes_merged", "sectors_written", "write_ms"),
    *("in_flight", "io_ms", "weighted_io_ms"),
    *("discards", "discards_merged", "sectors_discarded", "discard_ms"),
    *("flushes", "flush_ms"),
)
pytestmark = [pytest.mark.root, pytest.mark.usefixtures("tracing", "state_dir")]


def counters(name: str) -> dict[str, int]:
    if shutil.which("udevadm"):
        subprocess.run(["udevadm", "settle"], check=False)  # it looks at what was written
    values = map(int, (Path("/sys/block") / name / "stat").read_text().split())
    return dict(zip(NAMES, values, strict=False))


@dataclass
class RequestPair:
    """Requests by tracepoints and by counters, over the same time."""

    requests: BlockRequests | None = None
    submitted: Sequence[tuple[str, int, int]] = ()
    moved: dict[str, int] | None = None


@contextmanager
def recorded(name: str, buffer_kib: int | None = None) -> Iterator[RequestPair]:
    device = read_device(name)
    both = RequestPair()
    with Transaction() as transaction:
        change = TraceInstance.prepare([device])
        with transaction.apply_temporarily(change):
            if buffer_kib is not None:
                (change.path / "buffer_size_kb").write_text(str(buffer_kib))
            events = BlockEvents(change.path, {device.number: name}, compact_histogram)
            before = counters(name)
            events.start()
            yield both
            after = counters(name)
            both.requests, both.submitted = events.stop()
    both.moved = {key: after[key] - before[key] for key in after}


def dd(*arguments: str) -> None:
    subprocess.run(["dd", "status=none", *arguments], check=True)


def write(name: str) -> None:
    dd("if=/dev/zero", f"of=/dev/{name}", "bs=64k", "count=100", "oflag=direct", "conv=fsync")


def read(name: str, count: int) -> None:
    dd(f"if=/dev/{name}", "of=/dev/null", "bs=4k", f"count={count}", "iflag=direct")


WRITER = """
import os, sys
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_SYNC)
while True:
    os.pwrite(file, bytes(4096), 0)
"""


@contextmanager
def made_filesystem(kind: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """A file system of that kind on a loop device, and where it is mounted."""
    with loop_disk(512 * MIB) as loop:
        subprocess.run([f"mkfs.{kind}", f"/dev/{loop}"], check=True, capture_output=True)
        subprocess.run(["mount", f"/dev/{loop}", folder], check=True)
        try:
            yield loop, folder
        finally:
            subprocess.run(["umount", folder], check=True)


def test_counts_sizes_and_times_are_those_of_the_kernels_counters(loop):
    write(loop)
    with recorded(loop) as both:
        write(loop)
        read(loop, 1000)
        subprocess.run(["blkdiscard", "--length", "1MiB", f"/dev/{loop}"], check=True)
    moved, loop_requests = both.moved, both.requests.devices[loop]
    assert both.requests.lost == both.requests.unmatched == 0
    assert both.requests.notes() == ()
    assert loop_requests["flush"].count == moved["flushes"] > 0
    # A flush that is requested alone counts as a write there, too.
    assert loop_requests["write"].count == moved["writes"] - moved["flushes"]
    for operation, reads, sectors in (
        ("read", "reads", "sectors_read"),
        ("discard", "discards", "sectors_discarded"),
    ):
        assert loop_requests[operation].count == moved[reads]
        assert loop_requests[operation].moved_bytes == moved[sectors] * SECTOR_BYTES
    assert loop_requests["write"].moved_bytes == moved["sectors_written"] * SECTOR_BYTES
    assert dict(loop_requests["read"].sizes)[4096] >= 1000
    assert dict(loop_requests["write"].sizes)[65536] == 100


def test_the_mean_is_await_without_the_time_before_the_driver_had_it(loop):
    write(loop)
    with recorded(loop) as both:
        read(loop, 1600)
    own = both.requests.devices[loop]["read"]
    total_ms = own.mean_us * own.count / 1000
    assert 0.5 * both.moved["read_ms"] < total_ms < both.moved["read_ms"] + 2
    assert sum(count for _, count in own.latencies_us) == own.count
    assert own.latencies_us[0][0] <= own.mean_us <= own.max_us <= own.latencies_us[-1][0] * 1.001


def test_overwritten_events_are_counted_and_reported(loop):
    write(loop)
    with recorded(loop, buffer_kib=8) as both:
        read(loop, 4000)
    requests, reads = both.requests, both.moved["reads"]
    assert requests.lost > 0
    assert requests.events + requests.lost == 3 * reads
    reads_traced = requests.devices[loop]["read"].count
    assert reads_traced < reads
    bios = sum(size for _, _, size in both.submitted) // 4096
    assert requests.unmatched == requests.events - bios - 2 * reads_traced
    assert f"{requests.lost} of {3 * reads} events" in requests.notes()[0]


KERNEL_THREADS = ("kworker", "jbd2", "xfs", "btrfs", "loop", "ksoftirqd")


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_a_writer_is_named_and_the_file_system_is_not(kind, tmp_path):
    """Durable writes of this process, and a second writer that is no child of the workload's."""
    with made_filesystem(kind, tmp_path) as (loop, folder):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, folder / "second"])
        workload = subprocess.Popen([sys.executable, "-c", WRITER, folder / "first"])
        try:
            with recorded(loop) as both:
                time.sleep(1)
            found = find_foreign_submitters(both.submitted, {workload.pid})
        finally:
            for process in (writer, workload):
                process.kill()
                process.wait()
    # A sync(2) of another program writes here too, in its name. Threads of the kernel have none.
    names = {each.pid: each.name for each in found}
    assert writer.pid in names
    assert workload.pid not in names
    assert not [name for name in names.values() if name.startswith(KERNEL_THREADS)]
    assert {each.device for each in found} == {loop}
    assert sum(each.kB for each in found) > 100


def test_a_recording_begins_with_nothing_of_the_one_before(loop):
    device = read_device(loop)
    with Transaction() as transaction:
        change = TraceInstance.prepare([device])
        with transaction.apply_temporarily(change):
            for count in (50, 20):
                events = BlockEvents(change.path, {device.number: loop}, compact_histogram)
                events.start()
                read(loop, count)
                assert events.stop()[0].devices[loop]["read"].count == count
                read(loop, 30)  # between two trials


def test_a_device_without_requests_is_reported(loop):
    with recorded(loop) as both:
        pass
    assert both.requests.devices == {}
    assert both.requests.notes() == ("no request was recorded on any device below the target",)


def test_an_instance_that_is_not_there_is_an_error_with_its_place(tmp_path):
    with pytest.raises(TrialError) as caught:
        BlockEvents(tmp_path, {}, compact_histogram).start()
    assert str(tmp_path / "events/header_page") in caught.value.found
