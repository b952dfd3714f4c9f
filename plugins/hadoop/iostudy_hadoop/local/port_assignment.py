"""Port assignment for daemons: the port of a property, else a free one."""

from __future__ import annotations

from iostudy.errors import UsageError
from iostudy_hadoop.local import ports
from iostudy_hadoop.local.layout import ADDRESSES, SHUFFLE_PORT, ClusterDaemon, ClusterLayout, Ports


def assign_ports(layout: ClusterLayout) -> Ports:
    """Return ports that are free now; another process may still take one.

    ClusterError if a fixed port is in use. UsageError if its address is not on the loopback
    interface, or belongs to several daemons.
    """
    wanted = [(daemon, name) for daemon in layout.daemons() for name in ADDRESSES[daemon.role]]
    fixed = {(daemon, name): _fixed(layout, daemon, name) for daemon, name in wanted}
    for (daemon, name), port in fixed.items():
        if port:
            ports.require_free(f"the {daemon.name} ({name})", port)
    free = iter(ports.free(len(wanted)))
    taken = set(fixed.values())
    chosen: dict[str, dict[str, int]] = {daemon.name: {} for daemon in layout.daemons()}
    for daemon, name in wanted:
        port = fixed[daemon, name] or next(
            candidate for candidate in free if candidate not in taken
        )
        chosen[daemon.name][name] = port
    return chosen


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
