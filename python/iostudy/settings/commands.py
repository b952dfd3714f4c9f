"""Execution of system tools that attach, format and mount."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from iostudy.errors import TargetError

_PACKAGES = {
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "setpriv": "util-linux",
    "wipefs": "util-linux",
    "lvm": "lvm2",
    "dmsetup": "dmsetup",
    "mdadm": "mdadm",
    "udevadm": "udev",
    "mkfs.ext2": "e2fsprogs",
    "mkfs.ext3": "e2fsprogs",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
}
"""The Debian package of each tool."""

SEARCH_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
"""The user's ``PATH`` and the folders of system tools."""

MAX_OUTPUT_BYTES = 1 << 16
"""Most that a kept command may print."""

_KEEPER = Path(__file__).parent / "command_keeper.py"


class CommandError(Exception):
    """Failure of a tool; the text is its error message."""


def require(*tools: str) -> None:
    """TargetError names missing tools and their packages."""
    missing = [tool for tool in tools if not is_installed(tool)]
    if missing:
        packages = sorted({_PACKAGES[tool] for tool in missing})
        raise TargetError(
            "the tools for a scratch disk",
            found=f"{', '.join(missing)} missing",
            where="this host",
            remedy=f"apt-get install {' '.join(packages)}",
        )


def is_installed(tool: str) -> bool:
    """Return whether the tool is installed."""
    return shutil.which(tool, path=SEARCH_PATH) is not None


def format_complaint(error: CommandError) -> str:
    """Return the error message of the tool, without its usage text."""
    return str(error).partition("\nUsage:")[0]


def run_kept(
    *command: str, seconds: float = 0, text: str = "", environment: Mapping[str, str] | None = None
) -> str:
    """Run a command in ``/`` with a text as its input; return its output.

    CommandError if it fails, prints over 64 KiB, or does not end within ``seconds`` (0: no limit);
    then its processes are killed. It may leave a server behind, which must not have the lock on the
    journal: a keeper holds the lock until the command ends, also after this process was killed. An
    exception in this process ends the command, and is raised when that has ended.
    """
    limits = (f"{seconds:g}", str(MAX_OUTPUT_BYTES))
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(_KEEPER), *limits, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        start_new_session=True,
        cwd="/",
        env=_environment() if environment is None else {**environment},
    ) as keeper:
        try:
            answer, _ = keeper.communicate(text.encode(errors="surrogateescape"))
        except BaseException:
            keeper.terminate()
            keeper.wait()
            raise
    if not answer:
        raise CommandError(f"the process that ran {command[0]} was killed")
    done = json.loads(answer)
    if done["status"] != 0:
        ended = done["problem"] or f"it ended with {done['status']}"
        raise CommandError(": ".join(filter(None, (ended, done["messages"].strip()))))
    return str(done["output"])


def run(*command: str) -> str:
    """Run a tool and return its output; CommandError with its message if it failed.

    The tool inherits the lock on the journal and is killed with this process, so a free lock means
    that no tool is running. Its own session excludes it from terminal signals: this process decides
    what to end.
    """
    try:
        done = subprocess.run(
            ["setpriv", "--pdeathsig", "KILL", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            close_fds=False,
            start_new_session=True,
            env=_environment(),
            errors="surrogateescape",
        )
    except FileNotFoundError as error:
        raise CommandError("setpriv is not installed") from error
    if done.returncode:
        raise CommandError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return done.stdout


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": SEARCH_PATH, "LC_ALL": "C"}
