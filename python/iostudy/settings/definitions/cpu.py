"""Definition of the CPU frequency governor."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Reach, SettingDefinition, Switching
from iostudy.settings.values import Choice

_SWITCHING = Switching(
    "power limits average over tens of seconds, so one governor's heat limits the next clock"
)


@dataclass(frozen=True, kw_only=True)
class CpuDefinition(SettingDefinition):
    """A setting that is the file ``attribute`` of every cpufreq policy of the host."""

    attribute: str
    reach: Reach = Reach.HOST
    switching: Switching = _SWITCHING


GOVERNOR = CpuDefinition(
    name="cpu.governor",
    attribute="scaling_governor",
    default="as the kernel is built or the distribution sets it, often schedutil or powersave",
    documentation=(
        "Policy for the CPU frequency: performance keeps it high, powersave low (with "
        "intel_pstate and amd-pstate it follows the load), schedutil, ondemand and conservative "
        "follow the load, userspace leaves it to a program. All CPUs are one level. At a low "
        "queue depth, fast storage is sensitive to the time that a CPU needs to speed up. Virtual "
        "machines have no governor."
    ),
    source="Documentation/admin-guide/pm/cpufreq.rst",
    values=Choice(
        ("performance", "powersave", "schedutil", "ondemand", "conservative", "userspace")
    ),
    caution="it applies to every process of the host, and affects power and heat",
)
DEFINITIONS = (GOVERNOR,)
