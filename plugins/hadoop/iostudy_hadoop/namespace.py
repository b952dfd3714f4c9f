"""Network namespace of a local cluster: programs and connections of its owner that enter it.

Hadoop's daemons authenticate nobody here. So they listen on the loopback interface of a namespace
of their own, which only root and the owner can enter (setns(2)). One process of the cluster, the
holder, keeps the namespace: no file and no mount does. It ends with the cluster's last process.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from iostudy.errors import ClusterError
from iostudy.safe_path import ROOT_UID
from iostudy_hadoop import namespace_connector, processes
from iostudy_hadoop.processes import DaemonProcess

HOLDER = "namespace"
"""The holder's name among the daemons."""
PROPERTY = "iostudy.namespace"
"""The property of site files that names the namespace of their cluster."""
INSIDE = "IOSTUDY_NAMESPACE"
"""The variable that names the namespace of a program of `iostudy hadoop exec`."""

_MOST_ANSWER_BYTES = 16


@dataclass(frozen=True)
class Namespace:
    """The namespace of a cluster, by the cluster's identity and the user who has started it.

    The holder belongs to this user. Others can imitate its environment, or change what it keeps.
    """

    cluster: str
    owner: int

    def __str__(self) -> str:
        return f"{self.cluster}@{self.owner}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the namespace of its text, as in PROPERTY; None for any other text."""
        cluster, _, owner = text.partition("@")
        return cls(cluster, int(owner)) if owner.isdecimal() else None

    def holder(self) -> DaemonProcess:
        """Return the process that keeps the namespace; ClusterError without one."""
        holder = _holders.get(self)
        if holder is not None and holder.runs():
            return holder
        for process in processes.find_processes(self.cluster, (self.owner,)):
            if process.daemon == HOLDER and self._keeps(process.pid):
                _holders[self] = process
                return process
        raise ClusterError(
            "the network namespace of a cluster on this machine",
            found="no process keeps it: the cluster has ended, or belongs to another user",
            where=f"the processes with {processes.CLUSTER}={self.cluster} of user {self.owner}",
            remedy="start the cluster again: `iostudy hadoop down`, then `iostudy hadoop up`",
        )

    def _keeps(self, pid: int) -> bool:
        """Whether a holder has another network than this process: every user has the host's.

        It is the same in a program of `iostudy hadoop exec`.
        """
        try:
            is_same = Path(f"/proc/{pid}/ns/net").samefile("/proc/self/ns/net")
        except OSError:
            return False
        return is_same == (os.environ.get(INSIDE) == str(self))

    def entry(self) -> tuple[str, ...]:
        """Return the command that runs its arguments as a program of this user in the namespace."""
        user = () if os.geteuid() == ROOT_UID else ("--user", "--preserve-credentials")
        return ("nsenter", f"--target={self.holder().pid}", *user, "--net", "--")

    def connect(self, host: str, port: str, limit_seconds: float) -> socket.socket:
        """Connect from within the namespace. Raises OSError and ClusterError."""
        with _lock:
            channel = self._channel(self.holder())
            channel.send(f"{host} {port} {limit_seconds}".encode())
            answer, descriptors, *_ = socket.recv_fds(
                channel, _MOST_ANSWER_BYTES, 1, socket.MSG_CMSG_CLOEXEC
            )
        if not descriptors:
            number = int(answer or namespace_connector.ENDED)
            raise OSError(number, os.strerror(number))
        connection = socket.socket(fileno=descriptors[0])
        connection.settimeout(limit_seconds)
        return connection

    def _channel(self, holder: DaemonProcess) -> socket.socket:
        """Return the channel to a process in the namespace that makes connections.

        It serves this process alone, and ends with it: then the channel is closed.
        """
        channel, connector = _connectors.get(holder, (None, None))
        if channel is not None and connector is not None and connector.poll() is None:
            return channel
        channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        script = [sys.executable, "-I", "-S", namespace_connector.__file__, str(theirs.fileno())]
        with theirs:
            connector = subprocess.Popen(
                (*self.entry(), *script),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                env={**os.environ, processes.CLUSTER: self.cluster, processes.DAEMON: "connector"},
            )
        processes.adopt(connector)
        while _connectors:  # of clusters that have ended, or of another one that is used in turn
            _connectors.popitem()[1][0].close()
        _connectors[holder] = channel, connector
        return channel


_lock = threading.Lock()
_holders: dict[Namespace, DaemonProcess] = {}
_connectors: dict[DaemonProcess, tuple[socket.socket, subprocess.Popen[bytes]]] = {}


def enter(namespace: Namespace | None) -> tuple[str, ...]:
    """Return what precedes a command that shall run in the namespace: nothing without one."""
    return () if namespace is None else namespace.entry()


@dataclass(frozen=True)
class Address:
    """Host and port of a daemon, in the namespace that it listens in."""

    host_and_port: str
    namespace: Namespace | None = None

    def __str__(self) -> str:
        return self.host_and_port

    def connect(self, limit_seconds: float) -> socket.socket:
        """Return a connection with this time limit. Raises OSError, and ClusterError."""
        host, _, port = self.host_and_port.rpartition(":")
        if self.namespace is not None:
            return self.namespace.connect(host, port, limit_seconds)
        return socket.create_connection((host, int(port)), limit_seconds)
