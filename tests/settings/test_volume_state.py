"""Reasons why a trial on a volume does not count."""

from __future__ import annotations

import pytest

from iostudy.settings.commands import CommandError
from iostudy.settings.scratch.volume.lvm import find_failed_copies, release_writes
from iostudy.settings.scratch.volume.manager import VolumeState

FAULT = "1 of 4 members missing"
RESYNC = "a resync of the volume was running"
ENDED = "a resync or a check of the volume ended meanwhile"


@pytest.mark.parametrize(
    ("state", "was_disturbed", "reasons"),
    [
        (VolumeState(), False, ()),
        (VolumeState(), True, (ENDED,)),
        (VolumeState(0.5), True, (RESYNC,)),
        (VolumeState(0.5), False, (RESYNC,)),
        (VolumeState(None, (FAULT,)), True, (f"the volume is not whole: {FAULT}",)),
        (VolumeState(0.1, (FAULT,)), False, (f"the volume is not whole: {FAULT}", RESYNC)),
    ],
)
def test_reasons(state: VolumeState, *, was_disturbed: bool, reasons: tuple[str, ...]) -> None:
    assert state.describe(was_disturbed=was_disturbed) == reasons


@pytest.mark.parametrize(
    ("status", "faults"),
    [
        ("0 245760 mirror 2 253:1 253:2 240/240 1 AA 1 core\n", ()),
        ("0 245760 mirror 2 253:1 253:2 240/240 1 AD 1 core\n", ("1 of 2 copies failed",)),
        ("0 8192 mirror 3 253:1 253:2 253:5 8/8 1 ADR 1 core", ("2 of 3 copies failed",)),
    ],
)
def test_copies_of_a_mirror(status: str, faults: tuple[str, ...]) -> None:
    assert find_failed_copies(status) == faults


MIRROR = "0 245760 mirror core 2 1024 nosync 2 253:1 0 253:2 0"


def test_a_mirror_writes_to_its_other_copies() -> None:
    assert release_writes(f"{MIRROR} 1 handle_errors\n") == MIRROR


def test_a_mirror_with_other_features_is_refused() -> None:
    with pytest.raises(CommandError, match="keep_log"):
        release_writes(f"{MIRROR} 2 handle_errors keep_log\n")
