"""Definitions of I/O limits and weight of the workload."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Reach, SettingDefinition, Switching
from iostudy.settings.values import Integer, Size

NO_LIMIT = "max"
_V1 = "Documentation/admin-guide/cgroup-v1/blkio-controller.rst"
_V2 = "Documentation/admin-guide/cgroup-v2.rst"
_LEAST_BYTES_PER_SECOND = 64 << 10
_RATE = Size(_LEAST_BYTES_PER_SECOND, words=(NO_LIMIT,))
_OPERATIONS = Integer(1, (1 << 32) - 1, "1/s", words=(NO_LIMIT,))


class Control(StrEnum):
    """What of a group's I/O is controlled, by the key in ``io.max`` where there is one."""

    RBPS = "rbps"
    WBPS = "wbps"
    RIOPS = "riops"
    WIOPS = "wiops"
    WEIGHT = "weight"


_SWITCHING = Switching("iostudy makes the control group with its values for each trial")


@dataclass(frozen=True, kw_only=True)
class CgroupSettingDefinition(SettingDefinition):
    """A setting of the control group that the workload's processes are in for the trial."""

    control: Control
    reach: Reach = Reach.WORKLOAD
    switching: Switching = _SWITCHING


def _limit(
    control: Control, what: str, values: Size | Integer, unit: str
) -> CgroupSettingDefinition:
    return CgroupSettingDefinition(
        name=f"cgroup.{control}",
        control=control,
        unit=unit,
        default=NO_LIMIT,
        documentation=(
            f"{what} per second of the workload on the device below the target. A separate control "
            "group contains its processes during the trial. Only cgroup v2 with the memory "
            "controller counts the kernel's write-back; direct and synced I/O always counts. A "
            "throttled process cannot be killed before its next turn."
        ),
        source=f"{_V2} (io.max); {_V1} (blkio.throttle)",
        values=values,
    )


WEIGHT = CgroupSettingDefinition(
    name="cgroup.weight",
    control=Control.WEIGHT,
    default="100",
    documentation=(
        "Share of the workload of a contended device; every other group has 100. It has an effect "
        "only under the scheduler bfq, or under v2's iocost."
    ),
    source=f"{_V2} (io.weight); Documentation/block/bfq-iosched.rst (weight)",
    values=Integer(1, 1000),
)
DEFINITIONS = (
    _limit(Control.RBPS, "Maximum bytes read", _RATE, "B/s"),
    _limit(Control.WBPS, "Maximum bytes written", _RATE, "B/s"),
    _limit(Control.RIOPS, "Maximum reads", _OPERATIONS, "1/s"),
    _limit(Control.WIOPS, "Maximum writes", _OPERATIONS, "1/s"),
    WEIGHT,
)


def definition_of(control: Control) -> CgroupSettingDefinition:
    """Return the definition of a control."""
    (limit,) = (definition for definition in DEFINITIONS if definition.control is control)
    return limit
