"""Section `nodes`: where a fleet's nodes come from, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.folders import FLEET_FILES
from iostudy_fleet.study.section import (
    FleetNodes,
    InventoryHosts,
    SlurmJob,
    SshHosts,
    find_nodes_of,
)
from tests.study.files import GOOD, problems, read


def nodes(text: str) -> FleetNodes | None:
    return find_nodes_of(read(f"{GOOD}nodes: {text}\n"))


def test_a_study_names_hosts_or_an_inventory():
    assert find_nodes_of(read(GOOD)) is None
    assert nodes("{ssh: [node01, root@node02]}") == FleetNodes(SshHosts(("node01", "root@node02")))
    assert nodes("{inventory: hosts.ini, limit: [data, n7]}") == FleetNodes(
        InventoryHosts(Path("hosts.ini"), ("data", "n7"))
    )


def test_a_job_of_slurm_has_its_partition_times_and_options():
    assert nodes("{slurm: {nodes: 4}}") == FleetNodes(SlurmJob(4))
    own = nodes("{slurm: {nodes: 1, partition: p, time: 90s, wait: 1h, options: [--qos=q]}}")
    assert own is not None
    assert own.origin == SlurmJob(1, "p", 90, 3600, ("--qos=q",))
    assert (own.origin.time_minutes, own.origin.describe()) == (2, "1 node of Slurm, partition p")


def test_other_commands_say_what_the_nodes_are_for():
    own = nodes("{ssh: [root@n1, n2]}")
    assert own is not None
    assert own.describe() == "n1, n2, for `iostudy fleet`"
    assert own.explain_run("my study.yaml") == (
        "this host alone runs the study; `iostudy fleet run 'my study.yaml'` runs it on n1, n2"
    )


def test_the_number_of_nodes_is_known_where_the_text_has_it():
    assert FleetNodes(SlurmJob(4)).number == 4
    assert FleetNodes(SshHosts(("n1", "n2"))).number == 2
    assert FleetNodes(InventoryHosts(Path("hosts"))).number is None


def test_how_hosts_are_reached_is_part_of_it_and_options_take_precedence():
    own = nodes("{ssh: [n1], python: /opt/python, sudo: true}")
    assert own == FleetNodes(SshHosts(("n1",)), "/opt/python", sudo=True)
    assert own.with_options(python=None, sudo=False) == own
    changed = own.with_options(python="/usr/bin/python3", sudo=False)
    assert (changed.python, changed.sudo) == ("/usr/bin/python3", True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "give one of ssh"),
        ("[n1]", "a mapping is wanted"),
        ("{ssh: []}", "too few"),
        ("{ssh: n1}", "a list is wanted"),
        ("{ssh: [n1, u@n1]}", "n1 is listed twice"),
        ("{ssh: [-oProxyCommand=x]}", "no name"),
        ("{ssh: [../x]}", "no name"),
        *((f"{{ssh: [n1, u@{name}]}}", f"{name} is the name of a file") for name in FLEET_FILES),
        ("{ssh: [n1], inventory: hosts}", "give one of ssh"),
        ("{ssh: [n1], limit: [n1]}", "limit selects hosts of an inventory"),
        ("{scheduler: tls://head:8786}", "scheduler"),
        ("{host: [n1]}", "host"),
        ("{slurm: {}}", "nodes"),
        ("{slurm: {nodes: 0}}", "1 or more"),
        ("{slurm: {nodes: 2, queue: p}}", "queue"),
        ("{slurm: {nodes: 2, options: [-p x]}}", "long options"),
        ("{slurm: {nodes: 2}, ssh: [n1]}", "give one of ssh"),
    ],
)
def test_other_sections_are_errors_of_their_line(text: str, message: str):
    (problem,) = problems(f"{GOOD}nodes: {text}\n")
    assert problem.line == 9
    assert message in f"{problem.message} {problem.found} {problem.allowed}"
