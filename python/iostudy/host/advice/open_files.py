"""Rules for limits on open files and epoll, compared with the needs of HDFS."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import (
    HOST,
    AdviceRule,
    Certainty,
    Observation,
    format_command,
    set_command,
)
from iostudy.host.processes import OPEN_FILES, TUNED
from iostudy.units import format_percent

HADOOP_OPEN_FILES = 32768
HOST_OPEN_FILES = 2 * HADOOP_OPEN_FILES
NEARLY_ALL_HANDLES = 0.8
_NOFILE = "limit.nofile_soft"
_FILE_MAX = "fs.file-max"
_WATCHES = "fs.epoll.max_user_watches"
_NEED = (
    "hdfs-default.xml, dfs.datanode.max.transfer.threads (4096, each with a socket, a block and "
    "its checksums open); Cloudera, Setting user limits for HBase; report R1"
)


def _daemons(facts: Facts) -> Iterator[Observation]:
    for daemon in facts.host.daemons:
        limit = daemon.limits.get(OPEN_FILES)
        if daemon.role == TUNED or limit is None or limit.soft is None:
            continue
        if limit.soft < HADOOP_OPEN_FILES:
            hard = "unlimited" if limit.hard is None else max(limit.hard, HADOOP_OPEN_FILES)
            wanted = f"--nofile={HADOOP_OPEN_FILES}:{hard}"
            yield Observation(
                subject=f"{daemon.role} ({daemon.pid})",
                found=str(limit),
                advised=f"soft {HADOOP_OPEN_FILES}",
                evidence=f"/proc/{daemon.pid}/limits",
                command=format_command(["prlimit", "--pid", str(daemon.pid), wanted]),
            )


def _low(facts: Facts, key: str, least: int) -> Iterator[Observation]:
    """Observe a sysctl below the least useful value."""
    limit = facts.host.sysctl(key)
    if limit is not None and limit < least:
        yield Observation(
            subject=HOST,
            found=str(limit),
            advised=f"at least {least}",
            evidence=f"/proc/sys/{key.replace('.', '/')}",
            command=set_command(f"sysctl.{key}", least),
        )


def _handles(facts: Facts) -> Iterator[Observation]:
    fields = facts.host.sysctls.get("fs.file-nr", "").split()
    if len(fields) != 3 or not all(field.isdecimal() for field in fields):
        return
    allocated, free, most = map(int, fields)
    if most and (allocated - free) / most >= NEARLY_ALL_HANDLES:
        yield Observation(
            subject=HOST,
            found=f"{format_percent((allocated - free) / most)} of {most} in use",
            advised=str(2 * most),
            evidence=f"/proc/sys/fs/file-nr: {allocated} {free} {most}",
            command=set_command(f"sysctl.{_FILE_MAX}", 2 * most),
        )


RULES = (
    AdviceRule(
        id="file-handles-nearly-used",
        title="The host has few file handles left",
        certainty=Certainty.FACT,
        setting=f"sysctl.{_FILE_MAX}",
        why="Beyond fs.file-max every program fails to open files with ENFILE.",
        source="Documentation/admin-guide/sysctl/fs.rst of the kernel, file-max and file-nr",
        check=_handles,
    ),
    AdviceRule(
        id="hadoop-nofile",
        title="A running HDFS daemon has a low limit on open files",
        certainty=Certainty.RECOMMENDATION,
        setting=_NOFILE,
        why="A DataNode at the limit fails transfers with 'Too many open files'. prlimit changes "
        "the limit until the next restart of the daemon; limits.d or LimitNOFILE of its unit "
        "make it permanent.",
        source=_NEED,
        check=_daemons,
    ),
    AdviceRule(
        id="file-max",
        title="The host has a low limit on open files",
        certainty=Certainty.RECOMMENDATION,
        setting=f"sysctl.{_FILE_MAX}",
        why="The limit applies to all programs together, and one DataNode may need half of the "
        "advised value. The kernel's default is one file for 10 KiB of memory, so only a small "
        "host or a file of sysctl.d has less.",
        source=f"Documentation/admin-guide/sysctl/fs.rst of the kernel, file-max; {_NEED}",
        check=partial(_low, key=_FILE_MAX, least=HOST_OPEN_FILES),
    ),
    AdviceRule(
        id="epoll-watches",
        title="A user has a low limit on epoll watches",
        certainty=Certainty.RECOMMENDATION,
        setting=f"sysctl.{_WATCHES}",
        why="Every connection of a Java server needs a watch; beyond the limit epoll_ctl fails "
        "with ENOSPC. The default is 4 % of low memory, enough on most hosts. It concerns hosts of "
        "Java servers.",
        source="epoll(7), max_user_watches",
        check=partial(_low, key=_WATCHES, least=HADOOP_OPEN_FILES),
    ),
)
