"""A trace instance of iostudy's own: buffers in which the kernel notes what requests do.

It is apart from the buffers of everybody else who traces. While it is there every request of the
devices is noted, but only where ``tracing_on`` is set; that is done by who reads it.

Source: Documentation/trace/ftrace.rst ("Instances", "The File System"), and events.rst there.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from iostudy import own_folder
from iostudy.errors import RestoreError, SettingError, UsageError
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, write_attribute
from iostudy.settings.change import ConflictPolicy, PrivateChange, Record
from iostudy.settings.identity import boot_id

BLOCK_EVENTS = ("block_rq_issue", "block_rq_requeue", "block_rq_complete")
"""Events of a request between the block layer and a driver."""

BIO_EVENT = "block_bio_queue"
"""Submission of a bio. Unlike a request's, its thread is the one that caused the I/O."""

EVENTS_WITHOUT_DEVICE = ("block_plug", "block_unplug")
"""Events of a thread, which no filter can attribute to a device."""

DEFAULT_PATH = Path("sys/kernel/tracing")
# The kernel mounts it there by itself wherever debugfs is mounted.
_BELOW_DEBUGFS = Path("sys/kernel/debug/tracing")


def find_tracefs(root: Path = ROOT) -> Path | None:
    """Find its accessible mount point, or None."""
    places = (root / DEFAULT_PATH, root / _BELOW_DEBUGFS)
    return next((place for place in places if os.access(place / "instances", os.X_OK)), None)


def find_missing_events(folder: Path, events: Sequence[str] = BLOCK_EVENTS) -> tuple[str, ...]:
    """Return the block events that the kernel lacks."""
    block = folder / "events/block"
    return tuple(name for name in events if not (block / name / "format").exists())


PREFIX = "iostudy-trace-"

_BUFFERS_KIB = 64 * 1024
"""Of all processors together. A request takes about 140 bytes, and buffers are read 50 times a
second: so many that none is lost while the reader waits for a busy processor."""

_PATIENCE_SECONDS = 5.0
"""How long it may be busy: its reader was killed, and the kernel has yet to close its files."""


@dataclass(frozen=True)
class TracePurpose:
    """What the events are for: ``optional`` ones are left out where the kernel lacks them."""

    wanted: str
    alternative: str
    optional: tuple[str, ...] = ()


BLOCK_LATENCY = TracePurpose(
    "latencies and sizes of block requests", "; or measure without them", (BIO_EVENT,)
)


@dataclass(frozen=True)
class TraceInstance(PrivateChange):
    """An instance for devices, by their ``numbers`` (major:minor); without any, for all devices."""

    kind: ClassVar[str] = "trace-instance"

    path: Path
    numbers: tuple[str, ...]
    boot: str
    events: tuple[str, ...] = BLOCK_EVENTS

    @classmethod
    def prepare(
        cls, devices: Sequence[BlockDevice] | None, purpose: TracePurpose = BLOCK_LATENCY
    ) -> TraceInstance:
        """Create an instance with a unique name; UsageError where the kernel allows none.

        Without ``devices`` it is for all of them.
        """
        folder = usable_tracefs(purpose)
        if devices is not None and not devices:
            remedy = "name a target on a disk"
            raise _unavailable("no block device below the target", remedy, purpose)
        path = own_folder.new_path(folder / "instances", PREFIX)
        numbers = tuple(device.number for device in devices or ())
        missing = find_missing_events(folder, purpose.optional)
        optional = tuple(event for event in purpose.optional if event not in missing)
        return cls(path, numbers, boot_id(), (*BLOCK_EVENTS, *optional))

    @classmethod
    def from_record(cls, record: Record) -> TraceInstance:
        """What the journal has kept; ValueError if that is no instance of iostudy's."""
        path = own_folder.parse_recorded(record["path"], PREFIX)
        events = tuple(record.get("events", BLOCK_EVENTS))
        return cls(path, tuple(record["numbers"]), record["boot"], events)

    def record(self) -> Record:
        values = {"numbers": list(self.numbers), "events": list(self.events)}
        return {**asdict(self), "path": str(self.path), **values}

    def describe(self) -> str:
        return f"trace instance {self.path.name} of {', '.join(self.numbers) or 'all devices'}"

    def apply(self) -> None:
        """Make it, and have requests noted; SettingError where the kernel refuses."""
        path = self.path
        try:
            path.mkdir()
            for name, value in self._values():
                path = self.path / name
                write_attribute(path, value)
        except OSError as error:
            raise SettingError(
                self.describe(),
                found=error.strerror or str(error),
                where=str(path),
                remedy="see dmesg, and /sys/kernel/security/lockdown: a kernel that is locked "
                "down traces nothing",
            ) from error

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        if self.boot != boot_id():
            return ()
        if not self.path.parent.exists():
            tracefs = self.path.parent.parent
            raise self._not_removed(
                "tracefs is not mounted there", f"mount -t tracefs nodev {tracefs}"
            )
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self.path.rmdir()
            except FileNotFoundError:
                return ()
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    fault = error.strerror or str(error)
                    raise self._not_removed(fault, "see who reads in it") from error
                time.sleep(0.01)
            else:
                return (f"{self.describe()}: removed",)

    def _values(self) -> Iterator[tuple[str, str]]:
        """What to write into its files, in this order."""
        yield "tracing_on", "0"
        yield "trace_clock", "mono"
        yield "buffer_size_kb", str(_BUFFERS_KIB // (os.cpu_count() or 1))
        # As the kernel numbers devices: 12 bits of major, 20 of minor number (kdev_t.h).
        pairs = (map(int, number.split(":")) for number in self.numbers)
        chosen = " || ".join(f"dev == {major << 20 | minor}" for major, minor in pairs)
        for event in self.events:
            if chosen and event not in EVENTS_WITHOUT_DEVICE:
                yield f"events/block/{event}/filter", chosen
            yield f"events/block/{event}/enable", "1"

    def _not_removed(self, found: str, remedy: str) -> RestoreError:
        return RestoreError(
            f"to remove the {self.describe()}",
            found=found,
            where=str(self.path),
            remedy=f"{remedy}; then `iostudy restore` as root",
        )


def usable_tracefs(purpose: TracePurpose = BLOCK_LATENCY) -> Path:
    """Where block requests can be traced; UsageError where the user or the kernel cannot."""
    if os.geteuid() != 0:
        raise _unavailable("iostudy runs as another user than root", "run it as root", purpose)
    folder = find_tracefs()
    if folder is None:
        remedy = f"mount -t tracefs nodev /{DEFAULT_PATH}"
        raise _unavailable("tracefs is not mounted", remedy, purpose)
    lacking = find_missing_events(folder)
    if lacking:
        fault = f"no {', '.join(lacking)} in {folder}/events/block"
        raise _unavailable(fault, "boot a kernel with CONFIG_BLK_DEV_IO_TRACE", purpose)
    return folder


def _unavailable(found: str, remedy: str, purpose: TracePurpose) -> UsageError:
    return UsageError(
        purpose.wanted, found=found, where="this host", remedy=f"{remedy}{purpose.alternative}"
    )
