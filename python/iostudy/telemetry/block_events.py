"""Recorder of block requests from the kernel's tracepoints, and who submitted them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from iostudy import _native
from iostudy.errors import TrialError
from iostudy.host.files import read_text
from iostudy.host.mounts import Mount, parse_mount_id, read_mounts
from iostudy.telemetry.recorder import Recorder, Telemetry
from iostudy.telemetry.summary import BlockRequests, Requests, Submitter
from iostudy.units import KIB

Compact = Callable[[_native.Latencies], tuple[tuple[float, int], ...]]


class BlockEvents:
    """Reader of a trace instance that is set up for block requests.

    ``names`` are the kernel names of devices by number (``8:16``), of partitions those of their
    disks; ``compact`` reduces histograms for the ledger.
    """

    def __init__(self, instance: Path, names: Mapping[str, str], compact: Compact) -> None:
        self._instance = instance
        self._names = names
        self._compact = compact
        self._native = _native.BlockEvents(instance)

    def start(self) -> None:
        """Start recording; TrialError if the kernel refuses."""
        try:
            self._native.start()
        except OSError as error:
            raise self._failed(error) from error

    def stop(self) -> tuple[BlockRequests, list[tuple[str, int, int]]]:
        """Stop recording; return the requests, and device, thread and bytes of all bios.

        TrialError if they cannot be read.
        """
        try:
            native = self._native.stop()
        except OSError as error:
            raise self._failed(error) from error
        submitted = native.submitted_bytes()
        by_name = [(self._names[number], thread, size) for number, thread, size in submitted]
        return self._convert(native), by_name

    def _convert(self, native: _native.BlockRequests) -> BlockRequests:
        devices: dict[str, dict[str, Requests]] = {}
        for number, operation, latencies, sizes in native.operations():
            devices.setdefault(self._names[number], {})[operation] = Requests(
                count=latencies.count,
                mean_us=latencies.mean_us,
                max_us=latencies.max_us,
                latencies_us=self._compact(latencies),
                sizes=tuple(sizes),
            )
        return BlockRequests(
            devices=devices,
            events=native.events,
            lost=native.lost_events,
            unmatched=native.unmatched_issues + native.unmatched_completions,
            reader_cpu_seconds=native.reader_cpu_seconds,
        )

    def _failed(self, error: OSError) -> TrialError:
        return TrialError(
            "to record the requests of block devices",
            found=error.strerror or str(error),
            where=str(self._instance),
            remedy="see dmesg, or measure without the latencies of the block layer",
        )


@dataclass(frozen=True)
class CombinedRecorder:
    """A recorder that adds block requests to another recorder's telemetry.

    ``workload`` are the processes whose descendants are the workload.
    """

    recorder: Recorder
    events: BlockEvents
    workload: Sequence[int] = ()

    def start(self) -> None:
        self.recorder.start()
        self.events.start()

    def stop(self) -> Telemetry:
        """Stop both: the requests first, because the other summary may cause I/O."""
        try:
            requests, submitted = self.events.stop()
        finally:
            telemetry = self.recorder.stop()
        # A daemon of the workload is no descendant of it any more, but known to the sampler.
        pids = (process.pid for process in telemetry.samples.processes if process.of_workload)
        submitters = find_foreign_submitters(
            submitted, {*self.workload, *pids}, telemetry.summary.private_devices
        )
        summary = replace(telemetry.summary, requests=requests, submitters=submitters)
        return replace(telemetry, summary=summary)


_KTHREADD = 2
"""The parent of all kernel threads."""
_STATUS = re.compile(r"^(Name|Tgid|PPid):\t(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    name: str


def find_foreign_submitters(
    submitted: Iterable[tuple[str, int, int]],
    workload: Collection[int],
    private_devices: Collection[str] = (),
    proc: Path = Path("/proc"),
    mounts: Callable[[], Iterable[Mount]] = read_mounts,
) -> tuple[Submitter, ...]:
    """Attribute (device, thread, bytes) to running processes outside the workload.

    ``workload`` are processes whose descendants are the workload, and others of it. A thread that
    has ended may have been the workload's, and kernel threads work for whoever uses the device:
    both are left out. A process that calls sync(2) submits what others have written. On the
    ``private_devices``, which the study made, it therefore also needs an open file.
    """
    sizes = Counter[tuple[str, int, str]]()
    for device, thread, size in submitted:
        process = _read_process(proc, thread)
        if process is not None and _is_foreign(process, workload, proc):
            sizes[device, process.pid, process.name] += size
    if private := {device for device, _, _ in sizes}.intersection(private_devices):
        nodes = {Path("/dev", name) for name in private_devices}
        ids = {mount.id for mount in mounts() if mount.named_device in nodes}
        users = {pid for _, pid, _ in sizes if _has_open_file(proc / str(pid), ids, nodes)}
        sizes = Counter(
            {key: size for key, size in sizes.items() if key[0] not in private or key[1] in users}
        )
    return tuple(
        Submitter(device, name, pid, size / KIB) for (device, pid, name), size in sizes.items()
    )


def _has_open_file(process: Path, mounts: Collection[int], nodes: Collection[Path]) -> bool:
    """Return whether it has a file open on one of the mounts, or one of the devices itself."""
    with suppress(FileNotFoundError, ProcessLookupError):  # it ends meanwhile
        for descriptor in (process / "fd").iterdir():
            with suppress(FileNotFoundError):  # it is closed meanwhile
                info = (process / "fdinfo" / descriptor.name).read_text("ascii")
                if parse_mount_id(info) in mounts or descriptor.readlink() in nodes:
                    return True
    return False


def _is_foreign(process: _Process, workload: Collection[int], proc: Path) -> bool:
    ancestor: _Process | None = process
    while ancestor is not None:
        if ancestor.pid == _KTHREADD or ancestor.pid in workload:
            return False
        ancestor = _read_process(proc, ancestor.parent) if ancestor.parent else None
    return True


def _read_process(proc: Path, thread: int) -> _Process | None:
    """Return the process of a thread, None if it has ended. A process may have any name."""
    if (text := read_text(proc / str(thread) / "status")) is None:
        return None
    status = dict(_STATUS.findall(text))
    pid = int(status["Tgid"])
    return (
        _read_process(proc, pid)
        if pid != thread
        else _Process(pid, int(status["PPid"]), status["Name"])
    )
