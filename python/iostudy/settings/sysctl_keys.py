"""Names of sysctls, the form of their values, and which of them cannot be put back.

A key is written as sysctl(8) does: ``vm.dirty_ratio``, with a slash for a dot inside a part
(``net.ipv4.conf.eth0/100.rp_filter``), or as a path (``net/ipv4/conf/eth0.100/rp_filter``).

Source: sysctl(8), sysctl.d(5), proc_sys(5); Documentation/admin-guide/sysctl of the kernel.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

_LONGEST = 255
"""Bytes of a file name (path_resolution(7)); no whole key comes near."""
_SWAPPED = str.maketrans("./", "/.")
_DOES_SOMETHING = "writing it does something at once, and nothing tells what was there before"
_ONE_WAY = "the kernel lets it go one way only, until the host is started anew"
_SPREADS = "what is written there goes to every interface, whatever that had"
_RESETS = "the kernel resets other network settings and addresses when it changes"

_IRREVERSIBLE = {
    "vm/drop_caches": _DOES_SOMETHING,
    "vm/compact_memory": _DOES_SOMETHING,
    "vm/stat_refresh": _DOES_SOMETHING,
    "net/ipv[46]/route/flush": _DOES_SOMETHING,
    "fs/binfmt_misc/*": _DOES_SOMETHING,
    "kernel/ns_last_pid": "it counts on by itself",
    "kernel/*_next_id": "it holds for the next one only",
    "kernel/tainted": _ONE_WAY,
    "kernel/watchdog": "it sets kernel.nmi_watchdog and kernel.soft_watchdog alike",
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

RATIO_OF = {
    "vm.dirty_bytes": "vm.dirty_ratio",
    "vm.dirty_background_bytes": "vm.dirty_background_ratio",
    "vm.overcommit_kbytes": "vm.overcommit_ratio",
}
"""An amount, and the percentage for the same: to write one of them makes the other 0."""

COUNTERPARTS = RATIO_OF | {ratio: amount for amount, ratio in RATIO_OF.items()}
"""Each of these keys and the one that it clears."""


def path_of(key: str) -> str:
    """The path below ``/proc/sys``; ValueError for what cannot be a key.

    Where the first separator is a slash, dots are part of the names (but of the first, which has
    none in any kernel, so that key and path tell one another).
    """
    first = next((letter for letter in key if letter in "./"), "")
    path = key.translate(_SWAPPED) if first == "." else key
    parts = path.split("/")
    is_key = len(parts) > 1 and "." not in parts[0] and all(map(_is_name, parts))
    if not is_key or len(os.fsencode(path)) > _LONGEST:
        raise ValueError("not a sysctl: names with dots between them, such as vm.dirty_ratio")
    return path


def key_of(path: str) -> str:
    """The key with dots that `path_of` makes this path of."""
    return path.translate(_SWAPPED)


def irreversible(key: str) -> str | None:
    """Why a key that the kernel would take cannot be put back; None where it can."""
    path = path_of(key)
    reasons = (why for glob, why in _IRREVERSIBLE.items() if fnmatchcase(path, glob))
    return next(reasons, None)


def normalised(text: str) -> str:
    """Numbers with one blank between them where the kernel has tabs; other text as it is."""
    parts = text.split()
    numbers = all(part.removeprefix("-").isdecimal() for part in parts)
    return " ".join(parts) if parts and numbers else text


def _is_name(part: str) -> bool:
    blank = any(letter.isspace() for letter in part)
    return part not in ("", ".", "..") and part.isprintable() and not blank
