"""Specification of a local cluster, from a study file or a command line (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_VERSION = "3.4.2"
MAX_DATANODES = 64

Properties = Mapping[str, str]
"""Hadoop's properties by their own names, as a site file has them: ``dfs.blocksize`` -> ``64m``."""


VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){2}([.-][\w.-]{1,40})?", re.ASCII)
"""Releases, and what vendors make of them: ``3.4.2``, ``3.1.1.7.1-551``."""

_MOST_REPLICAS = 3
"""Hadoop's own default of dfs.replication."""


def numbers(version: str) -> tuple[int, ...]:
    """The first three of it, to compare versions: ``3.1.1.7.1-551`` -> (3, 1, 1)."""
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


@dataclass(frozen=True)
class ClusterSpec:
    """A cluster that iostudy starts on this machine, and stops.

    ``data_dirs`` are dealt out in turn: DataNode i of n has those with index i, i + n, ...; where
    there are fewer directories than DataNodes, DataNodes share them. Without any, data lie on the
    study's target, as does the name-node's journal without ``name_dirs``; each takes a folder of
    its own there. ``yarn``: jobs run in containers of a ResourceManager and of one NodeManager per
    DataNode, otherwise in the one process of Hadoop's local runner. ``properties`` hold for all
    daemons and jobs, unless a configuration of the study has another value. Without a ``version``
    it is that of HADOOP_HOME, or else DEFAULT_VERSION.
    """

    datanodes: int = 1
    data_dirs: tuple[Path, ...] = ()
    name_dirs: tuple[Path, ...] = ()
    yarn: bool = False
    version: str | None = None
    properties: Properties = field(default_factory=dict)

    def describe(self) -> str:
        """What it is, for a person: ``Hadoop 3.3.6, 3 DataNodes, local runner``."""
        version = self.version or f"{DEFAULT_VERSION} or that of HADOOP_HOME"
        nodes = f"{self.datanodes} DataNode" + ("s" if self.datanodes != 1 else "")
        return f"Hadoop {version}, {nodes}, {'YARN' if self.yarn else 'local runner'}"

    @property
    def dirs(self) -> tuple[Path, ...]:
        """All directories of its own, each once."""
        return tuple(dict.fromkeys((*self.data_dirs, *self.name_dirs)))

    @property
    def replication(self) -> int:
        """Replicas of a file, unless told: with fewer DataNodes every block would lack some."""
        return min(_MOST_REPLICAS, self.datanodes)

    def dirs_of(self, datanode: int) -> tuple[Path, ...]:
        """The data directories of one DataNode, counted from 0; none: on the target."""
        if not self.data_dirs:
            return ()
        own = self.data_dirs[datanode :: self.datanodes]
        return own or (self.data_dirs[datanode % len(self.data_dirs)],)
