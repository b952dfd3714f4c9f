"""Allocation of whole nodes by Slurm, and the commands that run on them."""

from __future__ import annotations

import re
import select
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from iostudy.errors import UsageError
from iostudy.fleet.nodes import last_message
from iostudy.own_folder import new_identity
from iostudy.study.fleet_nodes import SlurmJob

_PROGRAM = "salloc"
_WHOLE_NODES = ("--exclusive", "--mem=0", "--ntasks-per-node=1", "--kill-command=TERM")
"""All of each node; and salloc ends as soon as Slurm ends the job."""
_STEP = ("--overlap", "--nodes=1", "--ntasks=1", "--cpu-bind=none", "--mem=0", "--quiet")
"""One process on one node, on all processors and memory of it, also next to others of the job."""
_HOLD = 'echo "$SLURM_JOB_ID $SLURM_JOB_NODELIST"; exec cat'
"""Slurm takes the nodes back when this ends: also if the controller is killed, by the pipe."""
_POLL_SECONDS = 1.0


@dataclass(frozen=True)
class SlurmNode:
    """A node of a job; ``python`` is the path of the interpreter on the node that has iostudy."""

    name: str
    job: str
    python: str
    sudo: bool = False

    @property
    def ends_with_agent(self) -> bool:
        """As `RemoteNode` says."""
        return True

    def command(self, *remote: str) -> list[str]:
        """As `RemoteNode` says."""
        prefix = ["sudo", "-n", "--"] if self.sudo else []
        where = [f"--jobid={self.job}", f"--nodelist={self.name}"]
        return ["srun", *where, *_STEP, "--", *prefix, *remote]

    def install_command(self, requirement: str) -> str:
        """As `RemoteNode` says; the job is over by then."""
        install = [self.python, "-m", "pip", "install", requirement]
        return shlex.join(["srun", f"--nodelist={self.name}", "--", *install])

    def find_address(self) -> str:
        """As `RemoteNode` says: the address of Slurm's configuration."""
        found = re.search(r"\bNodeAddr=(\S+)", _ask("scontrol", "show", "node", self.name))
        return found[1] if found else self.name


@contextmanager
def allocate(
    job: SlurmJob, names: Sequence[str], say: Callable[[str], None], *, python: str, sudo: bool
) -> Iterator[tuple[SlurmNode, ...]]:
    """Wait for nodes of Slurm, the named ones if there are ``names``, and keep them to the end.

    UsageError if it has none in time, with its reason.
    """
    _require_slurm()
    label = f"iostudy-{new_identity()}"
    command = [*_command(job, names), f"--job-name={label}", "--", "sh", "-c", _HOLD]
    with (
        tempfile.TemporaryFile() as messages,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=messages,
            start_new_session=True,  # Ctrl-C stops the studies before it ends the job
        ) as process,
    ):
        try:
            number, listed = _wait(process, messages, job, label, say)
            hosts = _ask("scontrol", "show", "hostnames", listed).split()
            try:
                yield tuple(SlurmNode(host, number, python, sudo) for host in hosts)
            finally:
                if process.poll() is not None:
                    say(f"Slurm ended the job: {_last_line(messages)}")
        except BaseException:
            process.terminate()  # a job that waits does not read the pipe
            raise


def _command(job: SlurmJob, names: Sequence[str]) -> list[str]:
    count = [f"--nodelist={','.join(names)}", f"--nodes={len(names)}"] if names else []
    partition = [f"--partition={job.partition}"] if job.partition else []
    limit = [f"--time={job.time_minutes}"] if job.time_minutes else []
    wanted = [f"--nodes={job.nodes}", *partition, *limit, *job.options, *count]
    return [_PROGRAM, *wanted, *_WHOLE_NODES]


def _wait(
    process: subprocess.Popen[bytes],
    messages: IO[bytes],
    job: SlurmJob,
    label: str,
    say: Callable[[str], None],
) -> tuple[str, str]:
    """The job's number and its list of nodes, once Slurm grants them."""
    assert process.stdout is not None
    end, reason = time.monotonic() + job.wait, ""
    while not select.select([process.stdout], [], [], _POLL_SECONDS)[0]:
        if time.monotonic() > end:
            raise _no_nodes(job, f"the job waits, and Slurm's reason is {reason or 'unknown'}")
        found = _ask("squeue", "--noheader", f"--name={label}", "--format=%r").strip()
        if found not in ("", "None", reason):
            say(f"Slurm's reason why the job waits: {found}")
            reason = found
    line = process.stdout.readline().decode().split()
    if len(line) != 2:
        raise _no_nodes(job, f"{_PROGRAM} ended with {process.wait()}: {_last_line(messages)}")
    return line[0], line[1]


def _last_line(messages: IO[bytes]) -> str:
    messages.seek(0)
    return last_message(messages.read().decode(errors="replace"))


def _ask(*command: str) -> str:
    """What a program of Slurm prints; empty if it fails."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _no_nodes(job: SlurmJob, found: str) -> UsageError:
    return UsageError(
        f"{job.describe()} within {job.wait:g} s",
        found=found,
        where=_PROGRAM,
        remedy="`sinfo` lists partitions and free nodes; name fewer nodes or another partition, or "
        "set nodes.slurm.wait to a longer time",
    )


def _require_slurm() -> None:
    missing = [name for name in (_PROGRAM, "srun", "scontrol", "squeue") if not shutil.which(name)]
    if missing:
        raise UsageError(
            "the programs of Slurm, to reach nodes",
            found=f"not installed: {', '.join(missing)}",
            where="this host",
            remedy="run the command on a login node of the cluster; apt-get install slurm-client",
        )
