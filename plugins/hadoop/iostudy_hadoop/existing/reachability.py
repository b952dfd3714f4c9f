"""Quick checks, without a JVM, that a cluster is reachable and that the user has access."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from iostudy.errors import ClusterError
from iostudy_hadoop.command import CommandFailedError, CommandLimits, run_command
from iostudy_hadoop.namespace import Address, Namespace

_CONNECT_SECONDS = 3.0
_KLIST_LIMITS = CommandLimits(seconds=10, silence_seconds=10)


def require_listening(
    addresses: Sequence[str], namespace: Namespace | None = None, *, daemon: str = "NameNode"
) -> None:
    """ClusterError unless one of these addresses (host:port) accepts a connection."""
    failures = []
    for address in addresses:
        failure = _refusal(Address(address, namespace))
        if failure is None:
            return
        failures.append(f"{address}: {failure}")
    raise ClusterError(
        f"a {daemon} that answers",
        found="; ".join(failures),
        where=", ".join(addresses),
        remedy="see whether the cluster runs, whether a firewall is in between, and whether "
        "HADOOP_CONF_DIR holds the site files of this cluster",
    )


def require_ticket(environ: Mapping[str, str]) -> None:
    """ClusterError unless there is a valid Kerberos ticket; without klist, no check.

    Hadoop's programs report a missing ticket too, after the start of a JVM for each.
    """
    try:
        status = run_command(("klist", "-s"), _KLIST_LIMITS, environ).status
    except CommandFailedError:
        return
    if status:
        raise ClusterError(
            "a valid Kerberos ticket, as the cluster is secured with Kerberos",
            found="there is none, or it has expired (klist -s)",
            where=environ.get("KRB5CCNAME", "the default ticket cache of this user"),
            remedy="get one with `kinit`, as the user who may use the cluster, that lasts as long "
            "as the study; `klist` shows it",
        )


def _refusal(address: Address) -> str | None:
    """Return why a connection fails."""
    try:
        address.connect(_CONNECT_SECONDS).close()
    except TimeoutError:
        return f"no answer within {_CONNECT_SECONDS:.0f} s"
    except socket.gaierror:
        return "there is no such host"
    except OSError as error:
        return error.strerror or str(error)
    return None


@dataclass
class LivenessCheck:
    """Checks at intervals whether a cluster answers, however often it is called.

    ``check`` raises the error. Only a second failure in a row counts, because a busy NameNode
    may delay one connection.
    """

    check: Callable[[], None]
    every_seconds: float = 5.0
    _next: float = 0.0
    _failed: bool = False

    def __call__(self) -> None:
        """Raise the error of ``check`` if a check is due and is the second failure in a row."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self.every_seconds
        try:
            self.check()
        except ClusterError:
            if self._failed:
                raise
            self._failed = True
        else:
            self._failed = False
