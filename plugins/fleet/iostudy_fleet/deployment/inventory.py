"""Ansible inventories as Ansible reads them: groups, variables, and the nodes of a selection.

A host is never guessed: a variable that says where or as whom Ansible connects is obeyed, or
refused by its name.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from iostudy.errors import UsageError
from iostudy.safe_path import is_descriptor, read_named
from iostudy_fleet.deployment.inventory_text import list_members, parse_text
from iostudy_fleet.deployment.nodes import SshNode, check_names
from iostudy_fleet.study.section import MAX_HOSTS

_PROGRAM = "ansible-inventory"
_FAIL_IF_UNPARSED = {
    "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
    "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "True",
}
"""Ansible only warns of a file that it cannot read, and lists the hosts of the others."""
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_ALL = "all"
_COLLECTION = "ansible.builtin."
_VARIABLE_FOLDERS = ("group_vars", "host_vars")
_MOST_BYTES = 1 << 20
"""Of a static inventory; a parser of INI or YAML takes less than a second for it."""


def _expanded(value: object) -> object:
    """The value of a variable as a text; ValueError for one that Ansible has yet to compute."""
    if isinstance(value, Mapping) and "__ansible_vault" in value:
        raise ValueError("a value of Ansible Vault, which iostudy cannot open")
    text = str(value) if isinstance(value, str | int | bool) else value
    if isinstance(text, str) and ("{{" in text or "{%" in text):
        raise ValueError(f"a template, which iostudy does not expand: {text}")
    return text


def _short(name: str) -> str:
    """The name of a plugin without that of Ansible's own collection."""
    return name.removeprefix(_COLLECTION)


def _require(pattern: str, text: str) -> str:
    if not re.fullmatch(pattern, text):
        raise ValueError(f"{text!r} is not usable")
    return text


def _is_true(text: str) -> str:
    if text.lower() not in (*_TRUE, *_FALSE):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text.lower()


Text = Annotated[str, BeforeValidator(_expanded), Field(max_length=4096)]
Word = Annotated[Text, AfterValidator(lambda text: _require(r"[^\s\x00-\x1f]+", text))]
Port = Annotated[Text, AfterValidator(lambda text: _require(r"[1-9][0-9]{0,4}", text))]
Plugin = Annotated[Text, AfterValidator(_short)]


class HostVariables(BaseModel):
    """The variables of Ansible that iostudy obeys; a pair of names is that of old and new.

    Ansible's own ansible_python_interpreter names the Python of its modules, which lacks iostudy.
    """

    model_config = ConfigDict(frozen=True)

    ansible_host: Word | None = None
    ansible_ssh_host: Word | None = None
    ansible_port: Port | None = None
    ansible_ssh_port: Port | None = None
    ansible_user: Word | None = None
    ansible_ssh_user: Word | None = None
    ansible_private_key_file: Text | None = None
    ansible_ssh_private_key_file: Text | None = None
    ansible_ssh_args: Text = ""
    ansible_ssh_common_args: Text = ""
    ansible_ssh_extra_args: Text = ""
    ansible_connection: Plugin = "smart"
    ansible_become: Annotated[Text, AfterValidator(_is_true)] | None = None
    ansible_become_method: Plugin = "sudo"
    ansible_become_user: Word = "root"
    iostudy_python: Word | None = None

    def pick(self, *names: str) -> str | None:
        """The value of variables of one meaning; ValueError if they differ."""
        given = {
            name: str(setting) for name in names if (setting := getattr(self, name)) is not None
        }
        if len(set(given.values())) > 1:
            raise ValueError(", ".join(f"{name}={value}" for name, value in given.items()))
        return next(iter(given.values()), None)

    def list_ssh_options(self) -> Iterator[str]:
        """The options of ssh; ValueError if two variables differ or one cannot be split."""
        for option, names in (
            ("-p", ("ansible_port", "ansible_ssh_port")),
            ("-l", ("ansible_user", "ansible_ssh_user")),
            ("-i", ("ansible_private_key_file", "ansible_ssh_private_key_file")),
        ):
            if (value := self.pick(*names)) is not None:
                yield from (option, value)
        for text in (
            self.ansible_ssh_args,
            self.ansible_ssh_common_args,
            self.ansible_ssh_extra_args,
        ):
            yield from shlex.split(text)


@dataclass(frozen=True)
class Inventory:
    """Hosts with all variables that apply to them, and the hosts of each group."""

    hosts: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Sequence[str]]

    def select(self, names: Sequence[str], where: str) -> tuple[str, ...]:
        """The hosts of these groups and hosts, in the order of the inventory."""
        groups = {_ALL: tuple(self.hosts), **self.groups, **{host: (host,) for host in self.hosts}}
        for name in names:
            if name not in groups:
                raise UsageError(
                    "groups or hosts of the inventory",
                    found=name,
                    where=where,
                    remedy=f"name some of: {', '.join(sorted(groups))}",
                )
        chosen = {host for name in names for host in groups[name]}
        return tuple(host for host in self.hosts if host in chosen)


class _ListedGroup(BaseModel):
    hosts: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


class _ListedVariables(BaseModel):
    hostvars: dict[str, dict[str, Any]]


