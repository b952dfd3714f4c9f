"""Nodes as the command line names them, and the commands that reach them."""

import pytest

from iostudy.errors import UsageError
from iostudy.fleet.nodes import SshNode, build_nodes, parse_nodes

PYTHON = "/opt/iostudy/bin/python"


def test_hosts_are_named_without_their_users():
    nodes = build_nodes(parse_nodes("ssh:node01,admin@node02.site").hosts, python=PYTHON, sudo=True)
    assert [node.name for node in nodes] == ["node01", "node02.site"]
    assert [node.host for node in nodes] == ["node01", "admin@node02.site"]


@pytest.mark.parametrize(
    "text",
    ["node01", "ssh:", "ssh:a,,b", "ssh:a,a", "ssh:u@a,v@a", "ssh:-oProxyCommand=x", "ssh:../x"],
)
def test_what_cannot_name_nodes_is_refused(text: str):
    with pytest.raises(UsageError, match="different names"):
        parse_nodes(text)


def test_a_command_has_no_prompt_and_is_quoted_for_the_nodes_shell():
    node = SshNode("n", "admin@n", PYTHON, sudo=True, options=("-p", "22"))
    assert node.command(PYTHON, "-c", "print('$HOME')") == [
        "ssh", "-T", "-o", "BatchMode=yes", "-p", "22", "--", "admin@n",
        f"sudo -n -- {PYTHON} -c 'print('\"'\"'$HOME'\"'\"')'",
    ]  # fmt: skip
