"""Rules for limits on open files and epoll, compared with the needs of HDFS."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.commands import format_command, new_file_command, set_command
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import HOST, AdviceRule, Certainty, Observation
from iostudy.host.daemons import TUNED
from iostudy.host.process_limits import OPEN_FILES, ResourceLimit
from iostudy.units import format_percent

HADOOP_OPEN_FILES = 32768
HOST_OPEN_FILES = 2 * HADOOP_OPEN_FILES
NEARLY_ALL_HANDLES = 0.8
EPOLL_INSTANCES = 4096
_NOFILE = "limit.nofile_soft"
_FILE_MAX = "sysctl.fs.file-max"
_WATCHES = "fs.epoll.max_user_watches"
_INSTANCES = "fs.epoll.max_user_instances"
_NEED = (
    "hdfs-default.xml, dfs.datanode.max.transfer.threads (4096, each with a socket, a block and "
    "its checksums open); Cloudera, Setting user limits for HBase; report R1"
)


def _daemons(facts: Facts) -> Iterator[Observation]:
    for daemon in facts.host.daemons:
        limit = daemon.limits.get(OPEN_FILES)
        if daemon.role != TUNED and limit and _too_low(limit):
            wanted = f"--nofile={HADOOP_OPEN_FILES}:{_at_least(limit.hard)}"
            yield Observation(
                subject=f"{daemon.role} ({daemon.pid})",
                found=str(limit),
                advised=f"soft {HADOOP_OPEN_FILES}",
                evidence=f"/proc/{daemon.pid}/limits",
                command=format_command(["prlimit", "--pid", str(daemon.pid), wanted]),
            )


def _own(facts: Facts) -> Iterator[Observation]:
    limit = facts.host.limits.get(OPEN_FILES)
    if limit and _too_low(limit) and not _hadoop_runs(facts):
        # "-" sets both, and would lower a hard limit that is high enough.
        kind = "soft" if limit.hard is None or limit.hard >= HADOOP_OPEN_FILES else "-"
        line = f"hdfs {kind} nofile {HADOOP_OPEN_FILES}\n"
        yield Observation(
            subject=HOST,
            found=str(limit),
            advised=f"soft {HADOOP_OPEN_FILES} for the user of the DataNodes",
            evidence="/proc/self/limits: this user's own, and no DataNode runs",
            command=new_file_command(line, "/etc/security/limits.d/90-hdfs-nofile.conf"),
        )


def _file_max(facts: Facts) -> Iterator[Observation]:
    found = facts.host.sysctl("fs.file-max")
    if found is not None and found < HOST_OPEN_FILES:
        yield Observation(
            subject=HOST,
            found=str(found),
            advised=f"at least {HOST_OPEN_FILES}",
            evidence="/proc/sys/fs/file-max",
            command=set_command(_FILE_MAX, HOST_OPEN_FILES),
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
            command=set_command(_FILE_MAX, 2 * most),
        )


def _instances(facts: Facts) -> Iterator[Observation]:
    yield from _epoll(facts, _INSTANCES, EPOLL_INSTANCES)


def _watches(facts: Facts) -> Iterator[Observation]:
    yield from _epoll(facts, _WATCHES, HADOOP_OPEN_FILES)


def _epoll(facts: Facts, key: str, least: int) -> Iterator[Observation]:
    found = facts.host.sysctl(key)
    if found is not None and found < least:
        yield Observation(
            subject=HOST,
            found=str(found),
            advised=f"at least {least}",
            evidence=f"/proc/sys/{key.replace('.', '/')}",
            command=set_command(f"sysctl.{key}", least),
        )


def _too_low(limit: ResourceLimit) -> bool:
    return limit.soft is not None and limit.soft < HADOOP_OPEN_FILES


def _at_least(hard: int | None) -> str:
    return "unlimited" if hard is None else str(max(hard, HADOOP_OPEN_FILES))


def _hadoop_runs(facts: Facts) -> bool:
    return any(daemon.role != TUNED for daemon in facts.host.daemons)


RULES = (
    AdviceRule(
        id="file-handles-nearly-used",
        title="The host has few file handles left",
        certainty=Certainty.FACT,
        setting=_FILE_MAX,
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
        id="user-nofile",
        title="A DataNode started by this user has a low limit on open files",
        certainty=Certainty.RECOMMENDATION,
        setting=_NOFILE,
        why="A DataNode at the limit fails transfers with 'Too many open files'. This matters "
        "only if DataNodes run on this host; a service has its own limit (LimitNOFILE).",
        source=f"{_NEED}; limits.conf(5)",
        check=_own,
    ),
    AdviceRule(
        id="file-max",
        title="The host has a low limit on open files",
        certainty=Certainty.RECOMMENDATION,
        setting=_FILE_MAX,
        why="The limit applies to all programs together, and one DataNode may need half of the "
        "advised value. Kernels since 4.x have a high default.",
        source=f"Documentation/admin-guide/sysctl/fs.rst of the kernel, file-max; {_NEED}",
        check=_file_max,
    ),
    AdviceRule(
        id="epoll-instances",
        title="A user has a low limit on epoll instances",
        certainty=Certainty.RECOMMENDATION,
        setting=f"sysctl.{_INSTANCES}",
        why="Kernels from 2.6.27.8 to 2.6.28 allow 128 per user, and each Java selector needs "
        "one: DataNodes reached the limit. Later kernels have no such limit.",
        source='kernel commit 9df04e1f25ef, "epoll: drop max_user_instances and rely only on '
        'max_user_watches" (2.6.29); report R1',
        check=_instances,
    ),
    AdviceRule(
        id="epoll-watches",
        title="A user has a low limit on epoll watches",
        certainty=Certainty.RECOMMENDATION,
        setting=f"sysctl.{_WATCHES}",
        why="Every connection of a Java server needs a watch; beyond the limit epoll_ctl fails "
        "with ENOSPC. The default is 4 % of low memory, enough on most hosts.",
        source="epoll(7), max_user_watches",
        check=_watches,
    ),
)
