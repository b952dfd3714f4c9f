"""The cluster that a user has started on this machine, to work with by hand: one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.hadoop.command import Tell
from iostudy.hadoop.local import kept, standing
from iostudy.hadoop.local.cluster import LocalCluster
from iostudy.hadoop.local.daemon import log_end
from iostudy.hadoop.shell import Shell
from iostudy.hadoop.software import artifacts, java
from iostudy.hadoop.spec import ClusterSpec
from iostudy.safe_path import require_safe
from iostudy.settings.clusters.local import StartedCluster
from iostudy.settings.transaction import state
from iostudy.settings.transaction.journal import Mode
from iostudy.settings.transaction.locks import lock_directory
from iostudy.settings.transaction.recovery import Recovery, restore_kind
from iostudy.settings.transaction.transaction import Transaction, UndoResult

WORK_FOLDER = "/tmp"
"""A folder that a study or a bench can be given as its target, as most clusters have one."""


def home() -> Path:
    """Where its site files and logs are; its data too, unless directories are named for them."""
    return state.state_directory() / "hadoop"


def start(spec: ClusterSpec, tell: Tell) -> LocalCluster:
    """Start it; it stays until `stop`, or until `iostudy restore`.

    UsageError if there is one already, or Hadoop or Java is missing; ClusterError or TargetError
    if it cannot be started. Then, and after a crash at any moment, nothing of it is left.
    """
    folder = home()
    state.make_directory(folder)
    with lock_directory(folder):
        _require_none(folder)
        distribution = artifacts.distribution(spec.version, tell=tell)
        program = java.find(distribution.version)
        cluster = LocalCluster.prepare(
            spec,
            home=folder,
            storage=folder,
            java=program,
            distribution=distribution,
        )
        with Transaction(mode=Mode.SET) as transaction:
            transaction.perform(StartedCluster(cluster, tell))
            client = cluster.configured({}, restart=False)
            Shell.of(client).make_folder(f"{cluster.layout.default_fs}{WORK_FOLDER}")
            transaction.commit()
    return cluster


def find() -> LocalCluster | None:
    """The one that was started, whatever is left of it; None if there is none.

    ClusterError where nobody can tell what it is, UnsafePathError where another user could have
    written down that there is one.
    """
    folder = home()
    if not kept.exists(folder):
        return None
    require_safe(folder)
    return LocalCluster.attach(folder)


def stop() -> Recovery:
    """End it, if there is one, and remove what it has stored; its logs stay."""
    recovery = restore_kind(StartedCluster.kind)
    cluster = find()
    if cluster is not None and recovery == Recovery():
        # Its journal is lost; what it consists of is known all the same.
        return Recovery(UndoResult(StartedCluster(cluster).undo()))
    return recovery


@dataclass(frozen=True)
class Standing:
    """How a cluster stands: what it lacks, in words, and the ends of the logs of dead daemons."""

    lacks: str
    log_ends: Mapping[str, tuple[str, ...]]


def stand(cluster: LocalCluster) -> Standing:
    """How it stands now."""
    layout = cluster.layout
    ended = [name for name, fact in cluster.facts()["daemons"].items() if fact["pid"] is None]
    log_ends = {name: log_end(layout.logs, name) for name in ended}
    if ended:
        return Standing(f"{' and '.join(ended)} ended", log_ends)
    return Standing(f"it lacks {missing}" if (missing := standing.missing(layout)) else "", {})


def logs() -> Path:
    """The folder of its logs, also after its end."""
    return home() / "logs"


def _require_none(folder: Path) -> None:
    if kept.exists(folder):
        raise UsageError(
            "to start a cluster",
            found="one is there already: a user has one at a time",
            where=str(folder),
            remedy="`iostudy hadoop status` shows it, `iostudy hadoop down` ends it",
        )
