"""Transparent huge pages."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Reach, SettingDefinition, Switching
from iostudy.settings.values import Choice

_SOURCE = "Documentation/admin-guide/mm/transhuge.rst; mm/huge_memory.c"

_SWITCHING = Switching("mapped memory keeps its pages; only new page faults use the value")


@dataclass(frozen=True, kw_only=True)
class HugePageDefinition(SettingDefinition):
    """A setting that is the file ``attribute`` of ``/sys/kernel/mm/transparent_hugepage``."""

    attribute: str
    reach: Reach = Reach.HOST
    switching: Switching = _SWITCHING
    caution: str = "it applies to every process of the host"


ENABLED = HugePageDefinition(
    name="thp.enabled",
    attribute="enabled",
    default="always or madvise, as the kernel is built",
    documentation=(
        "Use of 2 MiB pages (on x86) for ordinary memory: always, after a program's advice "
        "(madvise), or never. Hadoop's vendors recommend never, because of the pauses for "
        "compaction. Turning it on raises vm.min_free_kbytes, and turning it off lowers it; "
        "iostudy restores that value as well."
    ),
    source=_SOURCE,
    values=Choice(("always", "madvise", "never")),
)
DEFRAG = HugePageDefinition(
    name="thp.defrag",
    attribute="defrag",
    default="madvise (always before Linux 4.6)",
    documentation=(
        "Behaviour if no huge page is free: with always the program waits for compaction, defer "
        "leaves it to kernel threads, with defer+madvise only programs with madvise wait, with "
        "madvise the others do not wait, never uses only free pages."
    ),
    source=_SOURCE,
    values=Choice(("always", "defer", "defer+madvise", "madvise", "never")),
)
DEFINITIONS = (ENABLED, DEFRAG)
