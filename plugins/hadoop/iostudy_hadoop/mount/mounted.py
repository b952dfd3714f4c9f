"""Mount of HDFS through FUSE, as a change.

A program of its own serves it (`crates/hdfs-mount`), which `make hdfs` builds. Undo kills it first:
the kernel then fails every open request, so that the unmounting waits for nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from iostudy.errors import ClusterError, TargetError
from iostudy.host.mounts import Mount
from iostudy.safe_path import ROOT_UID
from iostudy.settings import commands, server_process
from iostudy.settings.change import ConflictPolicy, Record
from iostudy.settings.mounting.calls import make_point, require_empty, unmount_all
from iostudy_hadoop.existing.cluster import CONF_DIR
from iostudy_hadoop.existing.mountable import HdfsDirectory
from iostudy_hadoop.mount.options import MountOptions
from iostudy_hadoop.namespace import enter

PROGRAM = "iostudy-hdfs-mount"
_FUSE = Path("/dev/fuse")
_FILESYSTEM = "fuse"


@dataclass(frozen=True)
class HdfsMount:
    """A directory of HDFS, mounted on an empty directory of this host.

    ``options`` are None after a rebuild from the journal.
    """

    kind: ClassVar[str] = "hdfs-mount"

    point: Path
    directory: HdfsDirectory
    options: MountOptions | None = None

    @classmethod
    def prepare(cls, point: Path, directory: HdfsDirectory, options: MountOptions) -> HdfsMount:
        """Prepare it; TargetError unless ``point`` is an empty directory without a mount."""
        return cls(require_empty(point), directory, options)

    @classmethod
    def from_record(cls, record: Record) -> HdfsMount:
        """Rebuild from the journal."""
        return cls(Path(record["point"]), HdfsDirectory(**record["directory"]))

    def record(self) -> Record:
        """Return the mount point and the source of the mount."""
        return {"point": str(self.point), "directory": self._directory()}

    def describe(self) -> str:
        """Describe source and mount point."""
        return f"mount of {self.directory.uri} on {self.point}"

    def apply(self) -> None:
        """Start the server, which mounts; ClusterError with its message if it fails."""
        assert self.options is not None, "rebuilt from a journal"
        make_point(self.point)
        request = {**self._directory(), "point": str(self.point), **asdict(self.options)}
        failure = server_process.start(
            (*enter(self.directory.namespace), *self._identity),
            json.dumps(request),
            stderr=None,
            environ={**_environment(), "PATH": f"{find_program().parent}:{commands.SEARCH_PATH}"},
        )
        if failure:
            raise ClusterError(
                f"to mount {self.directory.uri}",
                found=failure,
                where=str(self.point),
                remedy="name a directory of HDFS that this user can list (HADOOP_USER_NAME names "
                "another one); see `dmesg` if the kernel refused",
            )

    def wait(self) -> None:
        """Wait until it is unmounted; ClusterError if the server ends before."""
        status = server_process.wait(self._identity)
        if status:
            ended = signal.Signals(-status).name if status < 0 else f"status {status}"
            raise ClusterError(
                f"{self.directory.uri} to be mounted until it is unmounted",
                found=f"its server ended with {ended}",
                where=str(self.point),
                remedy="see its messages above, and dmesg; then mount it again",
            )

    def affected_resources(self) -> tuple[str, ...]:
        """Return none: the mount has its own file system."""
        return ()

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        """Kill the server and unmount, also while files are open.

        RestoreError if another mount lies over it.
        """
        del policy
        was_served = server_process.kill(self._identity)
        was_there = unmount_all(self.point, self.directory.uri, self._is_own) or was_served
        return (f"{self.describe()}: unmounted",) if was_there else ()

    def _directory(self) -> dict[str, str]:
        return {"filesystem": self.directory.filesystem, "path": self.directory.path}

    @property
    def _identity(self) -> tuple[str, str]:
        """The command line of its server."""
        return PROGRAM, str(self.point)

    def _is_own(self, mount: Mount) -> bool:
        return (mount.filesystem, mount.source) == (_FILESYSTEM, self.directory.uri)


def require_fuse() -> None:
    """TargetError unless this process can mount a FUSE file system."""
    if os.geteuid() != ROOT_UID:
        fault, remedy = "not root", "run it as root; HADOOP_USER_NAME names the user of HDFS"
    elif not _FUSE.exists():
        fault = "the kernel has no FUSE: /dev/fuse is missing"
        remedy = "`modprobe fuse`; give a container the device (--device /dev/fuse)"
    else:
        return
    raise TargetError("to mount a file system", found=fault, where=str(_FUSE), remedy=remedy)


def find_program() -> Path:
    """Return the path of the server; TargetError if it is not installed."""
    path = os.pathsep.join((str(Path(sys.executable).parent), commands.SEARCH_PATH))
    program = shutil.which(PROGRAM, path=path)
    if program is None:
        raise TargetError(
            f"the program {PROGRAM}, to mount HDFS",
            found="it is not installed",
            where=str(Path(sys.executable).parent),
            remedy="run `make hdfs` in the source tree of iostudy, which builds it",
        )
    return Path(program)


def _environment() -> dict[str, str]:
    """Return that of this process, without a relative path: the server works in ``/``."""
    conf = os.environ.get(CONF_DIR)
    return {**os.environ, CONF_DIR: str(Path(conf).absolute())} if conf else {**os.environ}
