"""Hadoop cluster that iostudy has started on this machine, as a change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iostudy.errors import ClusterError, RestoreError
from iostudy.line_handler import LineHandler, ignore_line
from iostudy.settings.change import ConflictPolicy, Record
from iostudy_hadoop.local import persistence
from iostudy_hadoop.local.cluster import LocalCluster


@dataclass(frozen=True)
class StartedCluster:
    """Its daemons and their data; configuration and logs stay after an undo.

    ``on_progress`` receives progress messages.
    """

    kind: ClassVar[str] = "hadoop-cluster"

    cluster: LocalCluster
    on_progress: LineHandler = ignore_line

    @classmethod
    def from_record(cls, record: Record) -> StartedCluster:
        """Rebuild from the journal; ValueError for folders that iostudy does not create."""
        return cls(LocalCluster(persistence.from_record(record["layout"])))

    def record(self) -> Record:
        """Return the layout, which identifies processes and folders."""
        return {"layout": persistence.to_record(self.cluster.layout)}

    def describe(self) -> str:
        """Describe the cluster and the folder of its logs."""
        layout = self.cluster.layout
        return f"Hadoop cluster {layout.identity}, with its logs in {layout.logs}"

    def apply(self) -> None:
        """Start it; ClusterError, TargetError or UsageError where that cannot be."""
        self.cluster.start(self.on_progress)

    def affected_resources(self) -> tuple[str, ...]:
        """None: processes and folders are the study's own."""
        return ()

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """End its processes and remove its folders."""
        del policy
        was_there = persistence.exists(self.cluster.layout.home)
        try:
            self.cluster.stop()
        except ClusterError as error:
            raise RestoreError(
                error.wanted, found=error.found, where=error.where, remedy=error.remedy
            ) from error
        return (f"{self.describe()}: ended",) if was_there else ()
