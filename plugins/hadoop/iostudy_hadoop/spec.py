"""Specification of a local cluster, from a study file or a command line (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from iostudy.units import parse_size

PREFIX: Final = "hadoop."
"""Before the names of Hadoop's properties, in those of settings."""
DEFAULT_VERSION = "3.4.2"
MAX_DATANODES = 64

Properties = Mapping[str, str]
"""Hadoop's properties by their names, in the form of a site file: ``dfs.blocksize`` -> ``64m``."""


VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){2}([.-][\w.-]{1,40})?", re.ASCII)
"""Versions of releases and of vendors: ``3.4.2``, ``3.1.1.7.1-551``."""

_REPLICATION: Final = "dfs.replication"
_MOST_REPLICAS = 3
"""Hadoop's own default of it."""
_BLOCK_SIZE: Final = "dfs.blocksize"
_DEFAULT_BLOCK: Final = "128MiB"
"""The default of dfs.blocksize: hdfs-default.xml (Apache Hadoop 3.4.2)."""


def numbers(version: str) -> tuple[int, ...]:
    """Return the first three numbers, for comparisons: ``3.1.1.7.1-551`` -> (3, 1, 1)."""
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


@dataclass(frozen=True)
class ClusterSpec:
    """A cluster that iostudy starts on this machine, and stops.

    ``data_dirs`` are assigned in turn: DataNode i of n gets those with index i, i + n, ...;
    DataNodes share directories if these are fewer. Without any, data lie on the study's target
    in a folder per DataNode. The same holds for the NameNode's journal without ``name_dirs``.
    ``yarn``: jobs run in containers of a ResourceManager and of one NodeManager per DataNode,
    otherwise in one process of Hadoop's local runner. ``properties`` apply to all daemons and
    jobs, unless a configuration of the study overrides them. Without a ``version``, that of
    HADOOP_HOME applies, else DEFAULT_VERSION.
    """

    datanodes: int = 1
    data_dirs: tuple[Path, ...] = ()
    name_dirs: tuple[Path, ...] = ()
    yarn: bool = False
    version: str | None = None
    properties: Properties = field(default_factory=dict)

    def describe(self) -> str:
        """Describe it: ``Hadoop 3.3.6, 3 DataNodes, local runner``."""
        version = self.version or f"{DEFAULT_VERSION} or that of HADOOP_HOME"
        nodes = f"{self.datanodes} DataNode" + ("s" if self.datanodes != 1 else "")
        return f"Hadoop {version}, {nodes}, {'YARN' if self.yarn else 'local runner'}"

    def describe_parts(self) -> tuple[str, ...]:
        """Describe it, its directories and its properties."""
        places = {"data": self.data_dirs, "the NameNode's journal": self.name_dirs}
        if not self.dirs:
            places = {"all of it": ()}
        pairs = ", ".join(f"{name}={value}" for name, value in self.properties.items())
        return (
            self.describe(),
            "; ".join(f"{what} in {_format_directories(dirs)}" for what, dirs in places.items()),
            *([f"with {pairs}"] if pairs else []),
        )

    @property
    def dirs(self) -> tuple[Path, ...]:
        """Return all its directories, each once."""
        return tuple(dict.fromkeys((*self.data_dirs, *self.name_dirs)))

    @property
    def replication(self) -> int:
        """Default replicas of a file: at most one per DataNode, so that no block lacks replicas."""
        return min(_MOST_REPLICAS, self.datanodes)

    @property
    def reserved(self) -> str:
        """What DataNodes reserve during a write, in words."""
        return "a full HDFS block for each replica"

    def copies(self, levels: Mapping[str, str]) -> int:
        """Return the number of DataNodes with a replica of each block of a trial."""
        return int(self._property(_REPLICATION, levels) or self.replication)

    def reserved_bytes(self, levels: Mapping[str, str]) -> int:
        """Return the bytes that DataNodes reserve: a full block for each file during its write.

        At least one file counts; the number of concurrent files depends on the workload.
        """
        block = self._property(_BLOCK_SIZE, levels) or _DEFAULT_BLOCK
        return parse_size(block) * self.copies(levels)

    def _property(self, name: str, levels: Mapping[str, str]) -> str | None:
        """Return a trial's property: its level, or the cluster's; None for Hadoop's default."""
        return levels.get(PREFIX + name, self.properties.get(name))

    def dirs_of(self, datanode: int) -> tuple[Path, ...]:
        """Return the data directories of a DataNode, counted from 0; none: on the target."""
        if not self.data_dirs:
            return ()
        folders = self.data_dirs[datanode :: self.datanodes]
        return folders or (self.data_dirs[datanode % len(self.data_dirs)],)


def _format_directories(directories: Sequence[Path]) -> str:
    return ", ".join(map(str, directories)) or "the work folder on the target"
