"""Software RAID in sysfs: level, state and current action.

Source: Documentation/admin-guide/md.rst, "MD devices in sysfs"; the attributes are the same from
Linux 2.6.32 to 6.x, but for ``sync_action`` reading ``recover`` early on when it cannot begin.
``sync_completed`` advances every 10 s or by a sixteenth (``md_do_sync`` in drivers/md/md.c);
``/proc/mdstat`` has the current position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from iostudy.host.files import ROOT, read_attribute, read_number

_NO_BITMAP = "none"
_AUXILIARY = {"journal", "spare", "write_mostly", "faulty"}
"""States of a member (md/dev-XXX/state)."""
_INACTIVE = {"none", "journal"}
"""Slots of a member without a place in the array (md/dev-XXX/slot)."""
_PROGRESS = re.compile(r"(\d+) / (\d+)")
_LISTED_PROGRESS = re.compile(r"= *[\d.]+% \((\d+)/(\d+)\)")


class SyncAction(StrEnum):
    """The background action of an array; all but IDLE and FROZEN move data."""

    IDLE = "idle"
    FROZEN = "frozen"
    RESYNC = "resync"
    RECOVER = "recover"
    CHECK = "check"
    REPAIR = "repair"
    RESHAPE = "reshape"

    @property
    def moves_data(self) -> bool:
        """Whether it uses a share of the disks' time."""
        return self not in (SyncAction.IDLE, SyncAction.FROZEN)


@dataclass(frozen=True)
class WriteBitmap:
    """A write-intent bitmap of an array."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    location: str
    """Its place as in sysfs, such as ``+8`` or ``file``."""
    chunk_bytes: int
    """Bytes of the array for each bit."""


@dataclass(frozen=True)
class RaidArray:
    """A software RAID array (md)."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    level: str
    """RAID level, such as ``raid5``."""
    members: int
    """Number of its devices when complete."""
    missing: int
    """Number of missing devices."""
    action: SyncAction | None
    """Background action, such as ``resync``; null if the level has none or it is unknown."""
    progress: float | None
    """Completed fraction of the action; null if none is under way or has begun."""
    bitmap: WriteBitmap | None
    """Write-intent bitmap; null without one."""
    auxiliary: tuple[str, ...]
    """Kernel names of the members that hold no share of the data or serve no reads while others
    can: journal, spare, write-mostly or faulty."""
    inactive: tuple[str, ...]
    """Kernel names of the members without a place in the array: journal, idle spare or faulty."""


def read_array(name: str, root: Path = ROOT) -> RaidArray | None:
    """Return the array of that kernel name, None for other devices."""
    folder = root / "sys/class/block" / name / "md"
    level = read_attribute(folder / "level")
    if level is None:
        return None
    return RaidArray(
        level=level.strip() or "not assembled",
        members=parse_count(read_attribute(folder / "raid_disks")),
        missing=parse_count(read_attribute(folder / "degraded")),
        action=parse_action(read_attribute(folder / "sync_action")),
        progress=_read_progress(name, root),
        bitmap=_read_bitmap(folder / "bitmap"),
        auxiliary=tuple(_find_members(folder, "state", _AUXILIARY)),
        inactive=tuple(_find_members(folder, "slot", _INACTIVE)),
    )


def _find_members(folder: Path, attribute: str, words: set[str]) -> Iterator[str]:
    for member in sorted(folder.glob("dev-*")):
        if words & set((read_attribute(member / attribute) or "").strip().split(",")):
            yield member.name.removeprefix("dev-")


def _read_bitmap(folder: Path) -> WriteBitmap | None:
    location = (read_attribute(folder / "location") or _NO_BITMAP).strip()
    if location == _NO_BITMAP:
        return None
    return WriteBitmap(location, read_number(folder / "chunksize") or 0)


def parse_action(text: str | None) -> SyncAction | None:
    """The word in ``md/sync_action``."""
    word = (text or "").strip()
    return SyncAction(word) if word in set(SyncAction) else None


def parse_count(text: str | None) -> int:
    """``raid_disks`` and ``degraded``; while an array is reshaped also ``4 (3)``, new and old."""
    match = re.match(r"\d+", text or "")
    return int(match[0]) if match else 0


def parse_progress(text: str) -> float | None:
    """Return the completed fraction of ``1234 / 97653`` (sectors), None without numbers."""
    return _divide(_PROGRESS.fullmatch(text.strip()))


def _read_progress(name: str, root: Path) -> float | None:
    """Return the progress by ``/proc/mdstat``, or else by ``md/sync_completed``."""
    arrays = re.split(r"^(?=\S)", read_attribute(root / "proc/mdstat") or "", flags=re.MULTILINE)
    listed = next((array for array in arrays if array.startswith(f"{name} :")), "")
    if match := _LISTED_PROGRESS.search(listed):
        return _divide(match)
    folder = root / "sys/class/block" / name / "md"
    return parse_progress(read_attribute(folder / "sync_completed") or "")


def _divide(match: re.Match[str] | None) -> float | None:
    if match is None or int(match[2]) == 0:
        return None
    return min(1.0, int(match[1]) / int(match[2]))
