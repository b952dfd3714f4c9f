"""Transparent huge pages, including the RHEL 6 paths.

Enabling them raises the kernel's minimum of free memory, and disabling them lowers it.

Source: Documentation/admin-guide/mm/transhuge.rst; set_recommended_min_free_kbytes() in
mm/khugepaged.c of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iostudy.errors import TargetError
from iostudy.host.files import ROOT, parse_choice
from iostudy.settings import attributes
from iostudy.settings.attributes import AttributeSetting, SideEffects
from iostudy.settings.change import SettingKind
from iostudy.settings.definitions.memory import ENABLED, HugePageDefinition
from iostudy.settings.identity import boot_id
from iostudy.settings.kinds.host_files import HostFiles

_FOLDERS = ("sys/kernel/mm/transparent_hugepage", "sys/kernel/mm/redhat_transparent_hugepage")
_MIN_FREE = "proc/sys/vm/min_free_kbytes"


@dataclass(frozen=True)
class HugePages(HostFiles):
    """The files of the folder, which show all choices with the current one in brackets."""

    kind: ClassVar[str] = "huge-pages"

    @property
    def side_effects(self) -> SideEffects:
        """The kernel's minimum of free memory."""
        return {f"{folder}/{ENABLED.attribute}": (_MIN_FREE,) for folder in _FOLDERS}

    def read(self, attribute: str) -> str | None:
        """The choice in brackets."""
        text = super().read(attribute)
        return text if text is None or attribute == _MIN_FREE else parse_choice(text).current

    def available_values(self, attribute: str) -> tuple[str, ...]:
        """Return all choices."""
        text = super().read(attribute)
        return parse_choice(text).available if text else ()


def bind(definition: HugePageDefinition, place: str) -> tuple[AttributeSetting, ...]:
    """Return the host's setting for any place; TargetError if the kernel has none."""
    names = (f"{folder}/{definition.attribute}" for folder in _FOLDERS)
    found = next((name for name in names if (ROOT / name).is_file()), None)
    if found is None:
        raise TargetError(
            "transparent huge pages",
            found="this kernel has none",
            where=str(ROOT / _FOLDERS[0]),
            remedy=f"leave {definition.name} out",
        )
    return (AttributeSetting(definition, HugePages(boot_id()), found),)


KIND = SettingKind(HugePageDefinition, bind, attributes.prepare_changes)
