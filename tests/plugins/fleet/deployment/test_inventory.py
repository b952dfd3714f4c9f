"""Inventories of Ansible: what its own program prints, and the subset that is read without it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy_fleet.deployment import inventory
from iostudy_fleet.deployment.inventory import parse_listing, read_inventory, read_nodes

INI = """\
# all hosts
lone ansible_host=10.0.0.9
[data]
node[01:03] ansible_user=root  # three
special ansible_port=2222 ansible_ssh_extra_args="-4 -q"
[data:vars]
ansible_ssh_common_args=-C -J b
iostudy_python=/opt/io/bin/python
[compute]
c[a:b]
[site:children]
data
compute
[site:vars]
ansible_ssh_common_args=-C -J a
ansible_become=yes
"""
YAML = """\
all:
  hosts:
    lone: {ansible_host: 10.0.0.9}
  children:
    site:
      vars: {ansible_ssh_common_args: "-C -J a", ansible_become: "yes"}
      children:
        data:
          hosts:
            node[01:03]: {ansible_user: root}
            special: {ansible_port: "2222", ansible_ssh_extra_args: "-4 -q"}
          vars: {ansible_ssh_common_args: "-C -J b", iostudy_python: /opt/io/bin/python}
        compute:
          hosts: {"c[a:b]": }
"""
OLD_NAMES = (
    "ansible_ssh_host=192.0.2.1 ansible_ssh_port=22 ansible_ssh_user=ops "
    "ansible_private_key_file=/k"
)
FULL_NAMES = (
    "ansible_connection=ansible.builtin.ssh ansible_become=yes "
    "ansible_become_method=ansible.builtin.sudo"
)
VAULT = "$ANSIBLE_VAULT;1.1;AES256\n  31"
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
    assert found.hosts["node02"]["ansible_ssh_common_args"] == "-C -J b"
    assert found.hosts["ca"]["ansible_ssh_common_args"] == "-C -J a"
    assert found.hosts["special"]["ansible_ssh_extra_args"] == "-4 -q"
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
    assert nodes["special"].options == ("-p", "2222", "-C", "-J", "b", "-4", "-q")
    assert nodes["node01"].options == ("-l", "root", "-C", "-J", "b")
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
        ("hosts", "[web:vars]\nansible_user='a' 'b\n", "line 2: not one text"),
        ("hosts", "[a:nodes]\nn1\n", "line 1: not a range"),
        ("hosts", "fe80::1\n", "neither HOST nor HOST:PORT"),
        ("hosts", "n[1:5000]\nm[1:5001]\n", "line 2: more than 10000 hosts"),
        ("hosts", "n[1:99999][1:99999]\n", "more than"),
        ("hosts", "n[1:9999999]\n", "more than 10000"),
        ("hosts.yml", "all: [a]\n", "its body is no mapping"),
        ("hosts.yml", "all: {hosts: [a]}\n", "hosts is no mapping"),
        ("hosts.yml", "plugin: aws_ec2\n", "the group plugin: its body is no mapping"),
        ("hosts.yml", "all: {host: {a: }}\n", "other keys than children, hosts, vars: host"),
        ("hosts.yml", "all: {hosts: {a: {ansible_user: !vault x}}}\n", "the tag !vault"),
        ("hosts", "a ansible_user={{u}}\n", "a with ansible_user: .*a template"),
        ("hosts", "a ansible_port=0x16\n", "a with ansible_port"),
        ("hosts", "a ansible_become=perhaps\n", "neither yes nor no"),
        ("hosts", "a ansible_host=b ansible_ssh_host=c\n", "ansible_host=b, ansible_ssh_host=c"),
        ("hosts", "a ansible_become=yes ansible_become_user=ops\n", "to the user ops"),
        ("hosts", 'a ansible_ssh_common_args="-o \'x"\n', "a with No closing quotation"),
        ("hosts.yml", "all: {\n", "expected"),
        ("hosts.yml", "- a\n", "no mapping of groups"),
        ("hosts", "a ansible_connection=local\n", "connection local"),
        ("hosts", "a ansible_become=true ansible_become_method=su\n", "become method su"),
        ("hosts", "\n", "no host"),
    ],
)
def test_a_bad_inventory_is_refused_with_its_reason(tmp_path, name, text, found):
    with pytest.raises(UsageError, match=found):
        read_nodes(write(tmp_path, name, text), [], python="p", sudo=False)


@pytest.mark.usefixtures("without_ansible")
@pytest.mark.parametrize(
    ("name", "text", "host", "options"),
    [
        ("h", "; old\n[web]\nn1\n", "n1", ()),
        ("h", "[web:hosts]\nn1\n", "n1", ()),
        ("h", "[web] # all\nn1.example.test:2222\n", "n1.example.test", ("-p", "2222")),
        ("h", "n[1:1]:2222 ansible_port=23\n", "n1", ("-p", "23")),
        ("inventory", "---\nall:\n  hosts:\n    n1:\n", "n1", ()),
        ("inventory", "# x\n\nweb:\n  hosts:\n    n1:2222:\n", "n1", ("-p", "2222")),
        ("h", "[web]\nn1\n[web:vars]\nansible_user=a#b\n", "n1", ("-l", "a#b")),
        ("h", "[web]\nn1\n[web:vars]\nansible_user = 'a b'\n", None, ()),
        ("h", f"n1 {OLD_NAMES}\n", "192.0.2.1", ("-p", "22", "-l", "ops", "-i", "/k")),
        ("h", f"n1 {FULL_NAMES}\n", "n1", ()),
    ],
)
def test_what_ansible_reads_is_read_as_it_does(tmp_path: Path, name, text, host, options):
    path = write(tmp_path, name, text)
    if host is None:
        with pytest.raises(UsageError, match="'a b' is not usable"):
            read_nodes(path, [], python="p", sudo=False)
        return
    (node,) = read_nodes(path, [], python="p", sudo=False)
    assert (node.host, node.options) == (host, options)


@pytest.mark.usefixtures("without_ansible")
@pytest.mark.parametrize("folder", ["group_vars", "host_vars"])
def test_variables_in_other_files_need_ansible(tmp_path: Path, folder: str):
    inventory = write(tmp_path, "hosts", INI)
    (tmp_path / folder).mkdir()
    assert read_inventory(inventory).hosts
    (tmp_path / folder / "web.yml").write_text("ansible_port: 2200\n")
    with pytest.raises(UsageError, match=f"variables in .*{folder}") as error:
        read_inventory(inventory)
    assert "install ansible-core" in str(error.value)


@pytest.mark.child
@pytest.mark.skipif(shutil.which("ansible-inventory") is None, reason="needs ansible-inventory")
def test_what_ansible_cannot_read_or_expand_is_refused_with_its_reason(tmp_path: Path):
    for name, text, found in (
        ("unparsed.ini", "[web:children]\ndb\n", "[Uu]nable to parse|failed to parse|undefined"),
        ("jinja.ini", 'n1 ansible_host="{{ x }}.test"\n', "n1 with ansible_host: .*a template"),
        ("vault.yml", f"web: {{hosts: {{n1: {{ansible_user: !vault '{VAULT}'}}}}}}", "Vault"),
    ):
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
