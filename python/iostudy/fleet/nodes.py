"""Nodes that OpenSSH reaches, and the commands that run on them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iostudy.errors import UsageError
from iostudy.study.fleet_nodes import SshHosts, name_of_host, require_names

_SCHEME = "ssh:"


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

    def command(self, *remote: str) -> list[str]:
        """The command that runs another one on the node, without a prompt or a terminal."""
        prefix = ["sudo", "-n", "--"] if self.sudo else []
        options = ["-T", "-o", "BatchMode=yes", *self.options]
        return ["ssh", *options, "--", self.host, shlex.join([*prefix, *remote])]

    def install_command(self, requirement: str) -> str:
        """The line that installs a version of iostudy on the node."""
        return shlex.join(self.command(self.python, "-m", "pip", "install", requirement))


def parse_nodes(text: str) -> SshHosts:
    """The hosts of ``ssh:[USER@]HOST,...``; UsageError for anything else."""
    if not text.startswith(_SCHEME):
        raise _bad_nodes(f"{text!r}, which does not begin with {_SCHEME}", "--nodes")
    try:
        return SshHosts(tuple(text.removeprefix(_SCHEME).split(",")))
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
