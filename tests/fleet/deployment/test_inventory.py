"""Inventories of Ansible: what its own program prints, and the subset that is read without it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy.fleet.deployment import inventory
from iostudy.fleet.deployment.inventory import parse_listing, read_inventory, read_nodes

INI = """\
# all hosts
lone ansible_host=10.0.0.9
[data]
node[01:03] ansible_user=root  # three
special ansible_port=2222 rack="a b"
[data:vars]
disk=sdb
iostudy_python=/opt/io/bin/python
[compute]
c[a:b]
[site:children]
data
compute
[site:vars]
disk=sda
ansible_become=yes
"""
YAML = """\
all:
  hosts:
    lone: {ansible_host: 10.0.0.9}
  children:
    site:
      vars: {disk: sda, ansible_become: "yes"}
      children:
        data:
          hosts:
            node[01:03]: {ansible_user: root}
            special: {ansible_port: "2222", rack: a b}
          vars: {disk: sdb, iostudy_python: /opt/io/bin/python}
        compute:
          hosts: {"c[a:b]": }
"""
HOSTS = {"lone", "node01", "node02", "node03", "special", "ca", "cb"}


@pytest.fixture
def without_ansible(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(inventory.shutil, "which", lambda _: None)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(("name", "text"), [("hosts", INI), ("hosts.yaml", YAML)])
@pytest.mark.usefixtures("without_ansible")
def test_groups_and_variables_are_merged_as_ansible_does(tmp_path: Path, name: str, text: str):
    found = read_inventory(write(tmp_path, name, text))
    assert set(found.hosts) == HOSTS
    assert found.hosts["node02"]["disk"] == "sdb"
    assert found.hosts["ca"]["disk"] == "sda"
    assert found.hosts["special"]["rack"] == "a b"
    assert set(found.groups["site"]) == HOSTS - {"lone"}


@pytest.mark.child
@pytest.mark.skipif(shutil.which("ansible-inventory") is None, reason="needs ansible-inventory")
@pytest.mark.parametrize(("name", "text"), [("hosts", INI), ("hosts.yaml", YAML)])
def test_ansible_reads_the_same(tmp_path: Path, name: str, text: str, monkeypatch):
    path = write(tmp_path, name, text)
    theirs = read_inventory(path)
    monkeypatch.setattr(inventory.shutil, "which", lambda _: None)
    ours = read_inventory(path)
    as_text = {host: {k: str(v) for k, v in own.items()} for host, own in theirs.hosts.items()}
    assert {host: dict(own) for host, own in ours.hosts.items()} == as_text
    for group in ("data", "compute", "site"):
        assert set(ours.groups[group]) == set(theirs.groups[group])


@pytest.mark.usefixtures("without_ansible")
def test_variables_of_ansible_reach_ssh(tmp_path: Path):
    path = write(tmp_path, "hosts", INI)
    nodes = {own.name: own for own in read_nodes(path, ["data"], python="/usr/bin/x", sudo=False)}
    assert set(nodes) == {"node01", "node02", "node03", "special"}
    assert nodes["special"].options == ("-p", "2222")
    assert nodes["node01"].options == ("-l", "root")
    assert nodes["node01"].sudo
    assert nodes["node01"].python == "/opt/io/bin/python"
    (lone,) = read_nodes(path, ["lone"], python="/usr/bin/x", sudo=False)
    assert (lone.host, lone.python, lone.sudo) == ("10.0.0.9", "/usr/bin/x", False)


@pytest.mark.usefixtures("without_ansible")
@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("hosts", "node[3:1]\n", "not a range"),
        ("hosts", "a b\n", "line 1: no = in b"),
        ("hosts", "[a:children]\nb\n", "the group b is not defined"),
        ("hosts", "[a:children]\nb\n[b:children]\na\n", "contains itself"),
        ("hosts.yml", "all: [a]\n", "other keys"),
        ("hosts.yml", "all: {\n", "while parsing"),
        ("hosts.yml", "- a\n", "no groups"),
        ("hosts", "a ansible_connection=local\n", "connection local"),
        ("hosts", "a ansible_become=true ansible_become_method=su\n", "become method su"),
        ("hosts", "\n", "no host"),
    ],
)
def test_a_bad_inventory_is_refused_with_its_reason(tmp_path, name, text, found):
    with pytest.raises(UsageError, match=found):
        read_nodes(write(tmp_path, name, text), [], python="p", sudo=False)


@pytest.mark.usefixtures("without_ansible")
def test_an_unknown_group_names_the_known(tmp_path: Path):
    with pytest.raises(UsageError, match="compute, data"):
        read_nodes(write(tmp_path, "hosts", INI), ["dat"], python="p", sudo=False)


@pytest.mark.usefixtures("without_ansible")
def test_a_dynamic_inventory_needs_ansible(tmp_path: Path):
    path = write(tmp_path, "hosts", "#!/bin/sh\n")
    path.chmod(0o755)
    with pytest.raises(UsageError, match="ansible-core"):
        read_inventory(path)


def test_the_listing_of_ansible_needs_its_variables():
    with pytest.raises(UsageError, match="hostvars"):
        parse_listing("{}", "hosts")
    found = parse_listing(
        json.dumps({"_meta": {"hostvars": {"a": {"x": 1}}}, "g": {"hosts": ["a", "b"]}}), "hosts"
    )
    assert found.hosts == {"a": {"x": 1}, "b": {}}


def test_a_failure_of_ansible_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(inventory.shutil, "which", lambda _: "/usr/bin/ansible-inventory")
    failed = subprocess.CompletedProcess([], 4, "", "ERROR! no such plugin")
    monkeypatch.setattr(inventory.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(UsageError, match="no such plugin"):
        read_inventory(write(tmp_path, "hosts", INI))
