"""TuneD profile that includes the active profile.

Source: tuned.conf(5), tuned-adm(8); the plug-ins sysctl, sysfs, vm, cpu and disk (module docstrings
of TuneD 2.20). A device is found by ``devices_udev_regex`` over the lines KEY=VALUE of its udev
properties; a section of lower ``priority`` takes its devices before those of the included profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from iostudy.host.files import ROOT
from iostudy.persist import dropins
from iostudy.persist.plan import Activation, PersistencePlan, UnsupportedSetting, format_heading
from iostudy.persist.request import InventoryDisk, PersistedSetting
from iostudy.persist.tmpfiles import ATTRIBUTE, find_path

PROFILE = "iostudy"
_FOLDER = Path("/etc/tuned")
_NEW_FOLDER = _FOLDER / "profiles"
"""The folder of profiles in TuneD 2.23 and later."""
_ACTIVE = _FOLDER / "active_profile"
_MODE = _FOLDER / "profile_mode"
"""``auto`` if TuneD chose the active profile."""
_COMMAND = Path("/usr/sbin/tuned-adm")

_OPTIONS = {
    "thp.enabled": ("vm", "transparent_hugepages"),
    "thp.defrag": ("vm", "transparent_hugepage.defrag"),
    "cpu.governor": ("cpu", "governor"),
}
"""Setting -> section and option; sysctls and disks have rules of their own."""
KINDS = ("block", "sysctl", ATTRIBUTE)
"""Kinds of the settings that a profile can hold."""
_DISK_SETTINGS = {"block.scheduler": "elevator", "block.read_ahead_kb": "readahead"}
_BUSES = ("scsi", "nvme", "virtio", "xen")
"""Buses of the disks that TuneD 2.20 tunes (plugin_disk.py, _device_is_supported)."""
_SPECIAL = re.compile(r"[#$%;=]|[^ -~]")
"""Characters with a meaning in a profile: comments, variables, interpolation."""


def plan(kept: Sequence[PersistedSetting], origin: str, root: Path = ROOT) -> PersistencePlan:
    """The profile for settings of KINDS, and the command that makes it the active one."""
    reasons = {setting: _reason(setting) for setting in kept}
    unkept = tuple(
        UnsupportedSetting(
            k.text, why, f"use --format {'udev' if k.name.startswith('block.') else 'sysctl'}"
        )
        for k, why in reasons.items()
        if why
    )
    left = [setting for setting, why in reasons.items() if not why]
    if not left:
        return PersistencePlan(unsupported=unkept)
    folder = _NEW_FOLDER if dropins.resolve_path(_NEW_FOLDER, root).is_dir() else _FOLDER
    path = folder / PROFILE / "tuned.conf"
    included = _included(path, root)
    written = text(left, origin, included)
    later = f"TuneD is not installed; once it is, `tuned-adm profile {PROFILE}` activates it"
    active = Activation(("tuned-adm", "profile", PROFILE), _COMMAND, later)
    command = f"tuned-adm profile {included.replace(',', ' ')}" if included else "tuned-adm off"
    if (dropins.read_text(_MODE, root) or "").strip() == "auto":
        command = "tuned-adm auto_profile"
    return PersistencePlan(
        artifacts=(dropins.build_artifact(path, written, root, (active,)),),
        unsupported=unkept,
        notes=(f"to take the profile {PROFILE} back: `{command}`, then remove it",),
    )


def text(kept: Iterable[PersistedSetting], origin: str, included: str = "") -> str:
    """Return the content of tuned.conf."""
    sections: dict[str, list[str]] = {
        "main": [f"summary=Kept by iostudy from {_SPECIAL.sub('?', origin)}"]
    }
    if included:
        sections["main"].append(f"include={included}")
    for setting in kept:
        for section, lines in _section(setting).items():
            content = sections.setdefault(section, [])
            content += [line for line in lines if line not in content]
    return format_heading(origin) + "".join(
        f"\n[{name}]\n" + "".join(f"{line}\n" for line in lines) for name, lines in sections.items()
    )


def _section(setting: PersistedSetting) -> dict[str, list[str]]:
    if setting.disk is not None:
        start = ["type=disk", "priority=-1", f"devices_udev_regex={_regex(setting.disk)}"]
        option = f"{_DISK_SETTINGS[setting.name]}={setting.value}"
        return {f"iostudy_{setting.disk.name}": [*start, option]}
    file = find_path(setting.name)
    other = ("sysfs", file) if file else ("sysctl", setting.attribute)
    section, option = _OPTIONS.get(setting.name, other)
    return {section: [f"{option}={setting.value}"]}


def _reason(setting: PersistedSetting) -> str:
    """Return why a profile cannot hold the setting; empty if it can."""
    if _SPECIAL.search(setting.value) or _SPECIAL.search(setting.attribute):
        return "it has a character that means something else in a profile"
    if find_path(setting.name) or setting.name.startswith("sysctl."):
        return ""
    if setting.name not in _DISK_SETTINGS:
        return "TuneD has no option for it that matches a device by identity instead of name"
    disk = setting.disk
    if disk is None:
        return "it is not known on which disk"
    if disk.exclusion_reason:
        return disk.exclusion_reason
    if disk.zoned:
        return "it is zoned, and TuneD does not spare a zoned disk's scheduler"
    if disk.bus and disk.bus not in _BUSES:
        return (
            f"TuneD tunes disks of SCSI, NVMe, virtio and Xen only, and this is one of {disk.bus}"
        )
    return "" if _regex(disk) else "the disk has no WWID or serial number that udev knows too"


def _regex(disk: InventoryDisk) -> str:
    """A regular expression over udev's properties that only this disk fulfils; empty if none.

    udev has the WWID of SCSI disks (``naa.5000...``) as ID_WWN_WITH_EXTENSION, ``0x5000...``, and
    that of NVMe (``eui...``, ``nvme...``) as ID_WWN (60-persistent-storage.rules).
    """
    if disk.wwid.startswith("naa."):
        rule = f"ID_WWN_WITH_EXTENSION=0x{disk.wwid.removeprefix('naa.')}"
    elif disk.wwid.startswith(("eui.", "nvme.", "uuid.")):
        rule = f"ID_WWN={disk.wwid}"
    elif disk.serial:
        rule = f"ID_SERIAL(_SHORT)?={disk.serial}"
    else:
        return ""
    pattern = re.sub(r"[.*+^|\\\[\]{}]", r"\\\g<0>", rule)
    return "" if _SPECIAL.search(pattern.replace("=", "", 1)) else f"^{pattern}$"


def _included(path: Path, root: Path) -> str:
    """The active profiles; in the place of iostudy's own, those that it includes."""
    include = re.search(r"^include=(.*)$", dropins.read_text(path, root) or "", re.MULTILINE)
    profiles = include[1].split(",") if include else []
    active = (dropins.read_text(_ACTIVE, root) or "").split()
    names = (name for profile in active for name in (profiles if profile == PROFILE else [profile]))
    return ",".join(name for name in dict.fromkeys(names) if name != PROFILE)
