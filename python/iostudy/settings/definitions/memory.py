"""Transparent huge pages."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.values import Choice

_SOURCE = "Documentation/admin-guide/mm/transhuge.rst; mm/huge_memory.c"


@dataclass(frozen=True, kw_only=True)
class HugePageDefinition(SettingDefinition):
    """A setting that is the file ``attribute`` of ``/sys/kernel/mm/transparent_hugepage``."""

    attribute: str
    reach: Reach = Reach.HOST
    caution: str = "it holds for every process of the host"


ENABLED = HugePageDefinition(
    name="thp.enabled",
    attribute="enabled",
    default="always or madvise, as the kernel is built",
    documentation=(
        "Where memory is given in pages of 2 MiB (on x86) without being asked for: always, where a "
        "program advises it (madvise), or never. Hadoop's vendors advise never for the pauses "
        "while such pages are put together. Turning it on raises vm.min_free_kbytes, and off "
        "lowers it again; iostudy puts that back, too."
    ),
    source=_SOURCE,
    values=Choice(("always", "madvise", "never")),
)
DEFRAG = HugePageDefinition(
    name="thp.defrag",
    attribute="defrag",
    default="madvise (always before Linux 4.6)",
    documentation=(
        "What happens when no huge page is free: always has the program wait for one to be made, "
        "defer leaves that to the kernel's threads, defer+madvise has only programs wait that "
        "advised it, madvise does nothing for the others, never takes what there is."
    ),
    source=_SOURCE,
    values=Choice(("always", "defer", "defer+madvise", "madvise", "never")),
)
DEFINITIONS = (ENABLED, DEFRAG)
