"""How the frequency of the CPUs is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.values import Choice


@dataclass(frozen=True, kw_only=True)
class CpuDefinition(SettingDefinition):
    """A setting that is the file ``attribute`` of every cpufreq policy of the host."""

    attribute: str
    reach: Reach = Reach.HOST


GOVERNOR = CpuDefinition(
    name="cpu.governor",
    attribute="scaling_governor",
    default="as the kernel is built or the distribution sets it, often schedutil or powersave",
    documentation=(
        "What chooses the frequency of the CPUs: performance keeps it high, powersave low (with "
        "intel_pstate and amd-pstate it follows the load), schedutil, ondemand and conservative "
        "follow the load, userspace leaves it to a program. All CPUs are one level. Fast storage "
        "with few requests at a time feels how long a CPU takes to speed up. Virtual machines "
        "have none."
    ),
    source="Documentation/admin-guide/pm/cpufreq.rst",
    values=Choice(
        ("performance", "powersave", "schedutil", "ondemand", "conservative", "userspace")
    ),
    caution="it holds for every process of the host, and for its power and heat",
)
DEFINITIONS = (GOVERNOR,)
