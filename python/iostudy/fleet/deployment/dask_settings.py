"""Settings of Dask for a fleet: mutual TLS, and processes that do next to nothing by themselves."""

from __future__ import annotations

from typing import Any

from distributed.security import Security

from iostudy.fleet.deployment.certificates import Identity

QUIET: dict[str, Any] = {
    "distributed.comm.timeouts.tcp": "10m",
    "distributed.scheduler.worker-ttl": None,
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.admin.tick.interval": "5s",
    "distributed.scheduler.idle-timeout": None,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
}
"""No profiler, monitor or page on nodes under test.

Calls are no tasks, so the scheduler seems idle. A connection outlives a network that is cut for
some time: leases say when a node is lost.
"""


def build_security(identity: Identity) -> Security:
    """Encryption with a certificate at both ends, each signed by the authority of this run."""
    roles = ("client", "scheduler", "worker")
    certificates = {f"tls_{role}_cert": identity.certificate for role in roles}
    keys = {f"tls_{role}_key": identity.key for role in roles}
    return Security(require_encryption=True, tls_ca_file=identity.authority, **certificates, **keys)
