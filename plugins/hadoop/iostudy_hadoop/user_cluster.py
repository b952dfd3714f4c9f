"""The one Hadoop cluster that a user starts for interactive work on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.line_handler import LineHandler
from iostudy.safe_path import require_safe
from iostudy.settings.transaction import state
from iostudy.settings.transaction.journal import JournalMode
from iostudy.settings.transaction.locks import lock_directory
from iostudy.settings.transaction.recovery import Recovery, restore_kinds
from iostudy.settings.transaction.transaction import Transaction, UndoResult
from iostudy_hadoop.local import persistence, status
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.local.daemon import log_end
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.software import artifacts, java
from iostudy_hadoop.spec import ClusterSpec
from iostudy_hadoop.started_cluster import StartedCluster

WORK_FOLDER = "/tmp"
"""A folder that a study or a bench can be given as its target, as most clusters have one."""


def cluster_folder() -> Path:
    """Return the folder of site files and logs, and of data without named directories."""
    return state.state_directory() / "hadoop"


def start(spec: ClusterSpec, on_progress: LineHandler) -> LocalCluster:
    """Start it; it runs until `stop`, or until `iostudy restore`.

    UsageError if one exists, or Hadoop or Java is missing; ClusterError or TargetError if the start
    fails. After a failure or a crash, nothing of it remains.
    """
    folder = cluster_folder()
    state.make_directory(folder)
    with lock_directory(folder):
        _require_none(folder)
        distribution = artifacts.distribution(spec.version, on_progress=on_progress)
        program = java.find_java(distribution.version)
        cluster = LocalCluster.prepare(
            spec,
            home=folder,
            storage=folder,
            java=program,
            distribution=distribution,
        )
        with Transaction(mode=JournalMode.SET) as transaction:
            transaction.apply(StartedCluster(cluster, on_progress))
            client = cluster.configured({}, restart=False)
            Shell.for_client(client).make_folder(f"{cluster.layout.default_fs}{WORK_FOLDER}")
            transaction.commit()
    return cluster


def find_cluster() -> LocalCluster | None:
    """Return the started cluster, even if incomplete; or None.

    ClusterError if its record is unreadable, UnsafePathError if another user could have written it.
    """
    folder = cluster_folder()
    if not persistence.exists(folder):
        return None
    require_safe(folder)
    return LocalCluster.attach(folder)


def stop() -> Recovery:
    """End it, if it exists, and remove its data; its logs stay."""
    recovery = restore_kinds(StartedCluster.kind)
    cluster = find_cluster()
    if cluster is not None and recovery == Recovery():
        # Its journal is lost, but its layout is known.
        return Recovery(UndoResult(StartedCluster(cluster).undo()))
    return recovery


@dataclass(frozen=True)
class ClusterStatus:
    """Status of a cluster: missing parts, in words, and log ends of dead daemons."""

    lacks: str
    log_ends: Mapping[str, tuple[str, ...]]


def read_status(cluster: LocalCluster) -> ClusterStatus:
    """Read the current status."""
    layout = cluster.layout
    ended = [name for name, fact in cluster.facts()["daemons"].items() if fact["pid"] is None]
    log_ends = {name: log_end(layout.logs, name) for name in ended}
    if ended:
        return ClusterStatus(f"{' and '.join(ended)} ended", log_ends)
    return ClusterStatus(
        f"it lacks {missing}" if (missing := status.find_missing_services(layout)) else "", {}
    )


def log_folder() -> Path:
    """Return the folder of its logs, also after its end."""
    return cluster_folder() / "logs"


def _require_none(folder: Path) -> None:
    if persistence.exists(folder):
        raise UsageError(
            "to start a cluster",
            found="one is already running: a user has one at a time",
            where=str(folder),
            remedy="`iostudy hadoop status` shows it, `iostudy hadoop down` ends it",
        )
