"""Nodes as the command line names them, and the commands that reach them."""

import pytest

from iostudy.errors import UsageError
from iostudy_fleet.deployment.nodes import SshNode, build_nodes, parse_nodes
from iostudy_fleet.deployment.readiness import Problem
from iostudy_fleet.deployment.slurm import SlurmNode
from iostudy_fleet.study.section import SlurmJob, SshHosts

PYTHON = "/opt/iostudy/bin/python"


def test_hosts_are_named_without_their_users():
    hosts = parse_nodes("ssh:node01,admin@node02.site")
    assert isinstance(hosts, SshHosts)
    nodes = build_nodes(hosts.hosts, python=PYTHON, sudo=True)
    assert [node.name for node in nodes] == ["node01", "node02.site"]
    assert [node.host for node in nodes] == ["node01", "admin@node02.site"]


@pytest.mark.parametrize(
    "text",
    [
        "node01",
        "ssh:",
        "ssh:a,,b",
        "ssh:a,a",
        "ssh:u@a,v@a",
        "ssh:-oProxyCommand=x",
        "ssh:../x",
        "slurm:",
        "slurm:0",
        "slurm:n1",
    ],
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


def test_a_number_of_nodes_of_slurm_is_a_job_and_each_command_a_step_on_one_of_them():
    assert parse_nodes("slurm:4") == SlurmJob(4)
    command = SlurmNode("n1", "17", PYTHON, sudo=True).command(PYTHON, "-")
    assert command[:3] == ["srun", "--jobid=17", "--nodelist=n1"]
    assert command[-6:] == ["--", "sudo", "-n", "--", PYTHON, "-"]


def test_a_failed_command_is_explained_as_its_way_to_the_node_fails():
    ssh = SshNode("n", "admin@n", PYTHON)
    slurm = SlurmNode("n", "17", PYTHON)
    ended = "srun: error: n: task 0: Exited with exit code 255\n"
    assert ssh.explain(255, "banner\nno route\n") == Problem(
        "no connection: no route", "make `ssh admin@n` work"
    )
    assert slurm.explain(255, f"cause\n\n{ended}").found == "no facts, exit code 255: cause"
    assert slurm.explain(2, f"execve(): no file\n{ended}").found.startswith("no Python in /opt")
    assert ssh.explain(127, "sh: not found").found.startswith("no Python in /opt")
    assert ssh.explain(1, "sudo: a password is required").remedy.startswith("let sudo run")
    assert (slurm.find_cause(ended), ssh.find_cause(" \n")) == (ended.strip(), "no message")