class _Listing(BaseModel):
    """What ``ansible-inventory --list`` prints."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, _ListedGroup] = Field(init=False)

    meta: _ListedVariables = Field(alias="_meta")


_LISTING = TypeAdapter(_Listing)


def read_nodes(path: Path, limit: Sequence[str], *, python: str, sudo: bool) -> tuple[SshNode, ...]:
    """The selected nodes of an inventory; UsageError if it cannot be read or has none."""
    inventory = read_inventory(path)
    where = str(path)
    chosen = inventory.select(limit or [_ALL], where)
    if not chosen or len(chosen) > MAX_HOSTS:
        fault = f"{len(chosen)} hosts" if chosen else "no host"
        raise _bad_inventory(where, fault, f"name 1 to {MAX_HOSTS} hosts, or another file")
    nodes = [
        build_node(name, inventory.hosts[name], where, python=python, sudo=sudo) for name in chosen
    ]
    return check_names(nodes, where)


def build_node(
    name: str, variables: Mapping[str, Any], where: str, *, python: str, sudo: bool
) -> SshNode:
    """The node that the variables of a host describe."""
    try:
        fields = HostVariables.model_validate(variables)
        host = fields.pick("ansible_host", "ansible_ssh_host")
        options = tuple(fields.list_ssh_options())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        fault = f"{name} with {first['loc'][0]}: {first['msg']}"
        raise _bad_inventory(where, fault, _REMEDY) from error
    except ValueError as error:
        raise _bad_inventory(where, f"{name} with {error}", _REMEDY) from error
    become = sudo if fields.ansible_become is None else fields.ansible_become in _TRUE
    if fields.ansible_connection not in ("ssh", "smart"):
        fault = f"{name} with the connection {fields.ansible_connection}"
        raise _bad_inventory(where, fault, "leave it out with --limit")
    if become and (fields.ansible_become_method, fields.ansible_become_user) != ("sudo", "root"):
        fault = f"{name} with the become method {fields.ansible_become_method} to the user "
        raise _bad_inventory(where, f"{fault}{fields.ansible_become_user}", "use sudo to root")
    return SshNode(
        name=name,
        host=name if host is None else host,
        python=fields.iostudy_python or python,
        sudo=become,
        options=options,
    )


_REMEDY = "write the value itself, or leave the host out with --limit"


def read_inventory(path: Path) -> Inventory:
    """Read an inventory with Ansible's own program if it is installed, else as YAML or INI."""
    if not path.exists():
        raise _bad_inventory(str(path), "it does not exist", "name an inventory of Ansible")
    if shutil.which(_PROGRAM):
        _require_end(path)
        return parse_listing(_run_ansible(path), str(path))
    if not path.is_file() or path.stat().st_mode & 0o111:
        raise _bad_inventory(str(path), f"a folder or a program, and no {_PROGRAM}", _INSTALL)
    for folder in (path.with_name(name) for name in _VARIABLE_FOLDERS):
        if folder.is_dir() and any(folder.iterdir()):
            raise _bad_inventory(str(path), f"variables in {folder}, and no {_PROGRAM}", _INSTALL)
    text = _read_text(path)
    hosts, groups = parse_text(text, path.suffix, str(path), HostVariables.model_fields)
    return Inventory(hosts, groups)


def _require_end(path: Path) -> None:
    """UsageError for what Ansible's program would read for ever, or wait for."""
    is_usual = path.is_dir() or path.is_file()
    is_of_kernel = str(path.resolve()).startswith(("/proc/", "/sys/"))
    if not is_descriptor(path) and (is_of_kernel or not is_usual):
        fault = "it is a FIFO, a device or a file of the kernel"
        raise _bad_inventory(str(path), fault, "name an inventory of Ansible")


_INSTALL = "install ansible-core"


def parse_listing(text: str, where: str) -> Inventory:
    """Parse what ``ansible-inventory --list`` prints."""
    try:
        listing = _LISTING.validate_json(text)
    except ValidationError as error:
        raise _bad_inventory(
            where,
            f"output of {_PROGRAM} without _meta.hostvars and groups",
            "try it by hand with --list",
        ) from error
    groups = listing.__pydantic_extra__
    members = list_members(
        {name: group.hosts for name, group in groups.items()},
        {name: group.children for name, group in groups.items()},
        where,
    )
    # A host without variables is in its group only.
    variables = listing.meta.hostvars
    every = dict.fromkeys([*(host for hosts in members.values() for host in hosts), *variables])
    return Inventory({host: variables.get(host, {}) for host in every}, members)


def _run_ansible(path: Path) -> str:
    done = subprocess.run(
        [_PROGRAM, "-i", str(path), "--list"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **_FAIL_IF_UNPARSED},
    )
    if done.returncode:
        fault = done.stderr.strip() or f"{_PROGRAM} ended with {done.returncode}"
        raise _bad_inventory(str(path), fault, f"`{_PROGRAM} -i {path} --list` shows it")
    return done.stdout


def _read_text(path: Path) -> str:
    try:
        content = read_named(path, _MOST_BYTES + 1)
        if len(content) <= _MOST_BYTES:
            return content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise _bad_inventory(str(path), str(error), "name a text file that can be read") from error
    raise _bad_inventory(str(path), f"more than {_MOST_BYTES} bytes, and no {_PROGRAM}", _INSTALL)


def _bad_inventory(where: str, found: str, remedy: str) -> UsageError:
    return UsageError(
        "an inventory of Ansible with ssh hosts", found=found, where=where, remedy=remedy
    )
