"""The folder of a study in the HDFS of a cluster that was there already, as a change."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from iostudy import own_folder
from iostudy.errors import ClusterError, RestoreError
from iostudy.hadoop.existing import reach
from iostudy.hadoop.existing.cluster import ExistingCluster
from iostudy.hadoop.shell import Shell
from iostudy.settings.change import ConflictPolicy, Record


@dataclass(frozen=True)
class HdfsFolder:
    """A folder of a name that nobody else has; undone, it is gone, and so are the study's jobs.

    ``shell`` speaks to the cluster with a copy of its site files; ``rpc`` are the addresses of its
    NameNodes, ``yarn`` says that jobs may run there under ``tag``.
    """

    kind: ClassVar[str] = "hdfs-folder"

    uri: str
    tag: str
    yarn: bool
    rpc: tuple[str, ...]
    shell: Shell
    user: ExistingCluster | None = field(default=None, compare=False)

    @classmethod
    def prepare(cls, cluster: ExistingCluster) -> HdfsFolder:
        """The one of this cluster's jobs; ClusterError if the folder to make it in is not there.

        That is asked before anything is announced: whoever may not speak to the cluster could not
        undo anything either. OSError as it comes, where the site files are copied.
        """
        shell = cluster.shell()
        shell.require_folder(cluster.access.hdfs.uri)
        return cls(
            uri=cluster.folder,
            tag=cluster.tag,
            yarn=cluster.runs_on_yarn(),
            rpc=cluster.access.rpc,
            shell=shell,
            user=cluster,
        )

    @classmethod
    def from_record(cls, record: Record) -> HdfsFolder:
        """What the journal has kept; ValueError if that is no folder of iostudy's."""
        own_folder.recorded(f"/{record['uri'].partition('://')[2]}", own_folder.WORK_PREFIX)
        return cls(
            uri=record["uri"],
            tag=record["tag"],
            yarn=record["yarn"],
            rpc=tuple(record["rpc"]),
            shell=Shell(
                java=Path(record["java"]),
                java_options=tuple(record["java_options"]),
                classpath=record["classpath"],
                conf=Path(record["conf"]),
            ),
        )

    @property
    def cluster(self) -> ExistingCluster:
        """Whose folder it is; only of one that was prepared, and not of a record."""
        assert self.user is not None, "the folder was prepared by another process"
        return self.user

    def record(self) -> Record:
        """All that another process needs to speak to the cluster."""
        return {
            "uri": self.uri,
            "tag": self.tag,
            "yarn": self.yarn,
            "rpc": list(self.rpc),
            "java": str(self.shell.java),
            "java_options": list(self.shell.java_options),
            "classpath": self.shell.classpath,
            "conf": str(self.shell.conf),
        }

    def describe(self) -> str:
        """Where it is."""
        return f"work folder {self.uri}"

    def apply(self) -> None:
        """Make it; ClusterError where that cannot be."""
        self.shell.make_folder(self.uri)

    def touches(self) -> tuple[str, ...]:
        """None on this host."""
        return ()

    def undo(self, foreign: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Kill the study's jobs and remove the folder.

        RestoreError where the cluster does not serve; with ACCEPT the folder is left there then.
        """
        try:
            return self._removed()
        except ClusterError as error:
            if foreign is ConflictPolicy.ACCEPT:
                return (f"{self.describe()}: left there, as it cannot be removed: {error.found}",)
            raise RestoreError(
                f"to remove the {self.describe()}",
                found=error.found,
                where=error.where,
                remedy=f"{error.remedy}; then `iostudy restore`. If the cluster is gone for good, "
                "`iostudy restore --accept` forgets the folder",
            ) from error

    def _removed(self) -> tuple[str, ...]:
        reach.require_listening(self.rpc)
        try:
            # Before the folder, as they would go on to write there.
            killed = self.shell.kill_jobs(self.tag) if self.yarn else ()
        finally:
            removed = self.shell.remove(self.uri)
        told = (f"{self.describe()}: removed",) if removed else ()
        return (*(f"job {job} in YARN: killed" for job in killed), *told)
