"""Presets: drive files that iostudy ships."""

from __future__ import annotations

import functools
from pathlib import Path

from iostudy.errors import UsageError
from iostudy_lab.drives import drive_file
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash


def names() -> list[str]:
    """Names of all presets, sorted."""
    return drive_file.preset_names()


@functools.cache  # shipped files do not change
def load(name: str) -> Disk | Flash:
    """Preset of a name. UsageError lists the names."""
    if name not in names():
        raise UsageError(
            f"one of {', '.join(names())}",
            found=repr(name),
            where="the name of a drive",
            remedy="`iostudy drives` lists the drives",
        )
    return drive_file.load(drive_file.PRESETS / f"{name}.yaml")


def load_drive(name: str) -> Disk | Flash:
    """The preset of that name, or the drive file of a path that ends in ``.yaml``."""
    return drive_file.load(Path(name)) if name.endswith(".yaml") else load(name)
