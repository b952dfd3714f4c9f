"""Allocation of whole nodes by Slurm, and the commands that run on them."""

from __future__ import annotations

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
from iostudy.own_folder import new_identity
from iostudy_fleet.deployment.failed_command import explain_failure, last_line, no_python
from iostudy_fleet.deployment.readiness import Problem
from iostudy_fleet.study.section import SlurmJob, require_names

_PROGRAM = "salloc"
_WHOLE_NODES = ("--exclusive", "--mem=0", "--ntasks-per-node=1", "--kill-command=TERM", "--no-kill")
"""All of each node. salloc ends as soon as Slurm ends the job; a failed node does not end it."""
_STEP = ("--overlap", "--nodes=1", "--ntasks=1", "--cpu-bind=none", "--mem=0", "--quiet")
"""One process on one node, on all processors and memory of it, also next to others of the job."""
_HOLD = 'echo "$SLURM_JOB_ID $SLURM_JOB_NODELIST"; exec cat'
"""Slurm takes the nodes back when this ends: also if the controller is killed, by the pipe."""
_ONLY_CODE = "Exited with exit code"
"""srun's last line; the cause is above it."""
_NO_PROGRAM = "execve()"
"""Slurm's message if it cannot start a program."""
_POLL_SECONDS, _MOST_POLL_SECONDS = 1.0, 10.0
_END_SECONDS = 60.0
"""Time for salloc to give the nodes back."""
_UNAVAILABLE = ("down", "drain", "drng", "fail", "inval", "unk")
"""sinfo(1): how compact states of nodes begin that get no job."""


@dataclass(frozen=True)
class SlurmNode:
    """A node of a job; ``python`` is the path of the interpreter on the node that has iostudy."""

    name: str
    job: str
    python: str
    sudo: bool = False

    @property
    def kills_orphans(self) -> bool:
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

    def find_cause(self, messages: str) -> str:
        """As `RemoteNode` says."""
        causes = "\n".join(line for line in messages.splitlines() if _ONLY_CODE not in line)
        return last_line(causes if causes.strip() else messages)

    def explain(self, code: int, messages: str) -> Problem:
        """As `RemoteNode` says."""
        said = self.find_cause(messages)
        if _NO_PROGRAM in said:
            return no_python(self.python, said)
        return explain_failure(code, said, self.python, self.command(self.python, "--version"))


@dataclass(frozen=True)
class _Request:
    """The nodes that Slurm is to grant: those of ``names``, or any if there are none."""

    job: SlurmJob
    names: tuple[str, ...]

    def command(self) -> list[str]:
        """The command without the program that holds the nodes."""
        job = self.job
        count = [f"--nodelist={','.join(self.names)}", f"--nodes={len(self.names)}"]
        partition = [f"--partition={job.partition}"] if job.partition else []
        limit = [f"--time={job.time_minutes}"] if job.time_minutes else []
        wanted = [f"--nodes={job.nodes}", *partition, *limit, *job.options]
        return [_PROGRAM, *wanted, *(count if self.names else []), *_WHOLE_NODES]

    def refuse(self, found: str) -> UsageError:
        """The error without nodes."""
        named = f"{', '.join(self.names)} of Slurm, which the run has used"
        remedy = "wait for these nodes" if self.names else "name fewer nodes or another partition"
        return UsageError(
            f"{named if self.names else self.job.describe()} within {self.job.wait:g} s",
            found=found,
            where=_PROGRAM,
            remedy=f"`sinfo` lists partitions and free nodes; {remedy}, or set nodes.slurm.wait to "
            "a longer time",
        )


@contextmanager
def allocate(
    job: SlurmJob, names: Sequence[str], say: Callable[[str], None], *, python: str, sudo: bool
) -> Iterator[tuple[SlurmNode, ...]]:
    """Wait for nodes of Slurm and keep them to the end.

    If there are ``names``, they are those nodes, without the ones that get no job now. UsageError
    if Slurm has none in time, with its reason.
    """
    _require_slurm()
    request = _Request(job, _leave_out_unavailable(names, say))
    label = f"iostudy-{new_identity()}"
    command = [*request.command(), f"--job-name={label}", "--", "sh", "-c", _HOLD]
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
            number, listed = _wait(process, messages, request, label, say)
            hosts = _require_names(_ask("scontrol", "show", "hostnames", listed).split())
            try:
                yield tuple(SlurmNode(host, number, python, sudo) for host in hosts)
            finally:
                if process.poll() is not None:
                    say(f"Slurm ended the job: {_read_last_line(messages)}")
        except BaseException:
            process.terminate()  # a job that waits does not read the pipe
            raise
        finally:
            _end(process, label, say)


