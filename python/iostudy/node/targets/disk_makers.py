"""Makers of the disks of a study, by the word that a target or a volume asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDisk
from iostudy.settings.scratch.drive import ModelledDrive
from iostudy.study.targets.disk import DiskRequest
from iostudy.study.targets.drive import DRIVE
from iostudy.study.targets.loopback import LOOPBACK


def prepare_disks(folder: Path, request: DiskRequest) -> Sequence[ScratchDisk]:
    """Prepare disks in ``folder``; TargetError without space, memory or tools for all of them."""
    return _MAKERS[request.maker](folder, request)


def _prepare_loopback(folder: Path, request: DiskRequest) -> Sequence[ScratchDisk]:
    return LoopbackDisk.prepare_several(folder, request.size_bytes, len(request.models))


def _prepare_drives(folder: Path, request: DiskRequest) -> Sequence[ScratchDisk]:
    return ModelledDrive.prepare_several(folder, request.models, request.size_bytes)


_MAKERS: Mapping[str, Callable[[Path, DiskRequest], Sequence[ScratchDisk]]] = {
    LOOPBACK: _prepare_loopback,
    DRIVE: _prepare_drives,
}
