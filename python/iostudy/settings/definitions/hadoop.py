"""Hadoop's own properties, and the heaps of its processes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Cost, Reach, SettingDefinition
from iostudy.settings.values import Size, Whole

PREFIX = "hadoop."


class Scope(StrEnum):
    """Who reads a property: each JOB when it begins, or the DAEMONS when they are started."""

    JOB = "each job"
    DAEMONS = "the daemons, at their start"


@dataclass(frozen=True, kw_only=True)
class HadoopDefinition(SettingDefinition):
    """A setting that is a property in Hadoop's site files, ``hadoop.`` before its own name.

    One that ``shapes_data`` is stored with the files of HDFS: what a trial reads has been written
    with its level.
    """

    scope: Scope
    shapes_data: bool = False
    reach: Reach = Reach.CLUSTER

    @property
    def key(self) -> str:
        """Hadoop's own name of it."""
        return self.name.removeprefix(PREFIX)


DEFINITIONS: tuple[HadoopDefinition, ...] = (
    HadoopDefinition(
        name="hadoop.dfs.blocksize",
        unit="B",
        default="128 MiB",
        values=Size(1 << 20, 1 << 40),
        scope=Scope.JOB,
        shapes_data=True,
        documentation=(
            "How large the blocks of new files are. It sets how many map tasks read a file, and "
            "how long a DataNode writes to one file in one go."
        ),
        source="hdfs-default.xml (Apache Hadoop 3.4.2)",
    ),
    HadoopDefinition(
        name="hadoop.dfs.replication",
        unit="replicas",
        default="3, or the number of DataNodes where there are fewer",
        values=Whole(1, 64, "replicas"),
        scope=Scope.JOB,
        shapes_data=True,
        documentation=(
            "How many DataNodes hold each block of new files; a write goes to all of them in a "
            "pipeline, and so multiplies what the disks write."
        ),
        source="hdfs-default.xml (Apache Hadoop 3.4.2)",
    ),
    HadoopDefinition(
        name="hadoop.dfs.datanode.handler.count",
        unit="threads",
        default="10",
        values=Whole(1, 4096, "threads"),
        scope=Scope.DAEMONS,
        cost=Cost.RESTART,
        documentation="How many threads of a DataNode serve remote procedure calls.",
        source="hdfs-default.xml (Apache Hadoop 3.4.2)",
    ),
)
