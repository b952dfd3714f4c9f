"""Nodes that OpenSSH reaches, and the commands that run on them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from iostudy.errors import UsageError

_SCHEME = "ssh:"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
"""A node's results have a folder of its name."""


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


def parse_nodes(text: str, *, python: str, sudo: bool) -> tuple[SshNode, ...]:
    """The nodes of ``ssh:[USER@]HOST,...``; UsageError for anything else."""
    if not text.startswith(_SCHEME):
        raise _bad_nodes(f"{text!r}, which does not begin with {_SCHEME}")
    hosts = text.removeprefix(_SCHEME).split(",")
    return check_names(
        [SshNode(host.rpartition("@")[2], host, python, sudo) for host in hosts], "--nodes"
    )


def check_names(nodes: Sequence[SshNode], where: str) -> tuple[SshNode, ...]:
    """The nodes; UsageError unless each has a name of its own that can be a folder."""
    counts = Counter(node.name for node in nodes)
    for node in nodes:
        if not is_name(node.name):
            raise _bad_nodes(f"the name {node.name!r}", where)
        if counts[node.name] > 1:
            raise _bad_nodes(f"{node.name} twice", where)
    return tuple(nodes)


def is_name(text: str) -> bool:
    """Whether a text can name a node and the folder of its results."""
    return _NAME.fullmatch(text) is not None


def _bad_nodes(found: str, where: str = "--nodes") -> UsageError:
    return UsageError(
        "nodes by different names of letters, digits, '.', '-' and '_'",
        found=found,
        where=where,
        remedy="write --nodes ssh:node01,admin@node02; for an IPv6 address or a port, use an alias "
        "of ~/.ssh/config",
    )
