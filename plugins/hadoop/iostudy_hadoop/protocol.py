"""Protocol of a Hadoop cluster, local or existing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from iostudy_hadoop.client import Client
from iostudy_hadoop.spec import Properties


class Cluster(Protocol):
    """A cluster with an HDFS folder of the study, which is removed at the end.

    `iostudy_hadoop.local` starts one on this machine; `iostudy_hadoop.existing` uses a running
    one. All errors are ClusterError and come within seconds.
    """

    def configured(self, properties: Properties, *, restart: bool) -> Client:
        """Prepare a trial with these properties over the cluster's own.

        Restart daemons that have ended, and with ``restart`` all daemons. Return when HDFS
        has left safe mode and every DataNode answers.
        """

    def read_back(self, names: tuple[str, ...]) -> Properties:
        """Return the effective values in the running daemons, else those of the client's jobs."""

    def settle(self) -> None:
        """Wait until data deleted in HDFS are also deleted on the disks of the DataNodes."""

    def verify(self) -> None:
        """ClusterError if a daemon has ended, or if its master has lost it, since `configured`.

        It names the daemon and has the end of its log.
        """

    def data_dirs(self) -> tuple[Path, ...]:
        """Return the directories of its data on this machine; none if unknown."""

    def pids(self) -> tuple[int, ...]:
        """Return its processes on this machine, if known."""

    def facts(self) -> Mapping[str, Any]:
        """Return versions, daemons, directories and properties as JSON values."""
