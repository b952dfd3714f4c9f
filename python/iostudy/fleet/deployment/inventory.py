"""Ansible inventories as Ansible reads them: groups, variables, and the nodes of a selection."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostudy.errors import UsageError
from iostudy.fleet.deployment.inventory_text import parse_ini, parse_yaml
from iostudy.fleet.deployment.nodes import SshNode, check_names

PYTHON_VARIABLE = "iostudy_python"
"""Ansible's own ansible_python_interpreter names the Python of its modules, which lacks iostudy."""

_PROGRAM = "ansible-inventory"
_TRUE = ("true", "yes", "on", "1")
_ALL = "all"
_SSH = ("ssh", "smart")
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Inventory:
    """Hosts with all variables that apply to them, and the hosts of each group."""

    hosts: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Sequence[str]]

    def select(self, names: Sequence[str], where: str) -> tuple[str, ...]:
        """The hosts of these groups and hosts, in the order of the inventory."""
        known = {_ALL: tuple(self.hosts), **self.groups, **{host: (host,) for host in self.hosts}}
        for name in names:
            if name not in known:
                raise UsageError(
                    "groups or hosts of the inventory",
                    found=name,
                    where=where,
                    remedy=f"name some of: {', '.join(sorted(known))}",
                )
        chosen = {host for name in names for host in known[name]}
        return tuple(host for host in self.hosts if host in chosen)


def read_nodes(path: Path, limit: Sequence[str], *, python: str, sudo: bool) -> tuple[SshNode, ...]:
    """The selected nodes of an inventory; UsageError if it cannot be read or has none."""
    inventory = read_inventory(path)
    where = str(path)
    chosen = inventory.select(limit or [_ALL], where)
    if not chosen:
        raise _bad_inventory(where, "no host", "add hosts, or name another file")
    nodes = [
        build_node(name, inventory.hosts[name], where, python=python, sudo=sudo) for name in chosen
    ]
    return check_names(nodes, where)


def build_node(
    name: str, variables: Mapping[str, Any], where: str, *, python: str, sudo: bool
) -> SshNode:
    """The node that the variables of a host describe."""
    connection = variables.get("ansible_connection", "smart")
    if connection not in _SSH:
        raise _bad_inventory(
            where, f"{name} with the connection {connection}", "leave it out with --limit"
        )
    method = variables.get("ansible_become_method", "sudo")
    become = _is_true(variables.get("ansible_become", sudo))
    if become and method != "sudo":
        raise _bad_inventory(where, f"{name} with the become method {method}", "use sudo")
    return SshNode(
        name=name,
        host=str(variables.get("ansible_host", name)),
        python=str(variables.get(PYTHON_VARIABLE, python)),
        sudo=become,
        options=tuple(_ssh_options(variables)),
    )


def read_inventory(path: Path) -> Inventory:
    """Read an inventory with Ansible's own program if it is installed, else as YAML or INI."""
    if not path.exists():
        raise _bad_inventory(str(path), "it does not exist", "name an inventory of Ansible")
    if shutil.which(_PROGRAM):
        return parse_listing(_run_ansible(path), str(path))
    if not path.is_file() or path.stat().st_mode & 0o111:
        raise _bad_inventory(
            str(path), f"a folder or a program, and no {_PROGRAM}", "install ansible-core"
        )
    text = _read_text(path)
    parse = parse_yaml if path.suffix in (".yml", ".yaml", ".json") else parse_ini
    hosts, groups = parse(text, str(path))
    return Inventory(hosts, groups)


def parse_listing(text: str, where: str) -> Inventory:
    """Parse what ``ansible-inventory --list`` prints."""
    try:
        listing = json.loads(text)
        hosts = listing.pop("_meta")["hostvars"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _bad_inventory(
            where, f"output of {_PROGRAM} without _meta.hostvars", "try it by hand with --list"
        ) from error
    members = {group: _members(listing, group) for group in listing}
    # A host without variables is in its group only.
    every = dict.fromkeys([*(host for own in members.values() for host in own), *hosts])
    return Inventory({host: hosts.get(host, {}) for host in every}, members)


def _members(listing: Mapping[str, Any], group: str) -> tuple[str, ...]:
    """The hosts of a group and of the groups in it; Ansible refuses a group within itself."""
    own = listing.get(group, {})
    inner = (host for child in own.get("children", ()) for host in _members(listing, child))
    return tuple(dict.fromkeys([*own.get("hosts", ()), *inner]))


def _run_ansible(path: Path) -> str:
    done = subprocess.run(
        [_PROGRAM, "-i", str(path), "--list"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        found = done.stderr.strip() or f"{_PROGRAM} ended with {done.returncode}"
        raise _bad_inventory(str(path), found, f"`{_PROGRAM} -i {path} --list` shows it")
    return done.stdout


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise _bad_inventory(str(path), str(error), "name a text file that can be read") from error


def _ssh_options(variables: Mapping[str, Any]) -> list[str]:
    options: list[str] = []
    for name, option in (("port", "-p"), ("user", "-l"), ("ssh_private_key_file", "-i")):
        if f"ansible_{name}" in variables:
            options += [option, str(variables[f"ansible_{name}"])]
    for name in ("ansible_ssh_common_args", "ansible_ssh_extra_args"):
        options += shlex.split(str(variables.get(name, "")))
    return options


def _is_true(value: object) -> bool:
    return str(value).lower() in _TRUE


def _bad_inventory(where: str, found: str, remedy: str) -> UsageError:
    return UsageError(
        "an inventory of Ansible with ssh hosts", found=found, where=where, remedy=remedy
    )
