"""Static inventories of Ansible as YAML and INI, for hosts without Ansible (pure)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from iostudy.errors import UsageError

Hosts = dict[str, dict[str, Any]]

_ALL, _UNGROUPED = "all", "ungrouped"
_SECTION = re.compile(r"\[([^\]:\s]+)(?::(children|vars))?\]")
_RANGE = re.compile(r"\[(\w+):(\w+)(?::(\d+))?\]")
_KEYS = {"hosts", "vars", "children"}


@dataclass
class Group:
    """A group as the file has it."""

    hosts: Hosts = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    children: list[str] = field(default_factory=list)


def parse_yaml(text: str, where: str) -> tuple[Hosts, dict[str, tuple[str, ...]]]:
    """Hosts with their variables, and the hosts of each group; UsageError with its reason."""
    try:
        content = YAML(typ="safe").load(text)
    except YAMLError as error:
        raise _unreadable(where, " ".join(str(error).split())) from error
    groups: dict[str, Group] = {}
    _add_yaml_groups(groups, content, where)
    return _resolve(groups, where)


def parse_ini(text: str, where: str) -> tuple[Hosts, dict[str, tuple[str, ...]]]:
    """Hosts with their variables, and the hosts of each group; UsageError with its line."""
    groups: dict[str, Group] = {}
    group, part = groups.setdefault(_UNGROUPED, Group()), None
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            words = shlex.split(line, comments=True)
            section = _SECTION.fullmatch(" ".join(words))
            if section:
                group, part = groups.setdefault(section[1], Group()), section[2]
            elif words:
                _add_ini_line(group, part, words, line)
        except ValueError as error:
            raise _unreadable(where, f"line {number}: {error}: {line.strip()}") from error
    return _resolve(groups, where)


def expand_range(pattern: str) -> Iterator[str]:
    """The names of ``node[01:20].site``; ValueError if the range has no end after its start."""
    found = _RANGE.search(pattern)
    if not found:
        yield pattern
        return
    first, last, step = found[1], found[2], int(found[3] or 1)
    if first.isdigit() and last.isdigit():
        texts = [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1, step or 1)]
    elif len(first) == len(last) == 1:
        texts = [chr(n) for n in range(ord(first), ord(last) + 1, step or 1)]
    else:
        texts = []
    if not texts or not step:
        raise ValueError(f"not a range: {found[0]}")
    for text in texts:
        yield from expand_range(pattern[: found.start()] + text + pattern[found.end() :])


def _add_ini_line(group: Group, part: str | None, words: Sequence[str], line: str) -> None:
    if part == "children":
        group.children += words
    elif part == "vars":
        key, equals, value = line.partition("=")
        if not equals:
            raise ValueError("no = between variable and value")
        group.variables[key.strip()] = " ".join(shlex.split(value, comments=True))
    else:
        variables = dict(_split_assignment(word) for word in words[1:])
        for host in expand_range(words[0]):
            group.hosts.setdefault(host, {}).update(variables)


def _split_assignment(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals:
        raise ValueError(f"no = in {word}")
    return key, value


def _add_yaml_groups(groups: dict[str, Group], content: object, where: str) -> None:
    if not isinstance(content, Mapping):
        raise _unreadable(where, "no groups at the top")
    for name, body in content.items():
        keys = body if isinstance(body, Mapping) else {}
        if (body is not None and not isinstance(body, Mapping)) or set(keys) - _KEYS:
            raise _unreadable(where, f"the group {name} has other keys than {sorted(_KEYS)}")
        group = groups.setdefault(str(name), Group())
        group.variables.update(keys.get("vars") or {})
        for pattern, variables in (keys.get("hosts") or {}).items():
            for host in _expand(str(pattern), where):
                group.hosts.setdefault(host, {}).update(variables or {})
        children = keys.get("children") or {}
        group.children += map(str, children)
        _add_yaml_groups(groups, children, where)


def _expand(pattern: str, where: str) -> list[str]:
    try:
        return list(expand_range(pattern))
    except ValueError as error:
        raise _unreadable(where, str(error)) from error


def _resolve(groups: Mapping[str, Group], where: str) -> tuple[Hosts, dict[str, tuple[str, ...]]]:
    """Merge variables as Ansible does: deeper groups override, then the host's own."""
    depths = {name: _depth(groups, name, where) for name in groups}
    members = {name: tuple(_members(groups, name)) for name in groups}
    hosts: Hosts = {host: {} for own in groups.values() for host in own.hosts}
    for name in sorted(groups, key=lambda name: (name != _ALL, depths[name], name)):
        for host in hosts if name == _ALL else members[name]:
            hosts[host].update(groups[name].variables)
    for own in groups.values():
        for host, variables in own.hosts.items():
            hosts[host].update(variables)
    return hosts, members


def _members(groups: Mapping[str, Group], name: str) -> dict[str, None]:
    own = groups[name]
    inner = (host for child in own.children for host in _members(groups, child))
    return dict.fromkeys([*own.hosts, *inner])


def _depth(groups: Mapping[str, Group], name: str, where: str, below: tuple[str, ...] = ()) -> int:
    """The longest way from a group without a parent."""
    if name in below:
        raise _unreadable(where, f"the group {name} contains itself")
    for own in groups.values():
        for child in own.children:
            if child not in groups:
                raise _unreadable(where, f"the group {child} is not defined")
    parents = [parent for parent, own in groups.items() if name in own.children]
    return max((1 + _depth(groups, p, where, (*below, name)) for p in parents), default=0)


def _unreadable(where: str, found: str) -> UsageError:
    return UsageError(
        "a static inventory of Ansible",
        found=found,
        where=where,
        remedy="correct it, or install ansible-core: iostudy then reads every inventory through it",
    )
