"""Free TCP ports of this machine, and the owners of used ones.

Ports lie outside the kernel's range for outgoing connections (ip(7), ip_local_port_range): HDFS
opens many of those, and a restarted daemon needs its port again.
"""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from pathlib import Path

from iostudy.errors import ClusterError
from iostudy.host.files import read_text

LOOPBACK = "127.0.0.1"

_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
LAST = 65_535

_FIRST = 10_000
_LISTEN = "0A"
"""The state of a listening socket in /proc/net/tcp (include/net/tcp_states.h)."""


def free(count: int) -> tuple[int, ...]:
    """Return that number of free ports; ClusterError if there are fewer."""
    candidates = _candidates()
    random.shuffle(candidates)
    ports: list[int] = []
    for port in candidates:
        if len(ports) == count:
            break
        if is_free(port):
            ports.append(port)
    if len(ports) < count:
        raise ClusterError(
            f"{count} free TCP ports for Hadoop's daemons",
            found=f"{len(ports)} from {_FIRST} to {LAST}",
            where=LOOPBACK,
            remedy="end the programs that listen on so many ports, or take fewer DataNodes",
        )
    return tuple(ports)


def is_free(port: int) -> bool:
    """Whether a daemon can listen on the port now."""
    with socket.socket() as probe:
        # As Java does: what only waits for its last packets does not keep a port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def require_free(name: str, port: int) -> None:
    """ClusterError with the owner, if visible, unless the port is free."""
    if is_free(port):
        return
    holder = _holder(port)
    raise ClusterError(
        f"{name} on port {port}",
        found=f"{holder or 'another program, which this user cannot see,'} listens there",
        where=f"{LOOPBACK}:{port}",
        remedy="end that program, or leave the address out of the properties: a free one is taken",
    )


def _candidates() -> list[int]:
    low, high = map(int, _OUTGOING.read_text("ascii").split())
    outside = [*range(_FIRST, low), *range(high + 1, LAST + 1)]
    return outside or list(range(_FIRST, LAST + 1))


def _holder(port: int) -> str:
    """Return the program and pid of a socket's inode (proc(5)); empty if hidden."""
    wanted = {f"socket:[{inode}]" for inode in _listening(port)}
    for process in Path("/proc").glob("[0-9]*"):
        # It may end while it is looked at.
        with suppress(FileNotFoundError):
            if _opened(process) & wanted and (name := read_text(process / "comm")):
                return f"{name} (pid {process.name})"
    return ""


def _opened(process: Path) -> set[str]:
    """Return the targets of its descriptors; none for another user's process."""
    targets = set()
    try:
        for link in (process / "fd").iterdir():
            # One may be closed meanwhile: that of the listing itself always is.
            with suppress(FileNotFoundError):
                targets.add(str(link.readlink()))
    except OSError:
        return set()
    return targets


def _listening(port: int) -> set[str]:
    """Return the inodes of the sockets that listen on the port."""
    inodes = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        lines = table.read_text().splitlines()[1:] if table.exists() else []
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(fields[9])
    return inodes
