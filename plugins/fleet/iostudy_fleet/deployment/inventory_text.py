"""Static inventories of Ansible as YAML and INI, for hosts without Ansible (pure).

It is a subset. What it does not read as Ansible does is refused, with the line or the name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ruamel.yaml.error import YAMLError

from iostudy.errors import UsageError
from iostudy.study.guarded_yaml import new_yaml
from iostudy_fleet.study.section import MAX_HOSTS

Hosts = dict[str, dict[str, Any]]

_ALL, _UNGROUPED = "all", "ungrouped"
_COMMENTS = ("#", ";")
_SECTION = re.compile(r"\[([^\]:\s]+)(?::(hosts|children|vars))?\]\s*(?:#.*)?")
_RANGE = re.compile(r"\[(\w+):(\w+)(?::(\d+))?\]")
_QUOTED = re.compile(r"""(['"])([^'"\\]*)\1""")
_PORT = re.compile(r"([^:]*(?:\[\w+:[^\]]*\][^:]*)*):([1-9]\d{0,4})")
_KEYS = {"hosts", "vars", "children"}
_BEGINS_YAML = re.compile(r"(?:\s*#.*\n|\s*\n)*(?:---\s|[\w.-]+:\s*(?:#.*)?$)", re.MULTILINE)
_YAML_SUFFIXES = (".yml", ".yaml", ".json")
_MOST_MEMBERSHIPS = 20 * MAX_HOSTS
"""Hosts of all groups together, of which each counts in every group that contains it."""
_LONGEST_NAME = 255
_LONGEST_LINE = 4096


@dataclass
class Group:
    """A group as the file has it."""

    hosts: Hosts = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    children: list[str] = field(default_factory=list)


class _Groups(dict[str, Group]):
    """Groups by name, which together have no more hosts than a fleet may have."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self._names = names
        self._left = MAX_HOSTS

    def find(self, name: str) -> Group:
        """The group, new or old."""
        return self.setdefault(name, Group())

    def add(self, group: Group, pattern: str, variables: Mapping[str, Any]) -> None:
        """Add the hosts of a pattern; ValueError if it is none or there are too many."""
        hosts, port = _split_port(pattern)
        names = list(expand_range(hosts, self._left))
        self._left -= len(names)
        options = {"ansible_port": port} if port else {}
        for name in names:
            group.hosts.setdefault(name, {}).update({**options, **self.keep(variables)})

    def keep(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The variables that iostudy knows."""
        return {str(key): value for key, value in variables.items() if key in self._names}


def parse_text(
    text: str, suffix: str, where: str, names: Collection[str]
) -> tuple[Hosts, dict[str, tuple[str, ...]]]:
    """Return hosts with the variables of these ``names``, and the hosts of each group.

    UsageError with a reason.

    Without a suffix, a text that begins as a YAML mapping does is YAML: no INI file begins so.
    """
    groups = _Groups(names)
    if suffix in _YAML_SUFFIXES or (not suffix and _BEGINS_YAML.match(text)):
        _parse_yaml(groups, text, where)
    else:
        _parse_ini(groups, text, where)
    return _resolve(groups, where)


def expand_range(pattern: str, most: int) -> Iterator[str]:
    """The names of ``node[01:20].site``; ValueError for no such range, or more than ``most``."""
    ranges = [_list_texts(match) for match in _RANGE.finditer(pattern)]
    count = 1
    for texts in ranges:
        count *= len(texts)
    if count > most:
        raise ValueError(f"more than {MAX_HOSTS} hosts in all")
    if len(pattern) > _LONGEST_NAME:
        raise ValueError(f"a name of {len(pattern)} characters")
    pieces = _RANGE.split(pattern)[::4]
    names = [pieces[0]]
    for texts, piece in zip(ranges, pieces[1:], strict=True):
        names = [f"{name}{text}{piece}" for name in names for text in texts]
    yield from names


def _list_texts(match: re.Match[str]) -> Sequence[str]:
    """What a range stands for, at most one text more than a fleet has hosts."""
    first, last, step = match[1], match[2], int((match[3] or "1")[:6])
    if first.isdecimal() and last.isdecimal() and step and len(first + last) <= 2 * len("10000"):
        numbers = range(int(first), int(last) + 1, step)
        texts = [str(number).zfill(len(first)) for number in numbers[: MAX_HOSTS + 1]]
    elif len(first) == len(last) == 1 and (first + last).isascii() and step:
        texts = [chr(number) for number in range(ord(first), ord(last) + 1, step)]
    else:
        texts = []
    if not texts:
        raise ValueError(f"not a range: {match[0]}")
    return texts


def _split_port(pattern: str) -> tuple[str, str]:
    """The pattern without its port, as in ``node01:2222``, and the port."""
    match = _PORT.fullmatch(pattern)
    if match:
        return match[1], match[2]
    if ":" in _RANGE.sub("", pattern):
        raise ValueError(f"neither HOST nor HOST:PORT: {pattern[:_LONGEST_NAME]}")
    return pattern, ""


def _parse_ini(groups: _Groups, text: str, where: str) -> None:
    group, part = groups.find(_UNGROUPED), None
    for number, whole in enumerate(text.splitlines(), start=1):
        line = whole.strip()
        try:
            if not line or line.startswith(_COMMENTS):
                continue
            if len(line) > _LONGEST_LINE:
                raise ValueError(f"longer than {_LONGEST_LINE} characters")
            if section := _SECTION.fullmatch(line):
                group, part = groups.find(section[1]), section[2]
            elif part == "vars":
                group.variables.update(groups.keep(dict([_split_variable(line)])))
            else:
                _add_ini_line(groups, group, part, shlex.split(line, comments=True))
        except ValueError as error:
            raise _unreadable(where, f"line {number}: {error}: {line[:80]}") from error


def _add_ini_line(groups: _Groups, group: Group, part: str | None, words: Sequence[str]) -> None:
    if part == "children":
        if len(words) != 1:
            raise ValueError("not the name of one group")
        group.children.append(words[0])
    else:
        groups.add(group, words[0], dict(map(_split_assignment, words[1:])))


def _split_assignment(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals:
        raise ValueError(f"no = in {word}")
    return key, value


def _split_variable(line: str) -> tuple[str, str]:
    """A variable of a group, whose value Ansible reads to the end of the line, ``#`` included."""
    key, value = _split_assignment(line)
    value = value.strip()
    if value[:1] in ("'", '"'):
        quoted = _QUOTED.fullmatch(value)
        if quoted is None:
            raise ValueError("not one text in quotation marks")
        value = quoted[2]
    return key.strip(), value


def _parse_yaml(groups: _Groups, text: str, where: str) -> None:
    try:
        content = new_yaml().load(text)
    except YAMLError as error:
        raise _unreadable(where, " ".join(str(error).split())) from error
    pending: list[object] = [content]
    while pending:
        body = pending.pop(0)
        if not isinstance(body, Mapping):
            raise _unreadable(where, "no mapping of groups")
        for name, group in body.items():
            try:
                pending += _add_yaml_group(groups, str(name), group)
            except ValueError as error:
                raise _unreadable(where, f"the group {name}: {error}") from error


def _add_yaml_group(groups: _Groups, name: str, body: object) -> list[object]:
    """Add a group; return the mapping of those in it, if there is one."""
    keys = _require_mapping(body, "its body")
    if other := [str(key) for key in keys if key not in _KEYS]:
        raise ValueError(f"other keys than {', '.join(sorted(_KEYS))}: {other[0]}")
    group = groups.find(name)
    group.variables.update(groups.keep(_require_mapping(keys.get("vars"), "vars")))
    for pattern, variables in _require_mapping(keys.get("hosts"), "hosts").items():
        groups.add(group, str(pattern), _require_mapping(variables, f"the host {pattern}"))
    children = _require_mapping(keys.get("children"), "children")
    group.children += map(str, children)
    return [children] if children else []


def _require_mapping(value: object, what: str) -> Mapping[Any, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} is no mapping")
    return value


def _resolve(groups: Mapping[str, Group], where: str) -> tuple[Hosts, dict[str, tuple[str, ...]]]:
    """Merge variables as Ansible does: deeper groups override, then the host's own."""
    for group in groups.values():
        for child in group.children:
            if child not in groups:
                raise _unreadable(where, f"the group {child} is not defined")
    members = list_members(
        {name: tuple(group.hosts) for name, group in groups.items()},
        {name: group.children for name, group in groups.items()},
        where,
    )
    depths = _find_depths(groups, tuple(members))
    hosts: Hosts = {host: {} for group in groups.values() for host in group.hosts}
    for name in sorted(groups, key=lambda name: (name != _ALL, depths[name], name)):
        if variables := groups[name].variables:
            for host in hosts if name == _ALL else members[name]:
                hosts[host].update(variables)
    for group in groups.values():
        for host, variables in group.hosts.items():
            hosts[host].update(variables)
    return hosts, members


def _find_depths(groups: Mapping[str, Group], order: Sequence[str]) -> dict[str, int]:
    """The longest way from a group without a parent; a group comes after those in it."""
    depths = dict.fromkeys(groups, 0)
    for name in reversed(order):
        for child in groups[name].children:
            depths[child] = max(depths[child], depths[name] + 1)
    return depths


def list_members(
    hosts: Mapping[str, Sequence[str]], children: Mapping[str, Sequence[str]], where: str
) -> dict[str, tuple[str, ...]]:
    """The hosts of each group and of the groups in it, which come before it.

    UsageError for a group that contains itself.
    """
    resolved: dict[str, tuple[str, ...]] = {}
    left = _MOST_MEMBERSHIPS
    try:
        order = tuple(TopologicalSorter(children).static_order())
    except CycleError as error:
        raise _unreadable(where, f"the group {error.args[1][0]} contains itself") from error
    for name in order:
        members = dict.fromkeys(hosts.get(name, ()))
        for child in dict.fromkeys(children.get(name, ())):
            left -= len(resolved[child])
            if left < 0:
                raise _unreadable(where, f"groups with more than {_MOST_MEMBERSHIPS} hosts in all")
            members |= dict.fromkeys(resolved[child])
        resolved[name] = tuple(members)
    return resolved


def _unreadable(where: str, found: str) -> UsageError:
    return UsageError(
        "a static inventory of Ansible",
        found=found,
        where=where,
        remedy="correct it, or install ansible-core: iostudy then reads every inventory through it",
    )
