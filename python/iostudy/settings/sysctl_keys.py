"""Names, value formats and bounds of sysctls, their namespaces, and which cannot be restored.

A key is written as sysctl(8) does: ``vm.dirty_ratio``, with a slash for a dot inside a part
(``net.ipv4.conf.eth0/100.rp_filter``), or as a path (``net/ipv4/conf/eth0.100/rp_filter``).

Source: sysctl(8), sysctl.d(5), proc_sys(5); Documentation/admin-guide/sysctl of the kernel.

The kernel takes values far beyond the bounds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase

from iostudy.settings.values import Integer, NumberList, Values

FOLDERS = frozenset(
    {"abi", "crypto", "debug", "dev", "fs", "kernel", "net", "sunrpc", "user", "vm"}
)
"""Folders of ``/proc/sys``, with which every key begins."""

_LONGEST = 255
"""Bytes of a file name (path_resolution(7)); no whole key comes near."""
_SWAPPED = str.maketrans("./", "/.")
_DOES_SOMETHING = "a write triggers an action, and there is no previous value"
_ONE_WAY = "the kernel allows one direction only, until the next boot"
_SPREADS = "a write changes every interface, whatever its previous value"
_RESETS = "a change resets other network settings and addresses"

_IRREVERSIBLE = {
    "vm/drop_caches": _DOES_SOMETHING,
    "vm/compact_memory": _DOES_SOMETHING,
    "vm/stat_refresh": _DOES_SOMETHING,
    "net/ipv[46]/route/flush": _DOES_SOMETHING,
    "fs/binfmt_misc/*": _DOES_SOMETHING,
    "kernel/ns_last_pid": "the kernel increments it",
    "kernel/*_next_id": "it applies to the next object only",
    "kernel/tainted": _ONE_WAY,
    "kernel/watchdog": "it also sets kernel.nmi_watchdog and kernel.soft_watchdog",
    "kernel/modules_disabled": _ONE_WAY,
    "kernel/kexec_load_*": _ONE_WAY,
    "kernel/unprivileged_bpf_disabled": _ONE_WAY,
    "kernel/yama/ptrace_scope": _ONE_WAY,
    "kernel/usermodehelper/*": _ONE_WAY,
    "kernel/cap-bound": _ONE_WAY,
    "net/ipv4/ip_forward": _RESETS,
    "net/ipv[46]/conf/*/forwarding": _RESETS,
    "net/ipv6/conf/*/disable_ipv6": _RESETS,
    "net/ipv6/conf/*/addr_gen_mode": _SPREADS,
    "net/ipv6/conf/*/force_forwarding": _SPREADS,
    "net/ipv6/conf/*/ignore_routes_with_linkdown": _SPREADS,
}

_NAMESPACES = {
    "net/*": "net",
    "fs/mqueue/*": "ipc",
    "kernel/auto_msgmni": "ipc",
    "kernel/msg*": "ipc",
    "kernel/sem": "ipc",
    "kernel/shm*": "ipc",
}
"""Of these each namespace has its own. Source: net_namespaces(7), ipc_namespaces(7)."""

RATIO_OF = {
    "vm.dirty_bytes": "vm.dirty_ratio",
    "vm.dirty_background_bytes": "vm.dirty_background_ratio",
    "vm.overcommit_kbytes": "vm.overcommit_ratio",
}
"""An amount, and the percentage for the same: to write one of them makes the other 0."""

COUNTERPARTS = RATIO_OF | {ratio: amount for amount, ratio in RATIO_OF.items()}
"""Each of these keys and the one that it clears."""


def key_path(key: str) -> str:
    """Return the path below ``/proc/sys``; ValueError if the key is invalid.

    If the first separator is a slash, dots are part of names, except in the first name, which
    contains no dot in any kernel. Keys and paths are therefore distinguishable.
    """
    first = next((letter for letter in key if letter in "./"), "")
    path = key.translate(_SWAPPED) if first == "." else key
    parts = path.split("/")
    is_key = len(parts) > 1 and "." not in parts[0] and all(map(_is_name, parts))
    if not is_key or len(os.fsencode(path)) > _LONGEST:
        raise ValueError("not a sysctl: names with dots between them, such as vm.dirty_ratio")
    return path


def path_key(path: str) -> str:
    """Return the dotted key of a path, the inverse of `key_path`."""
    return path.translate(_SWAPPED)


def irreversibility_reason(key: str) -> str | None:
    """Return why a writable key cannot be restored; None if it can."""
    path = key_path(key)
    reasons = (why for glob, why in _IRREVERSIBLE.items() if fnmatchcase(path, glob))
    return next(reasons, None)


def find_namespace(key: str) -> str | None:
    """Return the kind of namespace that has its own value of a key; None for the whole host."""
    path = key_path(key)
    kinds = (kind for glob, kind in _NAMESPACES.items() if fnmatchcase(path, glob))
    return next(kinds, None)


def normalise_blanks(text: str) -> str:
    """Separate numbers by one blank instead of tabs; leave other text unchanged."""
    parts = text.split()
    numbers = all(part.removeprefix("-").isdecimal() for part in parts)
    return " ".join(parts) if parts and numbers else text


def _is_name(part: str) -> bool:
    blank = any(letter.isspace() for letter in part)
    return part not in ("", ".", "..") and part.isprintable() and not blank


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
