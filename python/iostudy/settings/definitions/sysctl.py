"""Kernel parameters below ``/proc/sys``: those that matter to storage, and any other by its key."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.sysctl_bounds import BOUNDS
from iostudy.settings.sysctl_keys import key_of, normalised, path_of
from iostudy.settings.values import Line, Numbers, Size, Values, Whole

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
_WHOLE_HOST = "it holds for every process of the host"
_BYTES = Size(4096, _INT_MAX)
_CENTISECONDS = Whole(0, _INT_MAX, "1/100 s")
_BUFFER_SIZES = Numbers(3, _BYTES)


@dataclass(frozen=True)
class KernelText(Line):
    """A value as sysctl(8) takes it: one number, several, or a line of text."""

    def parse(self, text: str) -> str:
        """As `Line` does, with one blank between numbers."""
        return super().parse(normalised(text.strip()))


@dataclass(frozen=True, kw_only=True)
class SysctlDefinition(SettingDefinition):
    """A setting that is a file below ``/proc/sys``.

    ``in_use`` is the key that counts how much of it is taken now, which a new value must leave room
    for. ``replaced_by`` is what kernels have that have not this key. An ``undocumented`` one is
    first written as it is, to prove that the kernel takes it back.
    """

    key: str
    in_use: str = ""
    replaced_by: str = ""
    undocumented: bool = False
    reach: Reach = Reach.HOST
    caution: str = _WHOLE_HOST


def on_demand(name: str) -> SysctlDefinition:
    """The definition of any key, ``sysctl.kernel.pid_max``; KeyError for what can be none."""
    try:
        key = key_of(path_of(name.removeprefix(PREFIX)))
    except ValueError as error:
        raise KeyError(name) from error
    if not name.startswith(PREFIX):
        raise KeyError(name)
    return DOCUMENTED.get(PREFIX + key) or SysctlDefinition(
        name=PREFIX + key,
        key=key,
        default="as the kernel or the distribution sets it",
        documentation=(
            "A kernel parameter that iostudy has no description of. It is written as it is first, "
            "to see that the kernel would take it back; what else it changes is not known."
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
    caution: str = _WHOLE_HOST,
    in_use: str = "",
    replaced_by: str = "",
) -> SysctlDefinition:
    return SysctlDefinition(
        name=PREFIX + key,
        key=key,
        values=values,
        unit=getattr(values, "unit", "") or ("bytes" if isinstance(values, Numbers) else ""),
        default=default,
        documentation=documentation,
        source=source,
        caution=caution,
        in_use=in_use,
        replaced_by=replaced_by,
    )


DEFINITIONS = (
    _definition(
        "fs.file-max",
        Whole(8192, _LONG_MAX, "files"),
        "a tenth of the memory in KiB; without limit where systemd raises it",
        "How many files the whole host may have open. The limits of each process (limit.nofile_*) "
        "are apart from it. Only processes without privileges are held to it.",
        f"{_FS} (file-max); fs/file_table.c",
        caution="processes that may open no more files fail; so twice of what is open must fit",
        in_use="fs.file-nr",
    ),
    _definition(
        "fs.epoll.max_user_watches",
        Whole(1024, _LONG_MAX, "watches"),
        "as many as fit in 4 % of the memory",
        "How many descriptors a user may watch with epoll, over all processes. Hadoop's servers "
        "watch one for each connection.",
        "epoll(7); Documentation/admin-guide/sysctl/fs.rst; fs/eventpoll.c",
        caution="a user with more watches already gets ENOSPC for each new one",
    ),
    _definition(
        "fs.epoll.max_user_instances",
        Whole(128, _INT_MAX, "instances"),
        "128",
        "How many epoll instances a user may have. Linux 2.6.28 had it for its life of one release "
        "(and kernels patched like it).",
        "epoll(7)",
        caution="a user with more instances already gets EMFILE for each new one",
        replaced_by="fs.epoll.max_user_watches, which alone was kept after Linux 2.6.28",
    ),
    _definition(
        "fs.aio-max-nr",
        Whole(1024, _LONG_MAX, "requests"),
        "65536",
        "How many asynchronous requests all io_setup(2) contexts of the host together may hold.",
        f"{_FS} (aio-nr & aio-max-nr); fs/aio.c",
        caution="io_setup(2) of others fails beyond it; so twice of what is taken must fit",
        in_use="fs.aio-nr",
    ),
    _definition(
        "vm.dirty_ratio",
        Whole(1, 100, "% of available memory"),
        "20",
        "How much memory may be dirty before a process that writes has to write out itself. 0 "
        "while vm.dirty_bytes holds instead; to write one clears the other.",
        f"{_VM} (dirty_ratio); mm/page-writeback.c",
    ),
    _definition(
        "vm.dirty_background_ratio",
        Whole(0, 100, "% of available memory"),
        "10",
        "How much memory may be dirty before the kernel begins to write out by itself. 0 while "
        "vm.dirty_background_bytes holds instead; to write one clears the other.",
        f"{_VM} (dirty_background_ratio); mm/page-writeback.c",
    ),
    _definition(
        "vm.dirty_bytes",
        Size(2 * 4096),
        "0: vm.dirty_ratio holds",
        "vm.dirty_ratio as an amount, for hosts with so much memory that 1 % is too much. At least "
        "two pages of the machine.",
        f"{_VM} (dirty_bytes); mm/page-writeback.c",
    ),
    _definition(
        "vm.dirty_background_bytes",
        Size(1),
        "0: vm.dirty_background_ratio holds",
        "vm.dirty_background_ratio as an amount.",
        f"{_VM} (dirty_background_bytes); mm/page-writeback.c",
    ),
    _definition(
        "vm.dirty_expire_centisecs",
        _CENTISECONDS,
        "3000",
        "How old dirty data are when the kernel writes them out at its next round.",
        f"{_VM} (dirty_expire_centisecs)",
    ),
    _definition(
        "vm.dirty_writeback_centisecs",
        _CENTISECONDS,
        "500",
        "How often the kernel looks for dirty data that are old enough. 0: never by itself.",
        f"{_VM} (dirty_writeback_centisecs)",
        caution=f"{_WHOLE_HOST}; with 0, what is not synced may never reach the disk",
    ),
    _definition(
        "vm.swappiness",
        Whole(0, 200),
        "60",
        "What it costs to swap, beside reading files again: 100 is alike, 0 swaps only to avoid "
        "running out of memory. Up to 100 before Linux 5.8.",
        f"{_VM} (swappiness)",
    ),
    _definition(
        "vm.vfs_cache_pressure",
        Whole(1, 10_000, "%"),
        "100",
        "How readily memory for directory entries and inodes is taken back, beside that for data. "
        "Less keeps more names in memory.",
        f"{_VM} (vfs_cache_pressure)",
    ),
    _definition(
        "vm.zone_reclaim_mode",
        Whole(0, 7),
        "0 (1 on some large machines before Linux 3.16)",
        "Whether a NUMA node frees its own memory before it takes another's: the sum of 1 (on), 2 "
        "(by writing out) and 4 (by swapping). Page cache suffers; 0 suits storage.",
        f"{_VM} (zone_reclaim_mode)",
    ),
    _definition(
        "net.core.netdev_max_backlog",
        Whole(64, 1_000_000, "packets"),
        "1000",
        "How many packets may wait on a CPU when a network card is faster than the kernel.",
        f"{_NET} (netdev_max_backlog)",
    ),
    _definition(
        "net.core.rmem_max",
        _BYTES,
        "212992 (4194304 since Linux 6.17)",
        "The largest receive buffer that a program may ask for (SO_RCVBUF). The kernel refuses "
        "less than it needs for one packet.",
        f"{_NET} (rmem_max); socket(7)",
    ),
    _definition(
        "net.core.wmem_max",
        _BYTES,
        "212992 (4194304 since Linux 6.17)",
        "The largest send buffer that a program may ask for (SO_SNDBUF). The kernel refuses less "
        "than it needs for one packet.",
        f"{_NET} (wmem_max); socket(7)",
    ),
    _definition(
        "net.ipv4.tcp_rmem",
        _BUFFER_SIZES,
        "4096 131072 6291456 (the last 33554432 since Linux 6.16), the last by the memory there is",
        "Least, first and largest receive buffer of a TCP connection, which the kernel tunes by "
        "itself between them. Three values, one level.",
        f"{_TCP}; tcp(7)",
    ),
    _definition(
        "net.ipv4.tcp_wmem",
        _BUFFER_SIZES,
        "4096 16384 4194304, the last by the memory there is",
        "Least, first and largest send buffer of a TCP connection. Three values, one level.",
        f"{_TCP}; tcp(7)",
    ),
)
DOCUMENTED = {definition.name: definition for definition in DEFINITIONS}
