"""Attributes of a block device's queue as one reversible change per device.

Switching the scheduler makes the kernel reset other attributes: nr_requests, the write-back
throttling latency and every tunable of the scheduler itself start from defaults, also on the way
back. They are therefore saved with the scheduler and mended after it is restored. One change covers
all attributes of a device, so that this holds in whatever order they were asked for.

Source: elevator_switch() and blk_mq_init_sched() in the kernel's block/elevator.c and
block/blk-mq-sched.c; Documentation/ABI/stable/sysfs-block.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar

from iostudy.errors import RestoreError, SettingError
from iostudy.host.devices import parse_scheduler
from iostudy.host.files import ROOT, read_attribute
from iostudy.settings.change import Foreign, Record
from iostudy.settings.identity import DeviceIdentity

SCHEDULER = "scheduler"
RESET_BY_SCHEDULER = ("nr_requests", "async_depth", "wbt_lat_usec", "iosched/*")
"""Attributes (globs) that the kernel resets when the scheduler is switched."""

_CHANGED_MEANWHILE = "somebody else has changed it meanwhile, so it was left alone"
_MODULES = {"kyber": "kyber-iosched", "cfq": "cfq-iosched", "deadline": "deadline-iosched"}


@dataclass(frozen=True)
class Queue:
    """The attribute files below ``/sys/block/DEVICE/queue``."""

    device: str

    @property
    def folder(self) -> Path:
        """Where they are."""
        return ROOT / "sys/block" / self.device / "queue"

    def read(self, attribute: str) -> str | None:
        """The value that holds now; None where the queue has no such attribute now."""
        text = read_attribute(self.folder / attribute)
        if text is None:
            return None
        return parse_scheduler(text).current if attribute == SCHEDULER else text

    def offered(self) -> tuple[str, ...]:
        """The schedulers that this queue offers."""
        text = read_attribute(self.folder / SCHEDULER)
        return parse_scheduler(text).offered if text else ()

    def write(self, attribute: str, value: str) -> None:
        """Hand the value to the kernel; OSError if it refuses."""
        descriptor = os.open(self.folder / attribute, os.O_WRONLY)
        try:
            os.write(descriptor, value.encode())
        finally:
            os.close(descriptor)

    def writable(self, patterns: Iterable[str]) -> dict[str, str]:
        """The attributes that match, can be read now and could be written back."""
        paths = (path for pattern in patterns for path in sorted(self.folder.glob(pattern)))
        names = [str(p.relative_to(self.folder)) for p in paths if p.stat().st_mode & stat.S_IWUSR]
        values = {name: self.read(name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class QueueChange:
    """Attributes of one device's queue: ``after`` is wanted, ``before`` is what was there.

    ``before`` also holds what the kernel resets on the way.
    """

    kind: ClassVar[str] = "block-queue"

    device: DeviceIdentity
    before: Mapping[str, str]
    after: Mapping[str, str]

    @classmethod
    def prepare(cls, device: DeviceIdentity, after: Mapping[str, str]) -> QueueChange:
        """Read what is there. SettingError if device or attribute is not there."""
        queue = Queue(device.name)
        loss = device.loss()
        if loss:
            raise SettingError(
                f"to set {', '.join(after)} of {device.name}",
                found=f"{loss} since the setting was looked up",
                where=str(queue.folder),
                remedy="see dmesg for what became of the device, and start again",
            )
        disturbed = RESET_BY_SCHEDULER if SCHEDULER in after else ()
        before = queue.writable((*after, *disturbed))
        for attribute in after.keys() - before.keys():
            raise SettingError(
                f"to set {attribute} of {device.name}",
                found="this queue has no such attribute, or none that can be changed",
                where=str(queue.folder / attribute),
                remedy="leave the setting out for this device, or choose another device",
            )
        return cls(device, before, after)

    @classmethod
    def from_record(cls, record: Record) -> QueueChange:
        """What the journal has kept."""
        return cls(DeviceIdentity.from_record(record["device"]), record["before"], record["after"])

    def record(self) -> Record:
        """Identity of the device, values before and after."""
        return {
            "device": self.device.record(),
            "before": dict(self.before),
            "after": dict(self.after),
        }

    def describe(self) -> str:
        """``scheduler of loop0: none -> bfq``, all wanted attributes in one line."""
        parts = (
            f"{a} of {self.device.name}: {self.before[a]} -> {v}" for a, v in self.after.items()
        )
        return ", ".join(parts)

    def apply(self) -> None:
        """Write and read back. SettingError if refused or not kept; all is put back then.

        A value that the kernel rounded would look like somebody else's to a later undo.
        """
        try:
            for attribute in _in_order(self.after):
                self._set(attribute, self.after[attribute])
            for attribute, value in self.after.items():
                self._verify(attribute, value)
        except SettingError:
            self.undo(Foreign.OVERWRITE)
            raise

    def devices(self) -> tuple[str, ...]:
        """The one."""
        return (self.device.name,)

    def undo(self, foreign: Foreign = Foreign.REPORT) -> tuple[str, ...]:
        """Put back the scheduler, then every attribute that differs from what was there."""
        loss = self.device.loss()
        if loss:
            return (f"{self.device.name}: {loss}, and the settings changed on it with it",)
        queue = Queue(self.device.name)
        theirs = set() if foreign is Foreign.OVERWRITE else self._foreign(queue)
        done, trouble = self._put_back(
            queue, [n for n in _in_order(self.before) if n not in theirs]
        )
        asked_for = _in_order(theirs & self.after.keys())
        if foreign is Foreign.ACCEPT:
            done += tuple(f"{n} of {queue.device}: left at {queue.read(n)}" for n in asked_for)
        else:
            trouble |= dict.fromkeys(asked_for, _CHANGED_MEANWHILE)
        if trouble:
            raise self._not_restored(queue, trouble)
        return done

    def _set(self, attribute: str, value: str) -> None:
        queue = Queue(self.device.name)
        try:
            queue.write(attribute, value)
        except OSError as error:
            offers = f"; it offers {', '.join(queue.offered())}" if attribute == SCHEDULER else ""
            raise SettingError(
                f"to set {attribute} of {self.device.name} to {value}",
                found=f"the kernel refused ({error.strerror}){offers}",
                where=str(queue.folder / attribute),
                remedy=_remedy(error, attribute, value),
            ) from error

    def _verify(self, attribute: str, value: str) -> None:
        queue = Queue(self.device.name)
        found = queue.read(attribute)
        if found != value:
            raise SettingError(
                f"to set {attribute} of {self.device.name} to {value}",
                found=f"the kernel made it {found}",
                where=str(queue.folder / attribute),
                remedy="choose a value that this kernel and device keep as it is",
            )

    def _put_back(
        self, queue: Queue, attributes: Iterable[str]
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """What was put back, and what was not with the reason.

        Only what differs is written: to write a default pins it in some attributes (wbt).
        """
        done, trouble = [], {}
        for name in attributes:
            found, original = queue.read(name), self.before[name]
            if found == original:
                continue
            try:
                queue.write(name, original)
            except OSError as error:
                trouble[name] = f"the kernel refused to restore it ({error.strerror})"
            else:
                done.append(f"{name} of {queue.device}: {found} -> {original}")
        lost = [name for name in attributes if queue.read(name) != self.before[name]]
        return tuple(done), dict.fromkeys(lost, "the kernel did not keep it") | trouble

    def _foreign(self, queue: Queue) -> set[str]:
        """The attributes that hold neither the value before nor the one we wrote.

        With the scheduler switched by us, what the kernel resets with it may hold anything: it
        goes back to what was there. With a scheduler of somebody else, so does all that hangs on
        it belong to them.
        """
        now = {name: queue.read(name) for name in self.before}
        theirs = {n for n, v in now.items() if v not in (self.before[n], self.after.get(n))}
        if SCHEDULER in theirs:
            return theirs | {name for name in now if _is_reset(name)}
        if SCHEDULER in self.after:
            return {name for name in theirs if not _is_reset(name)}
        return theirs

    def _not_restored(self, queue: Queue, trouble: Mapping[str, str]) -> RestoreError:
        decide = (
            "`iostudy restore --force` writes back what was there before iostudy, "
            "`iostudy restore --accept` leaves it as it is and forgets it"
        )
        return RestoreError(
            "to restore " + ", ".join(f"{name} {self.before[name]}" for name in trouble),
            found="; ".join(f"{n} is {queue.read(n)}: {why}" for n, why in trouble.items()),
            where=str(queue.folder),
            remedy=decide
            if _CHANGED_MEANWHILE in trouble.values()
            else "see dmesg; write it again",
        )


def _is_reset(attribute: str) -> bool:
    return any(fnmatchcase(attribute, pattern) for pattern in RESET_BY_SCHEDULER)


def _in_order(attributes: Iterable[str]) -> list[str]:
    """The scheduler first, since it resets others."""
    return sorted(attributes, key=lambda name: (name != SCHEDULER, name))


def _remedy(error: OSError, attribute: str, value: str) -> str:
    if isinstance(error, PermissionError):
        return "run as root"
    if attribute == SCHEDULER:
        module = _MODULES.get(value, value)
        return f"load it with `modprobe {module}` if this kernel has it, or choose one offered"
    return "choose a value in the range that this kernel and device allow"
