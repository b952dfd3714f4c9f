"""Commands in a mount namespace of their own, where /etc is a copy and nothing reaches the host."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

SCRIPT = """\
set -eu
mount --bind "$1/etc" /etc
mount -t tmpfs none /run
mount -t tmpfs none /dev/shm
shift
exec "$@"
"""


def copy_etc(folder: Path) -> Path:
    """A copy of /etc below the folder, without what this host has for iostudy's files."""
    shutil.copytree("/etc", folder / "etc", symlinks=True)
    return folder / "etc"


def run(
    folder: Path, *command: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it with ``folder/etc`` as /etc and an empty /run; its output, errors among it."""
    whole: Sequence[str] = ("unshare", "--mount", "sh", "-c", SCRIPT, "sh", str(folder), *command)
    return subprocess.run(
        whole,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=env,
        cwd=cwd,
    )
