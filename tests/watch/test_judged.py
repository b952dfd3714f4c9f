"""What a command is judged by."""

from __future__ import annotations

from dataclasses import replace

from iostudy.telemetry.limits.diagnose import diagnose
from iostudy.telemetry.limits.diagnosis import Limit
from iostudy.watch.judged import ground_of, target_of
from iostudy.watch.live import Reading
from tests.telemetry.limits.synthetic import PEER, SLOW, disk
from tests.watch.of_devices import STACK, reading


def saw(**devices) -> Reading:
    """A reading of the whole stack in which these devices did anything."""
    now = reading(STACK, {})
    return replace(now, seen=replace(now.seen, devices=devices))


def test_an_array_of_partitions_is_judged_by_their_disks():
    now = saw(md0=disk(writes=600, wait_ms=20, util=100, kb=64), sda=PEER, sdb=SLOW)
    assert target_of(now, None) == "md0"
    first = diagnose(now.seen, ground_of(now, "md0")).findings[0]
    assert (first.limit, first.of) == (Limit.MEMBER, "sdb")
