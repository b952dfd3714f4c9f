"""A folder of the study, mounted by sshfs on the host that serves it.

In the place of ssh, sshfs starts OpenSSH's server of files at the other end of a pair of sockets:
there is no network, no login and no key, and nobody else can connect. Each of the two programs ends
with the other one.

Source: sshfs(1), ssh_command; sftp-server(8).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.line_handler import LineHandler
from iostudy.settings import commands
from iostudy.settings.change import Change
from iostudy.settings.mounting.calls import require_empty
from iostudy.settings.temporary_mount import TemporaryMount
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.targets.target import MountRequest
from iostudy_hadoop.mount.mounted import require_fuse

_PROGRAM, _TYPE = "sshfs", "fuse.sshfs"
_SERVERS = tuple(
    Path(folder, "sftp-server")
    for folder in ("/usr/lib/openssh", "/usr/libexec/openssh", "/usr/lib/ssh")
)
"""The places of OpenSSH's server in Debian, Fedora and Arch."""


def require_local_sshfs(request: MountRequest) -> None:
    """TargetError without FUSE, one of the two programs or an empty mount point."""
    require_fuse()
    _find_server()
    require_empty(request.point)


def prepare_local_sshfs(
    request: MountRequest, folder: Path, on_progress: LineHandler
) -> Iterator[Change]:
    """Yield a folder in the output folder, which is served, and its mount."""
    del on_progress
    server = _find_server()
    served = WorkFolder.prepare(folder)
    yield served
    # The shell leaves out the arguments of ssh, which follow the command.
    options = f"ssh_command=/bin/sh -c {server}"
    yield TemporaryMount.prepare(request.point, f"localhost:{served.path}", _TYPE, options)


def _find_server() -> Path:
    """Return the server of files; TargetError without it or without sshfs."""
    server = next(filter(Path.is_file, _SERVERS), None)
    if server is None or not commands.is_installed(_PROGRAM):
        raise TargetError(
            "sshfs and OpenSSH's sftp-server, to mount a folder of this host",
            found=f"{_PROGRAM if server else _SERVERS[0].name} is missing",
            where="this host",
            remedy="apt-get install sshfs openssh-sftp-server",
        )
    return server
