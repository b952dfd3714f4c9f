"""Check that a device carries no signature of a file system, partition table, volume or array."""

from __future__ import annotations

from pathlib import Path

from iostudy.errors import TargetError
from iostudy.settings import commands
from iostudy.settings.commands import CommandError


def require_none(path: Path) -> None:
    """TargetError if the device has a signature that ``wipefs`` knows, or cannot be checked."""
    commands.require("wipefs")
    try:
        found = commands.run("wipefs", "--no-act", "--parsable", "--", str(path))
    except CommandError as error:
        raise TargetError(
            "to look for signatures on the device",
            found=str(error),
            where=str(path),
            remedy="run as root; see dmesg",
        ) from error
    lines = [line for line in found.splitlines() if not line.startswith("#")]
    if lines:
        raise TargetError(
            "a device without signatures: writes would destroy what they belong to",
            found="; ".join(lines),
            where=str(path),
            remedy="name another device; if its data are not needed, run `wipefs --all` on it",
        )