def _leave_out_unavailable(names: Sequence[str], say: Callable[[str], None]) -> tuple[str, ...]:
    """The nodes that can get a job; UsageError if there is none of them."""
    if not names:
        return ()
    lines = _ask("sinfo", "--noheader", "--all", "--Node", "--format=%N %t").splitlines()
    states = {name: state for name, _, state in (line.partition(" ") for line in lines)}
    unavailable = {
        name: states.get(name, "unknown to it").strip()
        for name in names
        if states.get(name, _UNAVAILABLE[0]).startswith(_UNAVAILABLE)
    }
    for name, state in unavailable.items():
        say(f"{name} is left out: Slurm says that it is {state}")
    if len(unavailable) == len(names):
        raise UsageError(
            "a node of the run that can get a job of Slurm",
            found=", ".join(f"{name} is {state}" for name, state in unavailable.items()),
            where="sinfo",
            remedy="give a node back to Slurm (`scontrol update nodename=NODE state=resume`), "
            "then resume",
        )
    return tuple(name for name in names if name not in unavailable)


def _wait(
    process: subprocess.Popen[bytes],
    messages: IO[bytes],
    request: _Request,
    label: str,
    say: Callable[[str], None],
) -> tuple[str, str]:
    """The job's number and its list of nodes, once Slurm grants them."""
    assert process.stdout is not None
    begin, reason = time.monotonic(), ""
    while not select.select([process.stdout], [], [], _poll(begin, request.job.wait))[0]:
        if time.monotonic() - begin >= request.job.wait:
            raise request.refuse(f"the job waits, and Slurm's reason is {reason or 'unknown'}")
        queue_reason = _find_reason(label)
        if queue_reason not in ("", "None", reason):
            say(f"Slurm's reason why the job waits: {queue_reason}")
            reason = queue_reason
    line = process.stdout.readline().decode().split()
    if len(line) != 2:
        raise request.refuse(f"{_PROGRAM} ended with {process.wait()}: {_read_last_line(messages)}")
    return line[0], line[1]


def _require_names(hosts: Sequence[str]) -> Sequence[str]:
    try:
        require_names(hosts)
    except ValueError as error:
        raise UsageError(
            "nodes of Slurm with names that can be folders of the run",
            found=str(error),
            where=_PROGRAM,
            remedy="exclude them, with nodes.slurm.options: [--exclude=NAME]",
        ) from error
    return hosts


def _poll(begin: float, wait: float) -> float:
    """Time until the next question: one daemon of the cluster answers those of all users."""
    waited = time.monotonic() - begin
    return min(max(waited, _POLL_SECONDS), _MOST_POLL_SECONDS, max(wait - waited, 0.0))


def _find_reason(label: str) -> str:
    """Why the job waits. The job stays in the queue if Slurm's controller gives no answer now."""
    done = _run("squeue", "--noheader", f"--name={label}", "--format=%r")
    return done.stdout.strip() if not done.returncode else f"unknown: {last_line(done.stderr)}"


def _end(process: subprocess.Popen[bytes], label: str, say: Callable[[str], None]) -> None:
    """Give the nodes back."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        say(f"{_PROGRAM} does not end; `scancel --name={label}` ends its job")
        process.kill()


def _read_last_line(messages: IO[bytes]) -> str:
    messages.seek(0)
    return last_line(messages.read().decode(errors="replace"))


def _ask(*command: str) -> str:
    """What a program of Slurm prints; UsageError if it fails or prints nothing."""
    done = _run(*command)
    if done.returncode or not done.stdout.strip():
        raise UsageError(
            "an answer of Slurm",
            found=f"exit code {done.returncode}: {last_line(done.stderr)}",
            where=shlex.join(command),
            remedy="let this command work on this host, then repeat",
        )
    return done.stdout


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _require_slurm() -> None:
    programs = (_PROGRAM, "srun", "scontrol", "squeue", "sinfo")
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        raise UsageError(
            "the programs of Slurm, to reach nodes",
            found=f"not installed: {', '.join(missing)}",
            where="this host",
            remedy="run the command on a login node of the cluster; apt-get install slurm-client",
        )
