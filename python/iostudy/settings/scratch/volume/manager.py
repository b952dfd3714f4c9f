"""Protocol of the software that makes volumes, and the state of a volume."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from iostudy.errors import TargetError
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT
from iostudy.settings import commands
from iostudy.settings.commands import CommandError
from iostudy.settings.scratch.volume.layout import VolumeLayout

RESYNC_KB = 10_000_000
"""KiB/s on each member, above what any disk moves.

A new volume has this limit of its own, so that the limits of the kernel, which hold for all
arrays of the host, stay as they are.
"""


@dataclass(frozen=True)
class VolumeState:
    """Background work and health of a volume.

    ``progress`` is the completed fraction of a resync, None while none runs. ``faults`` describe
    members that have failed.
    """

    progress: float | None = None
    faults: tuple[str, ...] = ()

    def describe(self, *, was_disturbed: bool) -> tuple[str, ...]:
        """Return why a trial that ends now does not count.

        ``was_disturbed``: a resync or a failure began or ended within it.
        """
        reasons = [f"the volume is not whole: {fault}" for fault in self.faults]
        if self.progress is not None:
            reasons.append("a resync of the volume was running")
        if was_disturbed and not reasons:
            reasons.append("a resync or a check of the volume ended meanwhile")
        return tuple(reasons)


class VolumeManager(Protocol):
    """Makes and removes volumes by name. All methods raise CommandError."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The programs that it needs."""

    def create(self, name: str, layout: VolumeLayout, members: Sequence[Path]) -> None:
        """Make the volume of exactly these members, which carry no signature."""

    def find(self, name: str) -> BlockDevice | None:
        """Return the device of the volume, or None."""

    def read_layout(self, name: str, device: BlockDevice) -> tuple[str, int]:
        """Return the level of the volume, and the size of its stripes in bytes, 0 without any."""

    def read_state(self, name: str, device: BlockDevice) -> VolumeState:
        """Return its background work and health."""

    def watch(self, device: BlockDevice) -> AbstractContextManager[Callable[[], bool]]:
        """Return a function that says whether a resync or a failure has begun or ended since."""

    def remove(self, name: str, members: Sequence[Path]) -> bool:
        """Remove the volume and its metadata on the members; return whether there was any.

        It works after any step of `create`, and changes nothing that belongs to another volume.
        """


def require(layout: VolumeLayout) -> None:
    """TargetError names the modules that this kernel neither has nor can load."""
    missing = [name for name in layout.properties.modules if not _is_available(name)]
    if missing:
        raise TargetError(
            f"a kernel with {', '.join(missing)}, for {layout.describe()}",
            found="it has no such module",
            where=f"the kernel {(ROOT / 'proc/sys/kernel/osrelease').read_text().strip()}",
            remedy="boot a kernel that has it, or choose a target without a volume",
        )


def _is_available(name: str) -> bool:
    """Return whether the module is loaded, built in, or can be loaded; it is not loaded here."""
    if (ROOT / "sys/module" / name).exists():
        return True
    try:
        commands.run("modprobe", "--dry-run", "--quiet", name)
    except CommandError:
        return False
    return True
