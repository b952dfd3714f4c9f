"""Commands in a mount namespace of their own, where /etc is a copy and /run and /dev are empty."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

MARK = ".a-copy-for-iostudy-tests"
TOOLS = "/usr/sbin:/usr/bin:/sbin:/bin"

SCRIPT = f"""\
set -eu
mount --bind "$1/etc" /etc
mount -t tmpfs none /run
mount -t tmpfs none /dev
mkdir /dev/shm
mknod -m 666 /dev/null c 1 3
mknod -m 666 /dev/urandom c 1 9
test -e /etc/{MARK}
shift
PATH="$1"
shift
exec "$@"
"""
"""The command gets a PATH of its own only here: a stub of mount in it must not reach this script,
and without the mark in /etc, which only the copy has, nothing is run."""


def copy_etc(folder: Path) -> Path:
    """A copy of /etc below the folder."""
    shutil.copytree("/etc", folder / "etc", symlinks=True)
    (folder / "etc" / MARK).touch()
    return folder / "etc"


def run(
    folder: Path,
    *command: str,
    env: Mapping[str, str],
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run it with ``folder/etc`` as /etc and an empty /run; its output, errors among it."""
    inside: Sequence[str] = ("sh", "-c", SCRIPT, "sh", str(folder), env["PATH"], *command)
    return subprocess.run(
        ("/usr/bin/unshare", "--mount", "--propagation", "private", *inside),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**env, "PATH": TOOLS},
        cwd=cwd,
    )
