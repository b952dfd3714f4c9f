"""Which device a journal entry is about: a name alone may belong to another device by now."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from iostudy.host import devices
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute
from iostudy.settings.change import Record


@dataclass(frozen=True)
class DeviceIdentity:
    """A block device during one boot.

    ``number`` is major:minor, ``diskseq`` the kernel's number of the attached disk (Linux 5.15),
    ``unique`` its WWID, serial number or backing file, ``boot`` the kernel's boot_id. Settings of a
    queue live in kernel memory: with another boot or another disk they are gone by themselves.
    """

    name: str
    number: str
    diskseq: int | None
    unique: str
    boot: str

    @classmethod
    def of(cls, device: BlockDevice) -> DeviceIdentity:
        """The identity of a device that is there now."""
        unique = device.wwid or device.serial or str(device.backing_file or "")
        return cls(device.name, device.number, device.diskseq, unique, _boot_id())

    @classmethod
    def from_record(cls, record: Record) -> DeviceIdentity:
        """What ``record`` has kept."""
        return cls(**record)

    def record(self) -> Record:
        """Plain JSON values."""
        return asdict(self)

    def loss(self) -> str | None:
        """Why this device is not there any more, None as long as it is."""
        if self.boot != _boot_id():
            return "the host has been started anew"
        try:
            now = DeviceIdentity.of(devices.read_device(self.name))
        except FileNotFoundError:
            return "the device is gone"
        return None if now == self else "another device has its name now"


def _boot_id() -> str:
    return read_attribute(ROOT / "proc/sys/kernel/random/boot_id") or ""
