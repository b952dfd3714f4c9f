"""Lines of sysctl.d and sysctl.conf.

A later line replaces an earlier one of the same key, and a key its patterns, in whichever file
either stands. Source: sysctl.d(5), sysctl.conf(5), and the behaviour of systemd 252.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from iostudy.host.configuration.assignment import (
    BYTE_ORDER_MARK,
    MARKED,
    Assignment,
    ConfigurationLine,
    Stage,
    content_lines,
    effective_files,
    host_path,
)
from iostudy.host.files import Reader

_SYSCTL = re.compile(r"-?\s*(?P<key>[^\s=]+)\s*=\s*(?P<value>.*?)\s*|-\s*(?P<cancelled>[^\s=]+)\s*")
_SWAPPED = str.maketrans("./", "/.")
_NOT_LINKED = "nothing reads this file at boot: no link to it is in sysctl.d"


def parse_sysctl(text: str) -> Iterator[tuple[ConfigurationLine, str, str | None]]:
    """Return every ``key = value``, with dots between the key's parts.

    A key may use slashes; if its first separator is one, dots are parts of names. A value of None
    stands for ``-key``, which takes earlier values back and exempts the key from patterns.
    """
    for line in content_lines(text, comments="#;"):
        match = _SYSCTL.fullmatch(line.text.removeprefix(BYTE_ORDER_MARK))
        if match:
            yield line, dotted(match["key"] or match["cancelled"]), match["value"]


def dotted(key: str) -> str:
    """``net/ipv4/conf/eth0.1/x`` -> ``net.ipv4.conf.eth0/1.x``; a key with dots stays."""
    separators = re.search(r"[./]", key)
    if separators and separators[0] == "/":
        return key.translate(_SWAPPED)
    return key


def sysctl_path(key: str) -> str:
    """``net.ipv4.conf.eth0/1.x`` -> ``/proc/sys/net/ipv4/conf/eth0.1/x``."""
    return f"/proc/sys/{dotted(key).translate(_SWAPPED)}"


def read_sysctl(reader: Reader) -> Iterator[Assignment]:
    """Yield the lines of sysctl.d, then those of /etc/sysctl.conf, which procps reads last."""
    last = reader.root / "etc/sysctl.conf"
    linked = effective_files(reader.root, "sysctl.d", ".conf")
    is_read = os.path.realpath(last) in map(os.path.realpath, linked)
    for file in _each_once([*linked, last]):
        unread = _NOT_LINKED if file == last and not is_read else ""
        for line, key, value in parse_sysctl(reader.text(file) or ""):
            yield Assignment(
                *(host_path(file, reader.root), line.first, line.last, key, value or "", line.text),
                path=sysctl_path(key),
                stage=Stage.SYSCTL,
                cancels=value is None,
                ineffective=unread or (MARKED if line.text[0] == BYTE_ORDER_MARK else ""),
            )


def _each_once(files: list[Path]) -> list[Path]:
    """Debian links 99-sysctl.conf to sysctl.conf; it is one file."""
    return list({os.path.realpath(file): file for file in files}.values())
