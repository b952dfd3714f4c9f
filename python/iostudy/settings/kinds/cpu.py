"""Governor of every cpufreq policy: one CPU, or several that share a clock.

A governor's tunables start from their defaults when it is chosen again.

Source: Documentation/admin-guide/pm/cpufreq.rst; drivers/cpufreq/cpufreq_governor.c of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from iostudy.errors import TargetError
from iostudy.host.files import ROOT
from iostudy.settings import attributes
from iostudy.settings.attributes import AttributeSetting, SideEffects
from iostudy.settings.change import SettingKind
from iostudy.settings.definitions.cpu import GOVERNOR, CpuDefinition
from iostudy.settings.identity import boot_id
from iostudy.settings.kinds.host_files import HostFiles

_CPUS = "sys/devices/system/cpu"
_POLICIES = (f"{_CPUS}/cpufreq/policy*", f"{_CPUS}/cpu[0-9]*/cpufreq")
"""Since Linux 4.3, and before."""

_WITH_TUNABLES = ("ondemand", "conservative", "schedutil")


@dataclass(frozen=True)
class CpuPolicies(HostFiles):
    """The cpufreq files of all policies."""

    kind: ClassVar[str] = "cpu-policies"

    @property
    def side_effects(self) -> SideEffects:
        """The tunables of governors, per policy or shared."""
        return {
            f"{policy}/{GOVERNOR.attribute}": (
                f"{policy}/scaling_setspeed",
                *(f"{policy}/{governor}/*" for governor in _WITH_TUNABLES),
                *(f"{_CPUS}/cpufreq/{governor}/*" for governor in _WITH_TUNABLES),
            )
            for policy in _policies()
        }

    def available_values(self, attribute: str) -> tuple[str, ...]:
        """Return the available values of the policy."""
        text = self.read(str(Path(attribute).with_name("scaling_available_governors")))
        return tuple(text.split()) if text else ()


@dataclass(frozen=True)
class PolicySetting(AttributeSetting):
    """A setting of one of several policies that make up one level."""

    @property
    def label(self) -> str:
        """``cpu.governor@policy0``, or ``@cpu0`` where each CPU has a folder."""
        folders = Path(self.attribute).parent.parts
        return f"{self.definition.name}@{next(f for f in reversed(folders) if f[-1].isdigit())}"


def bind(definition: CpuDefinition, place: str) -> tuple[PolicySetting, ...]:
    """Return the setting of every policy for any place; TargetError without policies."""
    owner = CpuPolicies(boot_id())
    found = tuple(
        PolicySetting(definition, owner, f"{policy}/{definition.attribute}")
        for policy in _policies()
    )
    if not found:
        raise TargetError(
            "CPUs whose frequency the kernel governs",
            found="no cpufreq policy, as in most virtual machines",
            where=str(ROOT / _CPUS / "cpufreq"),
            remedy=f"leave {definition.name} out, or run where cpufreq has a driver",
        )
    return found


KIND = SettingKind(CpuDefinition, bind, attributes.prepare_changes)


def _policies() -> tuple[str, ...]:
    """Their folders, without the first slash."""
    for pattern in _POLICIES:
        found = sorted(ROOT.glob(f"{pattern}/{GOVERNOR.attribute}"))
        if found:
            return tuple(str(path.parent.relative_to(ROOT)) for path in found)
    return ()
