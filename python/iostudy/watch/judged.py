"""What a command is judged by: what it used most, and what is known of the machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iostudy.host.devices import read_device
from iostudy.host.inventory import virtualisation
from iostudy.telemetry.limits.ground import Ground, shown
from iostudy.telemetry.seen import Figures, Seen
from iostudy.watch.live import Reading


def target_of(reading: Reading, asked_for: Sequence[str] | None) -> str:
    """The first that was asked for, else the busiest that is no member of another.

    None if more was moved over an NFS mount than that one moved: then the mount is the target.
    """
    if asked_for is not None:
        return asked_for[0]
    below = {member for name in reading.seen.devices for member in reading.members_of(name)}
    roots = {name: own for name, own in reading.seen.devices.items() if name not in below}
    busiest = max(roots, key=lambda name: roots[name]["%util"], default="")
    mount = reading.seen.nfs.get(_busiest_mount(reading.seen), {})
    own = roots.get(busiest, {})
    return busiest if own.get("%util", 0) > 0 and _moved_kb(own) >= _moved_kb(mount) else ""


def ground_of(reading: Reading, device: str) -> Ground:
    """What is known of the machine; nothing is of how many requests the command makes at once."""
    seen = reading.seen
    return Ground(
        device=device,
        members={name: own for name in reading.devices if (own := reading.members_of(name))},
        rotational=_with_platters(reading.devices),
        nfs_mounts=tuple(seen.nfs),
        shown=shown([seen]),
    )


def _moved_kb(figures: Figures) -> float:
    """A second, of a device or a mount."""
    return figures.get("rkB/s", 0.0) + figures.get("wkB/s", 0.0)


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


def _busiest_mount(seen: Seen) -> str:
    return max(seen.nfs, key=lambda mount: seen.nfs[mount].get("ops/s", 0.0), default="")
