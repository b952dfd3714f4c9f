"""Disks of a volume measured alone: rates, and what the writes leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.node.member_speed import measure_members
from iostudy.settings.scratch.disk import ScratchDevice
from iostudy.units import MIB

pytestmark = pytest.mark.root


def test_rates_of_reads_and_writes(loop: str, tmp_path: Path) -> None:
    node = Path("/dev") / loop
    before = node.read_bytes()
    (found,) = measure_members([ScratchDevice.prepare(node, tmp_path)])
    assert found.pop("device") == loop
    assert len(found) == 4
    assert all(rate > 0 for rate in found.values())
    after = node.read_bytes()
    assert after != before
    assert after[:MIB] == before[:MIB], "a signature could be there"
    assert after[-MIB:] == before[-MIB:]


def test_a_disk_with_data_is_not_written(loop: str, tmp_path: Path) -> None:
    node = Path("/dev") / loop
    disk = ScratchDevice.prepare(node, tmp_path)
    with node.open("r+b") as file:  # swap of a page of 4 KiB
        file.seek(4086)
        file.write(b"SWAPSPACE2")
        file.seek(1024)
        file.write((1).to_bytes(4, "little") + (1000).to_bytes(4, "little"))
    before = node.read_bytes()
    with pytest.raises(TargetError, match="a device without signatures"):
        measure_members([disk])
    assert node.read_bytes() == before
