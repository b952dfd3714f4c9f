"""The driver of each kind of target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iostudy.node.targets.directories import DirectoriesDriver
from iostudy.node.targets.directory import DirectoryDriver
from iostudy.node.targets.driver import TargetDriver
from iostudy.node.targets.hdfs import HdfsDriver
from iostudy.node.targets.made_disks import MadeDisksDriver
from iostudy.node.targets.scratch import ScratchDriver
from iostudy.node.targets.simulated import SimulatedDriver
from iostudy.node.targets.volume import VolumeDriver
from iostudy.study.targets.directories import DirectoriesTarget
from iostudy.study.targets.directory import DirectoryTarget
from iostudy.study.targets.drive import DriveTarget, SimulatedTarget
from iostudy.study.targets.hdfs import HdfsTarget
from iostudy.study.targets.loopback import LoopbackTarget
from iostudy.study.targets.scratch import ScratchTarget
from iostudy.study.targets.target import Target
from iostudy.study.targets.volume import VolumeTarget

_DRIVERS: Mapping[type[Target], type[TargetDriver[Any]]] = {
    DirectoryTarget: DirectoryDriver,
    DirectoriesTarget: DirectoriesDriver,
    LoopbackTarget: MadeDisksDriver,
    DriveTarget: MadeDisksDriver,
    ScratchTarget: ScratchDriver,
    VolumeTarget: VolumeDriver,
    HdfsTarget: HdfsDriver,
    SimulatedTarget: SimulatedDriver,
}


def find_driver(target: Target) -> TargetDriver[Any]:
    """Return the driver of a target."""
    return _DRIVERS[type(target)](target)
