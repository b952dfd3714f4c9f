"""udev's database of device properties below /run.

Source: sd-device/device-private.c of systemd (the form of ``/run/udev/data/bMAJOR:MINOR``). A host
without udev has no such files; nothing here is needed, it only adds names and file system types.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from iostudy.host.files import ROOT, read_attribute

_PROPERTY = "E:"


def read_properties(number: str, root: Path = ROOT) -> Mapping[str, str]:
    """Read the properties of the block device with that major:minor; may be empty."""
    return parse_database(read_attribute(root / "run/udev/data" / f"b{number}") or "")


def parse_database(text: str) -> Mapping[str, str]:
    """Parse the ``E:KEY=VALUE`` lines of a device file; skip links, tags and times."""
    lines = (
        line.removeprefix(_PROPERTY) for line in text.split("\n") if line.startswith(_PROPERTY)
    )
    return dict(line.split("=", 1) for line in lines if "=" in line)
