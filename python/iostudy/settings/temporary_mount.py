"""A file system that mount(8) mounts for a study, as a change."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from iostudy.errors import RestoreError, TargetError
from iostudy.host.mounts import Mount, find_mounts_at, read_mounts
from iostudy.safe_path import is_private
from iostudy.settings import commands
from iostudy.settings.change import ConflictPolicy, PrivateChange, Record
from iostudy.settings.commands import CommandError
from iostudy.settings.identity import boot_id
from iostudy.settings.mount_options import PROTECTION, is_made
from iostudy.settings.mounting.calls import make_point, require_empty, unmount_all

_FUSE = "fuse"


@dataclass(frozen=True)
class TemporaryMount(PrivateChange):
    """The mount of ``source`` on an empty directory; undo unmounts it.

    ``type`` and ``options`` are those of mount(8); mount(8) finds the type if it is empty, and
    reads no options of fstab if it is given both names. The owner of the file system gains no
    rights: programs do not change their user, devices are not opened, and no other user enters a
    folder above. A reboot ends the mount: ``boot`` is the one in which it was prepared.
    """

    kind: ClassVar[str] = "temporary-mount"

    point: Path
    source: str
    type: str = ""
    options: str = ""
    boot: str = field(default_factory=boot_id)

    @classmethod
    def prepare(cls, point: Path, source: str, type_: str, options: str) -> TemporaryMount:
        """Prepare it; TargetError unless ``point`` is an empty, private directory, not mounted."""
        commands.require("mount")
        real = require_empty(point)
        if not is_made(real) and not is_private(real):
            raise TargetError(
                f"a mount point of {source} that only root reaches",
                found="other users can enter every folder above it",
                where=str(point),
                remedy="make a folder for the mount points of studies, such as "
                "`install -d -m 700 /mnt/iostudy`, and mount in a folder of it; or leave out `at`",
            )
        return cls(real, source, type_, options)

    @classmethod
    def from_record(cls, record: Record) -> TemporaryMount:
        point, source, type_ = Path(record["point"]), record["source"], record["type"]
        return cls(point, source, type_, boot=record["boot"])

    def record(self) -> Record:
        fields = {"source": self.source, "type": self.type, "boot": self.boot}
        return {"point": str(self.point), **fields}

    def describe(self) -> str:
        return f"mount of {self.source} on {self.point}"

    def apply(self) -> None:
        """Mount it; TargetError with the message of mount(8) if that fails."""
        type_ = ("-t", self.type) if self.type else ()
        options = ",".join(filter(None, (*PROTECTION, self.options)))
        make_point(self.point)
        try:
            commands.run_kept("mount", *type_, "-o", options, self.source, str(self.point))
        except CommandError as error:
            raise self._failed(commands.format_complaint(error)) from error
        mounts = find_mounts_at(self.point)
        if not mounts:
            raise self._failed("mount(8) succeeded, but nothing is mounted there")
        if not self._is_own(mounts[-1]):
            mounted = f"{mounts[-1].filesystem} of {mounts[-1].source}"
            unmount_all(self.point, self.source, lambda mount: mount == mounts[-1])
            raise self._failed(f"the kernel calls it {mounted}: write that type")
        # A program of its type may leave a protection out.
        below = (mount for mount in read_mounts() if mount.point.is_relative_to(self.point))
        if missing := {o for mount in below for o in PROTECTION if o not in mount.options}:
            unmount_all(self.point, self.source, self._is_own)
            raise self._failed(f"mount(8) succeeded, but without {','.join(sorted(missing))}")

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Unmount it, also while files are open.

        RestoreError if another mount lies over it, or if what is mounted there may be another one.
        """
        if self.boot != boot_id():
            return ()
        was_there = unmount_all(self.point, self.source, self._is_own)
        left = find_mounts_at(self.point)
        if not left:
            return (f"{self.describe()}: unmounted",) if was_there else ()
        # mount(8) may have made it under another name before it was killed.
        mounted = f"{left[0].filesystem} of {left[0].source} is mounted there"
        if policy is ConflictPolicy.ACCEPT:
            return (f"{self.describe()}: left there: {mounted}",)
        raise RestoreError(
            f"to unmount {self.source}",
            found=mounted,
            where=str(self.point),
            remedy="unmount it if it is that of the study; `iostudy restore` tries again, and "
            "`iostudy restore --accept` leaves it mounted",
        )

    def _is_own(self, mount: Mount) -> bool:
        """Return whether it has this source or type: programs of FUSE change both of them."""
        if mount.source.rstrip("/") == self.source.rstrip("/"):
            return True
        types = (self.type, f"{_FUSE}.{self.type}", _FUSE)
        return bool(self.type) and mount.filesystem in types

    def _failed(self, found: str) -> TargetError:
        return TargetError(
            f"to mount {self.source}",
            found=found,
            where=str(self.point),
            remedy="try `mount` by hand with the same type and options; see dmesg",
        )
