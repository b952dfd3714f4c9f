"""Port assignment for daemons: the port of a property, else a free one."""

from __future__ import annotations

from collections import Counter

from iostudy.errors import UsageError
from iostudy_hadoop.local import ports
from iostudy_hadoop.local.layout import ADDRESSES, SHUFFLE_PORT, ClusterDaemon, ClusterLayout, Ports


def assign_ports(layout: ClusterLayout) -> Ports:
    """Return the fixed ports, and others that are free now; another process may still take one.

    UsageError if a fixed address is not on the loopback interface, or a port is that of two.
    """
    wanted = _list_addresses(layout)
    fixed = {(daemon, name): _fixed(layout, daemon, name) for daemon, name in wanted}
    taken = Counter(port for port in fixed.values() if port)
    for (_, name), port in fixed.items():
        if taken[port] > 1:
            raise _refused(name, layout.spec.properties[name], "another address has that port")
    free = iter(ports.free(len(wanted)))
    chosen: dict[str, dict[str, int]] = {daemon.name: {} for daemon in layout.daemons()}
    for daemon, name in wanted:
        port = fixed[daemon, name] or next(
            candidate for candidate in free if candidate not in taken
        )
        chosen[daemon.name][name] = port
    return chosen


def require_free(layout: ClusterLayout) -> None:
    """ClusterError if a program of this host listens on a fixed port that a daemon needs.

    Nobody else listens in a network namespace of the cluster.
    """
    if layout.namespace is not None:
        return
    for daemon, name in _list_addresses(layout):
        if port := _fixed(layout, daemon, name):
            ports.require_free(f"the {daemon.name} ({name})", port)


def _list_addresses(layout: ClusterLayout) -> list[tuple[ClusterDaemon, str]]:
    return [(daemon, name) for daemon in layout.daemons() for name in ADDRESSES[daemon.role]]


def _fixed(layout: ClusterLayout, daemon: ClusterDaemon, name: str) -> int:
    """Return the port that the properties fix; 0 for any."""
    value = layout.spec.properties.get(name)
    if value is None:
        return 0
    host, _, port = value.rpartition(":")
    hosts = ("",) if name == SHUFFLE_PORT else (ports.LOOPBACK, "localhost")
    if host not in hosts or not port.isdecimal() or int(port) > ports.LAST:
        raise _refused(name, value, "it listens on no other address than 127.0.0.1")
    if int(port) and sum(other.role is daemon.role for other in layout.daemons()) > 1:
        raise _refused(name, value, f"one port for {layout.spec.datanodes} daemons")
    return int(port)


def _refused(name: str, value: str, found: str) -> UsageError:
    example = "13562" if name == SHUFFLE_PORT else f"{ports.LOOPBACK}:9000"
    return UsageError(
        f"an address for {name}, such as {example}",
        found=f"{value}: {found}",
        where="the cluster's properties",
        remedy="leave it out, and a free port is taken",
    )
