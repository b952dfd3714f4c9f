"""Running the system's own tools that attach, format and mount."""

from __future__ import annotations

import os
import shutil
import subprocess

from iostudy.errors import TargetError

_PACKAGES = {
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "setpriv": "util-linux",
    "mkfs.ext2": "e2fsprogs",
    "mkfs.ext3": "e2fsprogs",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
}
"""The Debian package of each tool."""

_SEARCH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))


class CommandError(Exception):
    """A tool ended with an error; the text is what it said."""


def require(*tools: str) -> None:
    """TargetError names the tools that are missing and how to install them."""
    missing = [tool for tool in tools if not installed(tool)]
    if missing:
        packages = sorted({_PACKAGES[tool] for tool in missing})
        raise TargetError(
            "the tools to make a scratch disk",
            found=f"{', '.join(missing)} missing",
            where="this host",
            remedy=f"apt-get install {' '.join(packages)}",
        )


def installed(tool: str) -> bool:
    """Whether the tool is there."""
    return shutil.which(tool, path=_SEARCH) is not None


def complaint(error: CommandError) -> str:
    """What the tool said, without the pages on how to call it."""
    return str(error).partition("\nUsage:")[0]


def run(*command: str) -> str:
    """What the tool printed; CommandError with its complaint if it failed.

    The tool inherits the lock on the journal and is killed with this process, so that whoever can
    take the lock finds nobody at work any more. A session of its own keeps it from the signals that
    a terminal sends to all in the foreground: this process decides what is ended.
    """
    try:
        done = subprocess.run(
            ["setpriv", "--pdeathsig", "KILL", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            close_fds=False,
            start_new_session=True,
            env={**os.environ, "PATH": _SEARCH, "LC_ALL": "C"},
            errors="surrogateescape",
        )
    except FileNotFoundError as error:
        raise CommandError("setpriv is not installed") from error
    if done.returncode:
        raise CommandError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return done.stdout
