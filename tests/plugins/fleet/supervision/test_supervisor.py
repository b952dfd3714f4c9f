"""Why a study ended, by the signals to its supervisor."""

from __future__ import annotations

import os

import pytest

from iostudy_fleet.supervision import supervisor
from iostudy_fleet.supervision.work_folder import EndReason


class SlowChild:
    """A study that ends after its second SIGTERM."""

    def __init__(self) -> None:
        self.terms = 0

    def poll(self) -> int | None:
        return 143 if self.terms == 2 else None

    def terminate(self) -> None:
        self.terms += 1


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ([], EndReason.LEASE),
        ([supervisor.STOP], EndReason.STOPPED),
        ([supervisor.TERMINATE], EndReason.TERMINATED),
    ],
)
def test_the_first_reason_remains_if_the_end_takes_longer_than_a_lease(
    numbers: list[int], reason: EndReason
) -> None:
    read_end, write_end = os.pipe()
    try:
        os.write(write_end, bytes(numbers))
        assert supervisor._wait(SlowChild(), 0.001, read_end) is reason
    finally:
        os.close(read_end)
        os.close(write_end)
