"""Foreign I/O on several devices that share the files of a workload."""

from __future__ import annotations

from iostudy.conduct.validity import disturbance
from iostudy.node.protocol import TrialResult
from iostudy.study.model import Validity
from iostudy.telemetry.recorder import Telemetry
from iostudy.units import MIB
from iostudy.workloads.definition import BYTES

LIMITS = Validity(foreign_io=0.10, steal=1.0, attempts=3)


def result(beside: tuple[str, ...] = (), **written_mib: int) -> TrialResult:
    """A workload of 100 MiB on the device ``first``, and on those beside it."""
    devices = {name: {"kB_read": 0.0, "kB_wrtn": mib * 1024.0} for name, mib in written_mib.items()}
    telemetry = Telemetry(seconds=1.0, devices=devices, machine={}, columns={"seconds": [0.0, 1.0]})
    return TrialResult({BYTES: 100.0 * MIB}, {}, telemetry, "first", {}, (), beside=beside)


def test_a_neighbour_is_noticed_on_one_of_several_that_share_the_files() -> None:
    told = disturbance(result(("second", "third"), first=33, second=33, third=84), LIMITS)
    assert told.startswith("foreign I/O on first and second and third: 50 %")


def test_what_devices_do_together_is_not_foreign() -> None:
    assert disturbance(result(("second",), first=50, second=50), LIMITS) == ""


def test_devices_below_each_other_are_not_added_up() -> None:
    assert disturbance(result(first=100, disk=100), LIMITS) == ""
