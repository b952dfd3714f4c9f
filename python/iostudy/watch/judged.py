"""What a command is judged by: what it used most, and what is known of the machine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from iostudy.diagnosis.attribution import data_kb, is_of_workload
from iostudy.diagnosis.context import DiagnosisContext, shown
from iostudy.diagnosis.diagnose import LITTLE
from iostudy.errors import TargetError
from iostudy.host import stack
from iostudy.host.devices import read_device
from iostudy.host.inventory import virtualisation
from iostudy.telemetry.summary import Figures, TelemetrySummary
from iostudy.watch.live import Reading


@dataclass(frozen=True)
class Target:
    """Devices by their kernel names, or an NFS mount by its path; neither if none did anything."""

    devices: tuple[str, ...] = ()
    mount: str = ""


def target_of(reading: Reading, asked_for: Sequence[str] | None) -> Target:
    """The devices that were asked for, else the busiest one; in both cases none below another.

    Or the busiest mount, if more was moved over it than that device moved and the command can have
    been who did that.
    """
    if asked_for is not None:
        return Target(_named(reading, asked_for))
    seen, device = reading.seen, _busiest_device(reading)
    mount = _busiest_mount(seen)
    if mount and _is_used_more(seen.nfs[mount], seen.devices.get(device, {})):
        return Target(mount=mount)
    return Target((device,) if device else ())


def ground_of(reading: Reading, target: Target) -> DiagnosisContext:
    """What is known of the machine; nothing is of how many requests the command makes at once."""
    return DiagnosisContext(
        devices=target.devices,
        members={name: own for name in reading.devices if (own := reading.members_of(name))},
        rotational=_with_platters(reading.devices),
        nfs_mounts=(target.mount,) if target.mount else (),
        shown=shown([reading.seen]),
    )


def _busiest_device(reading: Reading) -> str:
    """No member of another; "" if none did anything."""
    devices = reading.seen.devices
    utils = {name: devices[name]["%util"] for name in _tops(reading, devices)}
    busiest = max(utils, key=utils.__getitem__, default="")
    return busiest if utils.get(busiest, 0.0) > 0 else ""


def _named(reading: Reading, names: Iterable[str]) -> tuple[str, ...]:
    """Those of them on which no other of them lies; for one that counts nothing, what does."""
    counting = dict.fromkeys(each for name in names for each in _counting(reading, name))
    below = {each for name in counting for each in _lies_on(name)}
    return tuple(name for name in _tops(reading, counting) if name not in below)


def _tops(reading: Reading, names: Collection[str]) -> tuple[str, ...]:
    """Those of them that are no members of others."""
    there = (name for name in names if name in reading.devices)
    below = {member for name in there for member in reading.members_of(name)}
    return tuple(name for name in names if name not in below)


def _counting(reading: Reading, name: str) -> tuple[str, ...]:
    return (reading.devices[name].counted_by or (name,)) if name in reading.devices else (name,)


def _lies_on(name: str) -> Iterator[str]:
    """All that the device lies on, also what is not shown as its member: a disk, a file's disk."""
    try:
        below = stack.whole_stack(name)
    except TargetError:  # it has gone meanwhile
        return
    yield from (device.name.replace("!", "/") for device in below if device.name != name)


def _busiest_mount(seen: TelemetrySummary) -> str:
    """By what was read and written, of those that may be the command's; "" if there is none."""
    own = {name: figures for name, figures in seen.nfs.items() if is_of_workload(seen, name)}
    return max(own, key=lambda name: (data_kb(own[name]), own[name]["ops/s"]), default="")


def _is_used_more(mount: Figures, device: Figures) -> bool:
    """Whether more was moved over the mount.

    All counts beside a device that was too little busy to be a limit, for who lists and removes
    files reads and writes none.
    """
    is_idle = device.get("%util", 0.0) < LITTLE
    beside = mount.get("okB/s", 0.0) if is_idle else 0.0
    return data_kb(mount) + beside > data_kb(device)


def _with_platters(devices: Iterable[str]) -> frozenset[str]:
    """Real disks that say so; virtual ones do without being such."""
    if virtualisation():
        return frozenset()
    found = []
    for name in devices:
        try:
            device = read_device(name.replace("/", "!"))
        except FileNotFoundError:  # it has gone meanwhile
            continue
        if device.rotational and device.backing_file is None and not device.slaves:
            found.append(name)
    return frozenset(found)
