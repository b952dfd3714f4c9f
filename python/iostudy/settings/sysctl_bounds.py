"""Bounds of kernel parameters without a description, beyond which a host fails or stops.

The kernel takes far smaller or larger values of each. Source: Documentation/admin-guide/sysctl.
"""

from __future__ import annotations

from collections.abc import Mapping

from iostudy.settings.values import Integer, NumberList, Values

_INT_MAX = (1 << 31) - 1
_NEVER = Integer(0, 0)
"""A panic ends the study before it restores the host, so a study may only disable it."""

BOUNDS: Mapping[str, Values] = {
    "kernel.pid_max": Integer(32_768, 1 << 22),  # the default of small hosts; PID_MAX_LIMIT
    "kernel.threads-max": Integer(8192, _INT_MAX),  # of 20 threads, no login is possible
    "vm.max_map_count": Integer(65_530, _INT_MAX),  # DEFAULT_MAX_MAP_COUNT, which a JVM exceeds
    "vm.min_free_kbytes": Integer(1024, 262_144),  # "subtly broken" below; the kernel's own most
    "vm.overcommit_memory": Integer(0, 1),  # with 2 each fork may fail
    "fs.nr_open": Integer(65_536, _INT_MAX),
    "fs.inotify.max_user_instances": Integer(128, _INT_MAX),  # defaults, on which systemd counts
    "fs.inotify.max_user_watches": Integer(8192, _INT_MAX),
    "net.core.somaxconn": Integer(128, 65_535),
    "net.ipv4.tcp_mem": NumberList(3, Integer(4096, _INT_MAX)),  # pages; with 1, no packet is kept
    "kernel.hardlockup_panic": _NEVER,
    "kernel.hung_task_panic": _NEVER,
    "kernel.panic_on_rcu_stall": _NEVER,
    "kernel.panic_on_warn": _NEVER,
    "kernel.softlockup_panic": _NEVER,
    "vm.panic_on_oom": _NEVER,
}
