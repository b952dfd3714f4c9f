"""Nodes on which this host can run programs, and those that OpenSSH reaches."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from iostudy.errors import UsageError
from iostudy_fleet.deployment.failed_command import explain_failure, last_line
from iostudy_fleet.deployment.readiness import Problem
from iostudy_fleet.study.section import SlurmJob, SshHosts, name_of_host, require_names

_SSH, _SLURM = "ssh", "slurm"
_NO_CONNECTION = 255
"""ssh(1): exit code of an error of ssh itself."""


class RemoteNode(Protocol):
    """A node; ``python`` is the path of the interpreter there that has iostudy."""

    @property
    def name(self) -> str:
        """Its name in the fleet."""

    @property
    def python(self) -> str:
        """Path of the interpreter."""

    @property
    def kills_orphans(self) -> bool:
        """Whether it kills what is left of a command when the first process of that ends."""

    def command(self, *remote: str) -> list[str]:
        """The command that runs another one on the node, without a prompt or a terminal."""

    def install_command(self, requirement: str) -> str:
        """The line that installs a version of iostudy on the node."""

    def find_cause(self, messages: str) -> str:
        """The line of a command's messages that says why it failed."""

    def explain(self, code: int, messages: str) -> Problem:
        """Why the command of its Python failed, and the remedy."""


@dataclass(frozen=True)
class SshNode:
    """A node with what ``ssh`` and the programs on it need to know.

    ``host`` is a name or alias for ssh, perhaps with a user (``USER@HOST``). ``options`` are more
    options of ssh. ``python`` is the path of the interpreter on the node that has iostudy.
    """

    name: str
    host: str
    python: str
    sudo: bool = False
    options: tuple[str, ...] = ()

    @property
    def kills_orphans(self) -> bool:
        """As `RemoteNode` says."""
        return False

    def command(self, *remote: str) -> list[str]:
        """As `RemoteNode` says."""
        prefix = ["sudo", "-n", "--"] if self.sudo else []
        options = ["-T", "-o", "BatchMode=yes", *self.options]
        return ["ssh", *options, "--", self.host, shlex.join([*prefix, *remote])]

    def install_command(self, requirement: str) -> str:
        """As `RemoteNode` says."""
        return shlex.join(self.command(self.python, "-m", "pip", "install", requirement))

    def find_cause(self, messages: str) -> str:
        """As `RemoteNode` says."""
        return last_line(messages)

    def explain(self, code: int, messages: str) -> Problem:
        """As `RemoteNode` says."""
        said = self.find_cause(messages)
        if code == _NO_CONNECTION:
            return Problem(f"no connection: {said}", f"make `ssh {self.host}` work")
        return explain_failure(code, said, self.python, self.command(self.python, "--version"))


def require_ssh() -> None:
    """UsageError without the program ssh."""
    if shutil.which("ssh") is None:
        raise UsageError(
            "the program ssh, to reach nodes",
            found="it is not installed",
            where="this host",
            remedy="apt-get install openssh-client",
        )


def parse_nodes(text: str) -> SshHosts | SlurmJob:
    """The hosts of ``ssh:[USER@]HOST,...``, or the job of ``slurm:COUNT``; else UsageError."""
    scheme, _, rest = text.partition(":")
    if scheme == _SLURM and rest.isdecimal() and int(rest) > 0:
        return SlurmJob(int(rest))
    if scheme != _SSH:
        raise _bad_nodes(f"{text!r}, which is neither ssh:HOST,... nor slurm:COUNT", "--nodes")
    try:
        return SshHosts(tuple(rest.split(",")))
    except ValueError as error:
        raise _bad_nodes(str(error), "--nodes") from error


def build_nodes(hosts: Iterable[str], *, python: str, sudo: bool) -> tuple[SshNode, ...]:
    """The nodes of these hosts."""
    return tuple(SshNode(name_of_host(host), host, python, sudo) for host in hosts)


def check_names(nodes: Sequence[SshNode], where: str) -> tuple[SshNode, ...]:
    """The nodes; UsageError unless each has a name of its own that can be a folder."""
    try:
        require_names(node.name for node in nodes)
    except ValueError as error:
        raise _bad_nodes(str(error), where) from error
    return tuple(nodes)


def _bad_nodes(found: str, where: str) -> UsageError:
    return UsageError(
        "nodes by different names of letters, digits, '.', '-' and '_'",
        found=found,
        where=where,
        remedy="write --nodes ssh:node01,admin@node02; for an IPv6 address or a port, use an alias "
        "of ~/.ssh/config",
    )
