"""Rules for write-back, swapping, reclaim and huge pages."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import (
    HOST,
    STREAMING_WRITES,
    AdviceRule,
    Certainty,
    Observation,
    set_command,
    study_command,
)
from iostudy.units import GIB

_VM = "Documentation/admin-guide/sysctl/vm.rst of the kernel"
_THP = "Documentation/admin-guide/mm/transhuge.rst of the kernel"
_DIRTY_RATIO = "sysctl.vm.dirty_ratio"
_SWAPPINESS = "sysctl.vm.swappiness"
_RECLAIM = "sysctl.vm.zone_reclaim_mode"
LARGE_DIRTY_BYTES = 6 * GIB
"""The writes of a disk of 200 MB/s in 30 s, the default of vm.dirty_expire_centisecs."""
CLOUDERA_MOST_SWAPPINESS = 10


def _dirty(facts: Facts) -> Iterator[Observation]:
    host, entry = facts.host, facts.place_to_measure
    ratio, memory_bytes = host.sysctl("vm.dirty_ratio"), host.memory_bytes
    # vm.dirty_bytes would set the limit instead.
    if not (entry and ratio and memory_bytes) or host.sysctl("vm.dirty_bytes"):
        return
    limit_bytes = memory_bytes * ratio // 100
    if limit_bytes <= LARGE_DIRTY_BYTES:
        return
    lower = max(1, ratio * LARGE_DIRTY_BYTES // limit_bytes)
    yield Observation(
        subject=HOST,
        found=f"{ratio} %, up to {limit_bytes / GIB:.1f} GiB",
        advised=f"{lower} %, if a study shows an advantage",
        evidence=f"memory: {memory_bytes / GIB:.1f} GiB, vm.dirty_bytes: 0",
        command=study_command(entry, _DIRTY_RATIO, (ratio, lower), STREAMING_WRITES),
    )


def _swappiness(facts: Facts) -> Iterator[Observation]:
    swappiness, on_disk = facts.host.sysctl("vm.swappiness"), facts.host.disk_swaps
    too_high = swappiness is not None and swappiness > CLOUDERA_MOST_SWAPPINESS
    if facts.host.runs_hadoop and too_high and on_disk:
        yield Observation(
            subject=HOST,
            found=str(swappiness),
            advised=f"1 to {CLOUDERA_MOST_SWAPPINESS}",
            evidence=f"/proc/swaps: {', '.join(map(str, on_disk))}",
            command=set_command(_SWAPPINESS, 1),
        )


def _zone_reclaim(facts: Facts) -> Iterator[Observation]:
    mode = facts.host.sysctl("vm.zone_reclaim_mode")
    if mode:
        yield Observation(
            subject=HOST,
            found=str(mode),
            advised="0",
            evidence="/proc/sys/vm/zone_reclaim_mode",
            command=set_command(_RECLAIM, 0),
        )


def _defrag(facts: Facts) -> Iterator[Observation]:
    if facts.host.thp_defrag == facts.host.thp_enabled == "always":
        yield Observation(
            subject=HOST,
            found="always",
            advised="madvise",
            evidence="/sys/kernel/mm/transparent_hugepage/defrag",
            command=set_command("thp.defrag", "madvise"),
        )


def _huge_pages(facts: Facts) -> Iterator[Observation]:
    entry = facts.place_to_measure
    if facts.host.thp_enabled == "always" and entry:
        levels = ("always", "madvise", "never")
        yield Observation(
            subject=HOST,
            found="always",
            advised="the fastest level in a study",
            evidence="/sys/kernel/mm/transparent_hugepage/enabled",
            command=study_command(entry, "thp.enabled", levels, STREAMING_WRITES),
        )


RULES = (
    AdviceRule(
        id="swappiness",
        title="The kernel swaps programs out in favour of the page cache",
        certainty=Certainty.RECOMMENDATION,
        setting=_SWAPPINESS,
        why="A swapped-out Java heap makes garbage collection pauses long. Cloudera advises this "
        "for hosts of Hadoop; a daemon of it runs here.",
        source="Cloudera, Setting the vm.swappiness Linux Kernel Parameter (1 to 10, preferably "
        f"1); {_VM}, swappiness",
        check=_swappiness,
    ),
    AdviceRule(
        id="zone-reclaim",
        title="The kernel evicts page cache to keep memory local",
        certainty=Certainty.RECOMMENDATION,
        setting=_RECLAIM,
        why="A NUMA node evicts cached files while other nodes have free memory. The kernel's "
        "manual advises against it for file servers and other workloads that benefit from "
        "caching. It is off by default since Linux 3.16.",
        source=f"{_VM}, zone_reclaim_mode",
        check=_zone_reclaim,
    ),
    AdviceRule(
        id="thp-defrag-always",
        title="Programs wait for memory compaction",
        certainty=Certainty.RECOMMENDATION,
        setting="thp.defrag",
        why="With always, a memory allocation stalls for direct reclaim and compaction until a "
        "huge page is free. The kernel's default is madvise since Linux 4.6; Cloudera advises "
        "against always on hosts of Hadoop.",
        source=f'{_THP}, "defrag"; Cloudera, Disabling Transparent Hugepages (THP)',
        check=_defrag,
    ),
    AdviceRule(
        id="dirty-limit-large-memory",
        title="Memory can hold more dirty data than a disk writes in a short time",
        certainty=Certainty.MEASURE,
        setting=_DIRTY_RATIO,
        why="Writers run at memory speed up to the limit, then at disk speed, and an fsync may "
        "wait for all dirty data. The limit is a share of available memory, so it grows with "
        "the host. A lower limit smooths write-back; with a higher limit short-lived files "
        "never reach a disk.",
        source=f"{_VM}, dirty_ratio, dirty_bytes and dirty_expire_centisecs",
        check=_dirty,
    ),
    AdviceRule(
        id="thp-always",
        title="All programs use huge pages",
        certainty=Certainty.MEASURE,
        setting="thp.enabled",
        why="Huge pages reduce page faults and TLB misses, but cost time to clear memory and CPU "
        "time of khugepaged. The balance depends on the program.",
        source=_THP,
        check=_huge_pages,
    ),
)
