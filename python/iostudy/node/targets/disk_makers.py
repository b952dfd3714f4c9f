"""Makers of the disks of a study, by the word that a target or a volume asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from iostudy import plugins
from iostudy.core import registered
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDisk
from iostudy.study.targets.disk import DiskRequest
from iostudy.study.targets.loopback import LOOPBACK


def prepare_disks(folder: Path, request: DiskRequest) -> Sequence[ScratchDisk]:
    """Prepare disks in ``folder``; TargetError without space, memory or tools for all of them."""
    return _makers()[request.maker](folder, request.models, request.size_bytes)


def _prepare_loopback(
    folder: Path, models: Sequence[str], size_bytes: int
) -> Sequence[ScratchDisk]:
    return LoopbackDisk.prepare_several(folder, size_bytes, len(models))


@cache
def _makers() -> Mapping[str, Callable[[Path, Sequence[str], int], Sequence[ScratchDisk]]]:
    found = (plugin.disks.items() for plugin in registered())
    others = {word: plugins.load(ref) for disks in found for word, ref in disks}
    return {LOOPBACK: _prepare_loopback, **others}
