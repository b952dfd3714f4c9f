"""Protocol of a Hadoop cluster, local or existing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from iostudy.hadoop.client import Client
from iostudy.hadoop.spec import Properties


class Cluster(Protocol):
    """A cluster with an HDFS folder of the study's own, which is gone at the end.

    `iostudy.hadoop.local` starts one on this machine; `iostudy.hadoop.existing` is one that is
    there already. All errors are ClusterError, within seconds.
    """

    def configured(self, properties: Properties, *, restart: bool) -> Client:
        """Make ready for a trial with these properties over the cluster's own.

        Daemons that have died are started again. With ``restart`` all daemons are started anew,
        with the properties. At its return HDFS has left safe mode and every DataNode answers.
        """

    def read_back(self, names: tuple[str, ...]) -> Properties:
        """The values that hold in the running daemons, and else for the jobs of the client."""

    def settle(self) -> None:
        """Wait until what was deleted in HDFS is deleted on the disks of the DataNodes too."""

    def verify(self) -> None:
        """ClusterError if a daemon has ended, or was lost by its master, since `configured`.

        It names the daemon and has the end of its log.
        """

    def data_dirs(self) -> tuple[Path, ...]:
        """Where on this machine its data lie; none if that cannot be told."""

    def pids(self) -> tuple[int, ...]:
        """Its processes on this machine, where they are known."""

    def facts(self) -> Mapping[str, Any]:
        """For the circumstances, as JSON values: versions, daemons, directories, properties."""
