"""Reasons why a trial on a volume does not count."""

from __future__ import annotations

import pytest

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
