"""A Hadoop cluster that iostudy has started on this machine, as a change that is undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iostudy.errors import ClusterError, RestoreError
from iostudy.hadoop.command import Tell, nobody
from iostudy.hadoop.local import kept
from iostudy.hadoop.local.cluster import LocalCluster
from iostudy.settings.change import ConflictPolicy, Record


@dataclass(frozen=True)
class StartedCluster:
    """Its daemons and all that they have stored; conf and logs stay when it is undone.

    ``tell`` hears how it is started.
    """

    kind: ClassVar[str] = "hadoop-cluster"

    cluster: LocalCluster
    tell: Tell = nobody

    @classmethod
    def from_record(cls, record: Record) -> StartedCluster:
        """What the journal has kept; ValueError if it names folders that iostudy does not make."""
        return cls(LocalCluster(kept.rebuilt(record["layout"])))

    def record(self) -> Record:
        """The layout, by which processes and folders are found."""
        return {"layout": kept.recorded(self.cluster.layout)}

    def describe(self) -> str:
        """What it is and where its logs are."""
        layout = self.cluster.layout
        return f"Hadoop cluster {layout.identity}, with its logs in {layout.logs}"

    def apply(self) -> None:
        """Start it; ClusterError, TargetError or UsageError where that cannot be."""
        self.cluster.start(self.tell)

    def touches(self) -> tuple[str, ...]:
        """None: processes and folders are the study's own."""
        return ()

    def undo(self, foreign: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """End its processes and remove its folders."""
        del foreign
        was_there = kept.exists(self.cluster.layout.home)
        try:
            self.cluster.stop()
        except ClusterError as error:
            raise RestoreError(
                error.wanted, found=error.found, where=error.where, remedy=error.remedy
            ) from error
        return (f"{self.describe()}: ended",) if was_there else ()
