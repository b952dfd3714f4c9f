"""Runs the program in a process of its own, with a state directory of its own."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO

from iostudy.host import devices
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.ledger.store import FILE_NAME, Ledger
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.recovery import restore_all
from tests.forked import start_forked, start_interpreter
from tests.watchdogs import find_watchdogs, kill_watchdogs

LOOPBACK = """\
question: Which?
target: {loopback: {size: 64MiB}}
factors: {block.scheduler: [none, bfq]}
workloads:
  - io: {label: file-writes, operation: write, files: 2, size: 4MiB}
decide: {margin: 3%, risk: 5%, blocks: [5, BLOCKS]}
"""
HANG_GUARD_SECONDS = 120


def study(text: str = LOOPBACK, blocks: int = 6) -> str:
    """A study of a few seconds."""
    return text.replace("BLOCKS", str(blocks))


def endless(text: str = LOOPBACK) -> str:
    """A study that lasts until it is ended: no luck can decide it before its last block."""
    return text.replace("[5, BLOCKS]", "[900, 900]")


@dataclass
class Program:
    """iostudy in a folder; ``study.yaml`` there is the study, ``out`` the output folder.

    A process is a fork of that of the tests, unless ``interpreter`` asks for a Python of its own.
    """

    folder: Path
    interpreter: bool = False
    started: list[subprocess.Popen[str]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.env = {
            **os.environ,
            "IOSTUDY_STATE_DIR": str(self.folder / "state"),
            "NO_COLOR": "1",
            "COLUMNS": "160",
        }

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def write(self, text: str) -> None:
        (self.folder / "study.yaml").write_text(text)

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=HANG_GUARD_SECONDS)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def start(
        self,
        *arguments: str,
        stdout: int | IO[str] = subprocess.PIPE,
        stderr: int | IO[str] = subprocess.PIPE,
        before: Callable[[], None] | None = None,
    ) -> subprocess.Popen[str]:
        """In a process of its own, in which ``before`` is called before the program begins."""
        start = start_interpreter if self.interpreter else start_forked
        process = start(
            arguments,
            self.folder,
            self.env,
            before,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """Kill what was started and still runs, and put everything back.

        A test that failed half-way must not leave a study or a disk behind for the next one.
        """
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()
        restore_all(Path(self.env["IOSTUDY_STATE_DIR"]), ConflictPolicy.OVERWRITE)

    def watchdogs(self) -> list[int]:
        """Processes of watchdogs that wait for a journal of this program."""
        return find_watchdogs(self.env["IOSTUDY_STATE_DIR"])

    def kill_without_watchdog(self, process: subprocess.Popen[str]) -> None:
        """Kill the watchdogs first, so that the next command has to restore."""
        kill_watchdogs(self.env["IOSTUDY_STATE_DIR"])
        process.kill()
        process.communicate()

    def run_study(self, *more: str) -> subprocess.CompletedProcess[str]:
        return self("run", "study.yaml", "--out", "out", *more)

    def start_study(self, *more: str) -> subprocess.Popen[str]:
        return self.start("run", "study.yaml", "--out", "out", *more)

    def start_study_in_group(self) -> subprocess.Popen[str]:
        """In a process group of its own, whose number is the process's."""
        return self.start("run", "study.yaml", "--out", "out", before=os.setpgrp)

    def rows(self) -> tuple[TrialRow, ...]:
        ledger = Ledger.open(self.out, read_only=True)
        try:
            return ledger.rows()
        finally:
            ledger.close()

    def wait_for_trials(self, process: subprocess.Popen[str], count: int) -> None:
        """Until that many trials are finished; a failure if the process ends before."""
        while process.poll() is None:
            if (self.out / FILE_NAME).exists():
                finished = [r for r in self.rows() if r.status is TrialStatus.FINISHED]
                if len(finished) >= count:
                    return
            time.sleep(0.02)
        raise AssertionError(process.communicate())

    def residue(self) -> list[str]:
        """Images, work folders, mounts and loop devices below the folder."""
        places = [
            str(p)
            for p in self.folder.rglob("*")
            if p.name.startswith(("scratch-", "iostudy-work-"))
        ]
        mounts = [
            m
            for m in Path("/proc/self/mounts").read_text(errors="replace").splitlines()
            if str(self.folder) in m
        ]
        loops = [
            name
            for name in devices.disk_names()
            if str(self.folder) in str(devices.read_device(name).backing_file)
        ]
        return [*places, *mounts, *loops]


def exists_below(folder: Path, pattern: str) -> bool:
    """Whether an entry matches; folders may vanish meanwhile, where Path.rglob fails."""
    entries = ((root, name) for root, *names in os.walk(folder) for name in chain(*names))
    return any(Path(root, name).match(pattern) for root, name in entries)
