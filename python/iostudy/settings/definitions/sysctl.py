"""Definitions of storage-related sysctls, and of any other sysctl by its key."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Reach, SettingDefinition, Switching
from iostudy.settings.sysctl_keys import BOUNDS, key_path, normalise_blanks, path_key
from iostudy.settings.values import Integer, NumberList, Size, TextLine, Values

PREFIX = "sysctl."
_INT_MAX = (1 << 31) - 1
_LONG_MAX = (1 << 63) - 1
_VM = "Documentation/admin-guide/sysctl/vm.rst"
_FS = "Documentation/admin-guide/sysctl/fs.rst"
_NET = "Documentation/admin-guide/sysctl/net.rst"
_TCP = "Documentation/networking/ip-sysctl.rst; net/ipv4/tcp.c"
# The least and the most of each: beyond, others on the host fail before the study ends. The kernel
# takes less: fs.file-max from 1, where it began with 8192 (NR_FILE); buffers below a page, with
# which connections stall; no cache pressure, with which memory runs out (vm.rst).
_WHOLE_HOST = "it applies to every process of the host"
_ON_NEXT_OPEN = Switching("a limit of what is opened next; a steady workload opens nothing")
_DIRTY = Switching("dirty memory passes the effect on to later levels for seconds to minutes")
_RECLAIM = Switching("the pages in memory pass the effect on to later levels for minutes")
_NEW_SOCKETS = Switching("an open connection keeps the buffers it has")
_BYTES = Size(4096, _INT_MAX)
_CENTISECONDS = Integer(0, _INT_MAX, "1/100 s")
_BUFFER_SIZES = NumberList(3, _BYTES)


@dataclass(frozen=True)
class KernelText(TextLine):
    """A value as sysctl(8) takes it: one number, several, or a line of text."""

    def parse(self, text: str) -> str:
        return super().parse(normalise_blanks(text.strip()))


_SWITCHING = Switching("its effect on a running workload is unknown")


@dataclass(frozen=True, kw_only=True)
class SysctlDefinition(SettingDefinition):
    """A setting that is a file below ``/proc/sys``.

    ``in_use`` is the key that counts how much of it is taken now, which a new value must leave room
    for. ``replaced_by`` is what kernels have that have not this key.
    """

    key: str
    in_use: str = ""
    replaced_by: str = ""
    reach: Reach = Reach.HOST
    switching: Switching = _SWITCHING
    caution: str = _WHOLE_HOST


def define_key(name: str) -> SysctlDefinition:
    """The definition of any key, ``sysctl.kernel.pid_max``; KeyError for what can be none."""
    try:
        key = path_key(key_path(name.removeprefix(PREFIX)))
    except ValueError as error:
        raise KeyError(name) from error
    if not name.startswith(PREFIX):
        raise KeyError(name)
    return DOCUMENTED.get(PREFIX + key) or SysctlDefinition(
        name=PREFIX + key,
        key=key,
        default="as the kernel or the distribution sets it",
        documentation=(
            "A kernel parameter without a definition in iostudy. iostudy first writes its current "
            "value, to verify that the kernel accepts it. Side effects are unknown."
        ),
        source="sysctl -a; Documentation/admin-guide/sysctl",
        values=BOUNDS.get(key) or KernelText("1 or 4096 87380 6291456"),
        undocumented=True,
    )


def _definition(
    key: str,
    values: Values,
    default: str,
    documentation: str,
    source: str,
    *,
    switching: Switching,
    caution: str = _WHOLE_HOST,
    in_use: str = "",
    replaced_by: str = "",
) -> SysctlDefinition:
    return SysctlDefinition(
        name=PREFIX + key,
        key=key,
        values=values,
        unit=getattr(values, "unit", "") or ("bytes" if isinstance(values, NumberList) else ""),
        default=default,
        documentation=documentation,
        source=source,
        switching=switching,
        caution=caution,
        in_use=in_use,
        replaced_by=replaced_by,
    )


DEFINITIONS = (
    _definition(
        "fs.file-max",
        Integer(8192, _LONG_MAX, "files"),
        "a tenth of the memory in KiB; without limit where systemd raises it",
        "Maximum number of open files of the whole host. The limits of each process "
        "(limit.nofile_*) are separate. It applies to unprivileged processes only.",
        f"{_FS} (file-max); fs/file_table.c",
        caution="processes fail to open files beyond it, so twice the number in use must fit",
        in_use="fs.file-nr",
        switching=_ON_NEXT_OPEN,
    ),
    _definition(
        "fs.epoll.max_user_watches",
        Integer(1024, _LONG_MAX, "watches"),
        "as many as fit in 4 % of the memory",
        "Maximum number of descriptors that a user watches with epoll, over all processes. "
        "Hadoop's servers watch one for each connection.",
        "epoll(7); Documentation/admin-guide/sysctl/fs.rst; fs/eventpoll.c",
        caution="a user with more watches already gets ENOSPC for each new one",
        switching=_ON_NEXT_OPEN,
    ),
    _definition(
        "fs.epoll.max_user_instances",
        Integer(128, _INT_MAX, "instances"),
        "128",
        "Maximum number of epoll instances of a user. Only Linux 2.6.28 (and kernels with its "
        "patches) had it.",
        "epoll(7)",
        caution="a user with more instances already gets EMFILE for each new one",
        replaced_by="fs.epoll.max_user_watches, which alone was kept after Linux 2.6.28",
        switching=_ON_NEXT_OPEN,
    ),
    _definition(
        "fs.aio-max-nr",
        Integer(1024, _LONG_MAX, "requests"),
        "65536",
        "Maximum number of asynchronous requests in all io_setup(2) contexts of the host.",
        f"{_FS} (aio-nr & aio-max-nr); fs/aio.c",
        caution="io_setup(2) of other processes fails beyond it, so twice the number in use must "
        "fit",
        in_use="fs.aio-nr",
        switching=_ON_NEXT_OPEN,
    ),
    _definition(
        "vm.dirty_ratio",
        Integer(1, 100, "% of available memory"),
        "20",
        "Dirty memory at which a writing process must write back itself. 0 while vm.dirty_bytes "
        "is in force; each of the two clears the other.",
        f"{_VM} (dirty_ratio); mm/page-writeback.c",
        switching=_DIRTY,
    ),
    _definition(
        "vm.dirty_background_ratio",
        Integer(0, 100, "% of available memory"),
        "10",
        "Dirty memory at which the kernel starts background write-back. 0 while "
        "vm.dirty_background_bytes is in force; each of the two clears the other.",
        f"{_VM} (dirty_background_ratio); mm/page-writeback.c",
        switching=_DIRTY,
    ),
    _definition(
        "vm.dirty_bytes",
        Size(2 * 4096),
        "0: vm.dirty_ratio is in force",
        "vm.dirty_ratio in bytes, for hosts where 1 % of memory is too much. At least two pages.",
        f"{_VM} (dirty_bytes); mm/page-writeback.c",
        switching=_DIRTY,
    ),
    _definition(
        "vm.dirty_background_bytes",
        Size(1),
        "0: vm.dirty_background_ratio is in force",
        "vm.dirty_background_ratio in bytes.",
        f"{_VM} (dirty_background_bytes); mm/page-writeback.c",
        switching=_DIRTY,
    ),
    _definition(
        "vm.dirty_expire_centisecs",
        _CENTISECONDS,
        "3000",
        "Age at which dirty data are written at the next write-back interval.",
        f"{_VM} (dirty_expire_centisecs)",
        switching=_DIRTY,
    ),
    _definition(
        "vm.dirty_writeback_centisecs",
        _CENTISECONDS,
        "500",
        "Interval at which the kernel looks for expired dirty data. 0 disables periodic "
        "write-back.",
        f"{_VM} (dirty_writeback_centisecs)",
        caution=f"{_WHOLE_HOST}; with 0, data without a sync may never reach the disk",
        switching=_DIRTY,
    ),
    _definition(
        "vm.swappiness",
        Integer(0, 200),
        "60",
        "Relative cost of swapping compared with file I/O: at 100 both cost the same, 0 swaps "
        "only to avoid running out of memory. Up to 100 before Linux 5.8.",
        f"{_VM} (swappiness)",
        switching=_RECLAIM,
    ),
    _definition(
        "vm.vfs_cache_pressure",
        Integer(1, 10_000, "%"),
        "100",
        "Tendency to reclaim memory of directory entries and inodes, relative to page cache. A "
        "lower value keeps more names in memory.",
        f"{_VM} (vfs_cache_pressure)",
        switching=_RECLAIM,
    ),
    _definition(
        "vm.zone_reclaim_mode",
        Integer(0, 7),
        "0 (1 on some large machines before Linux 3.16)",
        "Whether a NUMA node frees its own memory before it uses other nodes: the sum of 1 (on), "
        "2 (by write-back) and 4 (by swapping). It reduces the page cache; 0 suits storage.",
        f"{_VM} (zone_reclaim_mode)",
        switching=_RECLAIM,
    ),
    _definition(
        "net.core.netdev_max_backlog",
        Integer(64, 1_000_000, "packets"),
        "1000",
        "Maximum number of queued packets per CPU when a network card is faster than the kernel.",
        f"{_NET} (netdev_max_backlog)",
        switching=Switching(),
    ),
    _definition(
        "net.core.rmem_max",
        _BYTES,
        "212992 (4194304 since Linux 6.17)",
        "Maximum receive buffer of a socket (SO_RCVBUF). The kernel refuses less than one packet "
        "needs.",
        f"{_NET} (rmem_max); socket(7)",
        switching=_NEW_SOCKETS,
    ),
    _definition(
        "net.core.wmem_max",
        _BYTES,
        "212992 (4194304 since Linux 6.17)",
        "Maximum send buffer of a socket (SO_SNDBUF). The kernel refuses less than one packet "
        "needs.",
        f"{_NET} (wmem_max); socket(7)",
        switching=_NEW_SOCKETS,
    ),
    _definition(
        "net.ipv4.tcp_rmem",
        _BUFFER_SIZES,
        "4096 131072 6291456 (the last 33554432 since Linux 6.16), the last by the memory there is",
        "Minimum, default and maximum receive buffer of a TCP connection, between which the "
        "kernel tunes it. Three values, one level.",
        f"{_TCP}; tcp(7)",
        switching=_NEW_SOCKETS,
    ),
    _definition(
        "net.ipv4.tcp_wmem",
        _BUFFER_SIZES,
        "4096 16384 4194304, the last by the memory there is",
        "Minimum, default and maximum send buffer of a TCP connection. Three values, one level.",
        f"{_TCP}; tcp(7)",
        switching=_NEW_SOCKETS,
    ),
)
DOCUMENTED = {definition.name: definition for definition in DEFINITIONS}
