"""How much I/O the workload's own processes may do, and how they fare against others."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.values import Size, Whole

NO_LIMIT = "max"
_V1 = "Documentation/admin-guide/cgroup-v1/blkio-controller.rst"
_V2 = "Documentation/admin-guide/cgroup-v2.rst"
_LEAST_BYTES_PER_SECOND = 64 << 10
_RATE = Size(_LEAST_BYTES_PER_SECOND, words=(NO_LIMIT,))
_OPERATIONS = Whole(1, (1 << 32) - 1, "1/s", words=(NO_LIMIT,))


class Control(StrEnum):
    """What of a group's I/O is controlled, by the key in ``io.max`` where there is one."""

    RBPS = "rbps"
    WBPS = "wbps"
    RIOPS = "riops"
    WIOPS = "wiops"
    WEIGHT = "weight"


@dataclass(frozen=True, kw_only=True)
class CgroupSettingDefinition(SettingDefinition):
    """A setting of the control group that the workload's processes are in for the trial."""

    control: Control
    reach: Reach = Reach.WORKLOAD


def _limit(control: Control, what: str, values: Size | Whole, unit: str) -> CgroupSettingDefinition:
    return CgroupSettingDefinition(
        name=f"cgroup.{control}",
        control=control,
        unit=unit,
        default=NO_LIMIT,
        documentation=(
            f"{what} that the workload may do per second on the device below the target; its "
            "processes are moved into a control group of their own for the trial. What the "
            "kernel's own threads write back later is only counted by cgroup v2 with the memory "
            "controller; direct and synced I/O always is. A process that waits for its turn "
            "cannot be killed before it has had it."
        ),
        source=f"{_V2} (io.max); {_V1} (blkio.throttle)",
        values=values,
    )


WEIGHT = CgroupSettingDefinition(
    name="cgroup.weight",
    control=Control.WEIGHT,
    default="100",
    documentation=(
        "The workload's share of a device for which others compete, where every other group has "
        "100. It only tells under the scheduler bfq, or under v2's iocost."
    ),
    source=f"{_V2} (io.weight); Documentation/block/bfq-iosched.rst (weight)",
    values=Whole(1, 1000),
)
DEFINITIONS = (
    _limit(Control.RBPS, "The bytes of reads", _RATE, "B/s"),
    _limit(Control.WBPS, "The bytes of writes", _RATE, "B/s"),
    _limit(Control.RIOPS, "The reads", _OPERATIONS, "1/s"),
    _limit(Control.WIOPS, "The writes", _OPERATIONS, "1/s"),
    WEIGHT,
)
