"""File systems of scratch disks, and their mkfs commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from iostudy.settings.definitions import filesystem as definitions
from iostudy.settings.values import AS_FOUND
from iostudy.units import KIB

PREFIX = "filesystem."
_EXT_BLOCK_BYTES = 4096

# The kernel would write inode tables and journal in the background, into the measurements.
# No discard: it would punch holes into an image, and make an SSD faster than it is in use.
_EXT_EXTENDED = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
_MAKE = {
    "ext2": ("mkfs.ext2", "-q", "-F"),
    "ext3": ("mkfs.ext3", "-q", "-F"),
    "ext4": ("mkfs.ext4", "-q", "-F"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K"),
    "btrfs": ("mkfs.btrfs", "-q", "-f", "-K"),
}
FILESYSTEMS = definitions.FILESYSTEM_TYPE.choices


@dataclass(frozen=True)
class Filesystem:
    """A file system to be made. Each field is the setting of its name; empty: as mkfs makes it."""

    type: str
    block_size: str = ""
    journal: str = ""
    reserved: str = ""
    stripe_width: str = ""
    options: str = ""

    def with_settings(self, settings: Mapping[str, str]) -> Filesystem:
        """This one with those of the settings that are about a file system."""
        return replace(
            self, **{n.removeprefix(PREFIX): v for n, v in select_settings(settings).items()}
        )

    def wanted(self) -> dict[str, str]:
        """The settings that do not stay as mkfs makes them, by name."""
        return {PREFIX + name: value for name, value in asdict(self).items() if value}

    def describe(self) -> str:
        """``ext4``, or ``ext4 with journal off, reserved 0``."""
        more = [f"{n.removeprefix(PREFIX)} {v}" for n, v in self.wanted().items()][1:]
        return f"{self.type} with {', '.join(more)}" if more else self.type

    def command(self) -> tuple[str, ...]:
        """The command that makes it; the device comes last."""
        match self.type:
            case "xfs":
                return (*_MAKE[self.type], *self._xfs())
            case "btrfs":
                return (*_MAKE[self.type], *_option("-s", self.block_size))
            case _:
                return (*_MAKE[self.type], *self._ext())

    def _xfs(self) -> tuple[str, ...]:
        block_size = _option("-b", f"size={self.block_size}" if self.block_size else "")
        if not self.stripe_width:
            return block_size
        unit_kib, disks = self.stripe_width.split()
        return (*block_size, "-d", f"su={unit_kib}k,sw={disks}")

    def _ext(self) -> tuple[str, ...]:
        extended, block_size = _EXT_EXTENDED, self.block_size
        if self.stripe_width:
            # Stripes are given in blocks, so their size must not be left to mkfs.
            block_size = block_size or str(_EXT_BLOCK_BYTES)
            unit_kib, disks = map(int, self.stripe_width.split())
            stride = max(1, unit_kib * KIB // int(block_size))
            extended += f",stride={stride},stripe_width={stride * disks}"
        features = "^has_journal" if self.journal == "off" else ""
        return (
            *_option("-b", block_size),
            *_option("-m", self.reserved),
            *_option("-O", features),
            *("-E", extended),
        )


def select_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Those of the settings that a file system is made with; what is as found stays as it is."""
    options = {name: value for name, value in settings.items() if name.startswith(PREFIX)}
    return {name: value for name, value in options.items() if value != AS_FOUND}


def mkfs_program(filesystem: str) -> str:
    """The tool that makes a file system of that type: ``mkfs.xfs``."""
    return _MAKE[filesystem][0]


def _option(name: str, value: str) -> tuple[str, ...]:
    return (name, value) if value else ()
