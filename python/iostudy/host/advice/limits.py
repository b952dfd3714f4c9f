"""How many files may be open: against what HDFS's daemons need."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.commands import joined, new_file_command, set_command
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import HOST, Certainty, Rule, Sighting
from iostudy.host.daemons import TUNED
from iostudy.host.limits import OPEN_FILES, Limit
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


def _daemons(facts: Facts) -> Iterator[Sighting]:
    for daemon in facts.host.daemons:
        limit = daemon.limits.get(OPEN_FILES)
        if daemon.role != TUNED and limit and _too_low(limit):
            wanted = f"--nofile={HADOOP_OPEN_FILES}:{_at_least(limit.hard)}"
            yield Sighting(
                subject=f"{daemon.role} ({daemon.pid})",
                found=str(limit),
                advised=f"soft {HADOOP_OPEN_FILES}",
                evidence=f"/proc/{daemon.pid}/limits",
                command=joined(["prlimit", "--pid", str(daemon.pid), wanted]),
            )


def _own(facts: Facts) -> Iterator[Sighting]:
    limit = facts.host.limits.get(OPEN_FILES)
    if limit and _too_low(limit) and not _hadoop_runs(facts):
        # "-" sets both, and would lower a hard limit that is high enough.
        kind = "soft" if limit.hard is None or limit.hard >= HADOOP_OPEN_FILES else "-"
        line = f"hdfs {kind} nofile {HADOOP_OPEN_FILES}\n"
        yield Sighting(
            subject=HOST,
            found=str(limit),
            advised=f"soft {HADOOP_OPEN_FILES} for the user of the data nodes",
            evidence="/proc/self/limits: this user's own, and no data node runs",
            command=new_file_command(line, "/etc/security/limits.d/90-hdfs-nofile.conf"),
        )


def _file_max(facts: Facts) -> Iterator[Sighting]:
    found = facts.host.sysctl("fs.file-max")
    if found is not None and found < HOST_OPEN_FILES:
        yield Sighting(
            subject=HOST,
            found=str(found),
            advised=f"at least {HOST_OPEN_FILES}",
            evidence="/proc/sys/fs/file-max",
            command=set_command(_FILE_MAX, HOST_OPEN_FILES),
        )


def _handles(facts: Facts) -> Iterator[Sighting]:
    fields = facts.host.sysctls.get("fs.file-nr", "").split()
    if len(fields) != 3 or not all(field.isdecimal() for field in fields):
        return
    allocated, free, most = map(int, fields)
    if most and (allocated - free) / most >= NEARLY_ALL_HANDLES:
        yield Sighting(
            subject=HOST,
            found=f"{format_percent((allocated - free) / most)} of {most} in use",
            advised=str(2 * most),
            evidence=f"/proc/sys/fs/file-nr: {allocated} {free} {most}",
            command=set_command(_FILE_MAX, 2 * most),
        )


def _instances(facts: Facts) -> Iterator[Sighting]:
    yield from _epoll(facts, _INSTANCES, EPOLL_INSTANCES)


def _watches(facts: Facts) -> Iterator[Sighting]:
    yield from _epoll(facts, _WATCHES, HADOOP_OPEN_FILES)


def _epoll(facts: Facts, key: str, least: int) -> Iterator[Sighting]:
    found = facts.host.sysctl(key)
    if found is not None and found < least:
        yield Sighting(
            subject=HOST,
            found=str(found),
            advised=f"at least {least}",
            evidence=f"/proc/sys/{key.replace('.', '/')}",
            command=set_command(f"sysctl.{key}", least),
        )


def _too_low(limit: Limit) -> bool:
    return limit.soft is not None and limit.soft < HADOOP_OPEN_FILES


def _at_least(hard: int | None) -> str:
    return "unlimited" if hard is None else str(max(hard, HADOOP_OPEN_FILES))


def _hadoop_runs(facts: Facts) -> bool:
    return any(daemon.role != TUNED for daemon in facts.host.daemons)


RULES = (
    Rule(
        id="file-handles-nearly-used",
        title="The host has hardly any file handles left",
        certainty=Certainty.FACT,
        setting=_FILE_MAX,
        why="Beyond fs.file-max opening a file fails with ENFILE, for every program.",
        source="Documentation/admin-guide/sysctl/fs.rst of the kernel, file-max and file-nr",
        check=_handles,
    ),
    Rule(
        id="hadoop-nofile",
        title="A running HDFS daemon may open few files",
        certainty=Certainty.RECOMMENDATION,
        setting=_NOFILE,
        why="A data node that reaches it fails transfers with 'Too many open files'. prlimit "
        "changes it until the daemon is started again; limits.d or its unit's LimitNOFILE keep "
        "it.",
        source=_NEED,
        check=_daemons,
    ),
    Rule(
        id="user-nofile",
        title="A data node started from here could open few files",
        certainty=Certainty.RECOMMENDATION,
        setting=_NOFILE,
        why="A data node that reaches it fails transfers with 'Too many open files'. It matters "
        "only if data nodes are to run here; a service has its own limit (LimitNOFILE).",
        source=f"{_NEED}; limits.conf(5)",
        check=_own,
    ),
    Rule(
        id="file-max",
        title="The host may open few files",
        certainty=Certainty.RECOMMENDATION,
        setting=_FILE_MAX,
        why="It is the sum for all programs, and a data node alone may want half of what is "
        "advised. Kernels since 4.x have plenty by default.",
        source=f"Documentation/admin-guide/sysctl/fs.rst of the kernel, file-max; {_NEED}",
        check=_file_max,
    ),
    Rule(
        id="epoll-instances",
        title="A user may have few epoll instances",
        certainty=Certainty.RECOMMENDATION,
        setting=f"sysctl.{_INSTANCES}",
        why="Kernels from 2.6.27.8 to 2.6.28 allow 128 a user, and each of Java's selectors is "
        "one: data nodes ran out. Later kernels have no such limit.",
        source='kernel commit 9df04e1f25ef, "epoll: drop max_user_instances and rely only on '
        'max_user_watches" (2.6.29); report R1',
        check=_instances,
    ),
    Rule(
        id="epoll-watches",
        title="A user may watch few files",
        certainty=Certainty.RECOMMENDATION,
        setting=f"sysctl.{_WATCHES}",
        why="Every connection that a Java server waits on is a watch; beyond the limit epoll_ctl "
        "fails with ENOSPC. The default is 4 % of low memory, and plenty on most hosts.",
        source="epoll(7), max_user_watches",
        check=_watches,
    ),
)
