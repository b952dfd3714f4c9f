"""Start of the watchdog, a small process that restores the settings of a killed run.

The watchdog waits for the lock of the run's journal (`watchdog.sh`). The kernel releases it when
the run, and every command of it that changes the host, has ended, however they ended. A run that
has restored everything has removed the journal, and the watchdog ends. Otherwise it runs
`iostudy.cli.watchdog_recovery`, which restores as every command does first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import iostudy
from iostudy.safe_path import ROOT_UID
from iostudy.settings.commands import SEARCH_PATH, CommandError
from iostudy.settings.transaction.locks import LOCK_DIR
from iostudy.settings.transaction.state import STATE_DIR

SCRIPT = Path(__file__).with_suffix(".sh")

_PASSED = ("HADOOP_CONF_DIR", "HADOOP_HOME", "HOME", "JAVA_HOME", "LANG", "LC_ALL", LOCK_DIR)
"""Variables that a recovery may need. Every user can read the environment of a unit."""

_SYSTEMD_SECONDS = 10.0
_IN_BACKGROUND = 'sh "$@" &'
"""The shell of this command ends at once, so the watchdog is a child of the init process."""


def start_watchdog(journal: Path, output_folder: Path | None) -> None:
    """Start the watchdog of a journal, which writes its log to the output folder.

    As root under systemd it is a transient unit with a control group of its own, else a process in
    a session of its own. CommandError if neither can be started.
    """
    if not shutil.which("flock", path=SEARCH_PATH):
        raise CommandError("flock is not installed")
    arguments = [str(SCRIPT), str(journal.absolute()), sys.executable]
    if output_folder is not None:
        arguments.append(str(output_folder.absolute()))
    environment = _environment(journal)
    if not (_can_use_systemd() and _start_unit(journal, arguments, environment)):
        _start_process(arguments, environment)


def _environment(journal: Path) -> dict[str, str]:
    """Return the environment of the watchdog, without relative paths: it works in ``/``."""
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    if LOCK_DIR in passed:
        passed[LOCK_DIR] = str(Path(passed[LOCK_DIR]).absolute())
    return passed | {
        "PATH": SEARCH_PATH,
        "PYTHONPATH": str(Path(iostudy.__file__).absolute().parent.parent),
        STATE_DIR: str(journal.absolute().parent),
    }


def _can_use_systemd() -> bool:
    """Return whether systemd is running (sd_booted(3)), and sees what this process changes."""
    if os.geteuid() != ROOT_UID or not Path("/run/systemd/system").is_dir():
        return False
    kinds = ("ipc", "mnt", "net", "pid")
    same = all(_namespace("self", kind) == _namespace("1", kind) for kind in kinds)
    return same and shutil.which("systemd-run", path=SEARCH_PATH) is not None


def _namespace(process: str, kind: str) -> str:
    try:
        return str(Path(f"/proc/{process}/ns/{kind}").readlink())
    except OSError:  # hidden from root in a container
        return ""


def _start_unit(journal: Path, arguments: list[str], environment: dict[str, str]) -> bool:
    """Start a transient unit; return whether systemd accepted it."""
    variables = [f"--setenv={name}={value}" for name, value in environment.items()]
    command = [
        "systemd-run",
        "--quiet",
        "--collect",
        "--no-ask-password",
        f"--unit=iostudy-watchdog-{journal.stem}",
        f"--description=Restores the settings of iostudy process {os.getpid()} if it is killed",
        *variables,
        "--",
        "/bin/sh",
        *arguments,
    ]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={**os.environ, "PATH": SEARCH_PATH},
            timeout=_SYSTEMD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _start_process(arguments: list[str], environment: dict[str, str]) -> None:
    """Start a process in a session of its own, which has no open file and outlives this one."""
    done = subprocess.run(
        ["/bin/sh", "-c", _IN_BACKGROUND, "watchdog", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=environment,
        start_new_session=True,
        check=False,
    )
    if done.returncode:
        raise CommandError(f"sh ended with {done.returncode}")
