"""Work folder of a study in the HDFS of an existing cluster, as a change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from iostudy import own_folder
from iostudy.errors import ClusterError, RestoreError
from iostudy.settings.change import ConflictPolicy, Record
from iostudy_hadoop.existing import reachability
from iostudy_hadoop.existing.cluster import ExistingCluster
from iostudy_hadoop.namespace import Namespace, enter
from iostudy_hadoop.shell import Shell


@dataclass(frozen=True)
class HdfsFolder:
    """A unique folder; undo removes it and kills the jobs of the study.

    ``shell`` uses a copy of the cluster's site files; ``rpc`` are the addresses of its NameNodes,
    ``yarn`` means that jobs may run there under ``tag``. ``namespace`` is that of a cluster which
    iostudy has started on this machine.
    """

    kind: ClassVar[str] = "hdfs-folder"

    uri: str
    tag: str
    yarn: bool
    rpc: tuple[str, ...]
    shell: Shell
    namespace: Namespace | None = None
    user: ExistingCluster | None = field(default=None, compare=False)

    @classmethod
    def prepare(cls, cluster: ExistingCluster) -> HdfsFolder:
        """Prepare the folder of this cluster's jobs; ClusterError if its parent is missing.

        This check precedes the journal entry: without access to the cluster, no undo is possible.
        OSError if the site files cannot be copied.
        """
        shell = cluster.shell()
        shell.require_folder(cluster.access.hdfs.uri)
        return cls(
            uri=cluster.folder,
            tag=cluster.tag,
            yarn=cluster.runs_on_yarn(),
            rpc=cluster.access.rpc,
            shell=shell,
            namespace=cluster.access.namespace,
            user=cluster,
        )

    @classmethod
    def from_record(cls, record: Record) -> HdfsFolder:
        """Rebuild from the journal; ValueError if the folder is not one of iostudy."""
        own_folder.parse_recorded(f"/{record['uri'].partition('://')[2]}", own_folder.WORK_PREFIX)
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
            namespace=Namespace.parse(record.get("namespace", "")),
        )

    @property
    def cluster(self) -> ExistingCluster:
        """Cluster of the folder; only for a prepared folder, not for a rebuilt one."""
        assert self.user is not None, "the folder was prepared by another process"
        return self.user

    def record(self) -> Record:
        """Return everything that another process needs to access the cluster."""
        return {
            "uri": self.uri,
            "tag": self.tag,
            "yarn": self.yarn,
            "rpc": list(self.rpc),
            "java": str(self.shell.java),
            "java_options": list(self.shell.java_options),
            "classpath": self.shell.classpath,
            "conf": str(self.shell.conf),
            "namespace": str(self.namespace or ""),
        }

    def describe(self) -> str:
        """Where it is."""
        return f"work folder {self.uri}"

    def apply(self) -> None:
        """Make it; ClusterError where that cannot be."""
        self.shell.make_folder(self.uri)

    def affected_resources(self) -> tuple[str, ...]:
        """None on this host."""
        return ()

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Kill the jobs of the study and remove the folder.

        RestoreError if the cluster does not respond; under ACCEPT the folder stays then.
        """
        try:
            return self._removed()
        except ClusterError as error:
            if policy is ConflictPolicy.ACCEPT:
                return (f"{self.describe()}: left there, as it cannot be removed: {error.found}",)
            raise RestoreError(
                f"to remove the {self.describe()}",
                found=error.found,
                where=error.where,
                remedy=f"{error.remedy}; then `iostudy restore`. If the cluster is gone for good, "
                "`iostudy restore --accept` forgets the folder",
            ) from error

    def _removed(self) -> tuple[str, ...]:
        reachability.require_listening(self.rpc, self.namespace)
        shell = replace(self.shell, entry=enter(self.namespace))
        try:
            # Before the folder, because jobs would continue to write there.
            killed = shell.kill_jobs(self.tag) if self.yarn else ()
        finally:
            removed = shell.remove(self.uri)
        messages = (f"{self.describe()}: removed",) if removed else ()
        return (*(f"job {job} in YARN: killed" for job in killed), *messages)
