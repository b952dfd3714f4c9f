"""Ansible playbook of a persistence plan, for many hosts.

Only modules of ansible.builtin, and no collections: files by ``copy``, each option of a line in
fstab by ``replace``. Handlers make it hold now. What the files of this host say already does not
matter: the playbook is for others, too. Source: docs.ansible.com, collections/ansible/builtin.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.scalarstring import LiteralScalarString

from iostudy.errors import UsageError
from iostudy.persist import fstab, mount_options, udev
from iostudy.persist.plan import Activation, Artifact, format_heading

_UNFIT = re.compile(r"\{[{%#]|[\ud800-\udfff]")
"""Text that Ansible would expand as a template, and bytes that are not text."""

Task = Mapping[str, Any]


def playbook(artifacts: Iterable[Artifact], edits: Iterable[fstab.Edit], origin: str) -> str:
    """The playbook; running it again changes nothing. UsageError for what it cannot hold."""
    artifacts, edits = tuple(artifacts), tuple(edits)
    tasks = [*map(_copy, artifacts), *(task for edit in edits for task in _edit(edit))]
    activations = [
        *(active for artifact in artifacts for active in _activations(artifact)),
        *(edit.activation for edit in edits if not edit.only_at_mount),
    ]
    play = {
        "name": "Keep what iostudy has found",
        "hosts": "all",
        "become": True,
        "gather_facts": False,
        "tasks": tasks,
    }
    if activations:
        play["handlers"] = [_handler(activation) for activation in activations]
    text = _yaml(play)
    points = "".join(edit.entry.point for edit in edits)
    if _UNFIT.search(text + origin + points):
        raise UsageError(
            "a playbook",
            found="a value or a name with {{, {% or {#, which Ansible would expand, or no UTF-8",
            where="--format ansible",
            remedy="keep it on each host by another format",
        )
    return f"---\n{format_heading(origin)}{text}"


def _copy(artifact: Artifact) -> Task:
    return {
        "name": f"Write {artifact.path}",
        "ansible.builtin.copy": {
            "dest": str(artifact.path),
            "content": LiteralScalarString(artifact.after),
            "owner": "root",
            "group": "root",
            "mode": "0644",
        },
        **_notify(_activations(artifact)),
    }


def _edit(edit: fstab.Edit) -> Iterator[Task]:
    """Return a task per option, because the line has other options on another host.

    It replaces the previous value of the option, or appends the option to the line.
    """
    point = edit.entry.point
    before = rf"^([ \t]*[^#\s]\S*[ \t]+{re.escape(fstab.escape(point))}/?[ \t]+\S+[ \t]+"
    for option in edit.wanted:
        field = fstab.escape(option)
        # A backslash in the replacement would begin a group.
        text = field.replace("\\", r"\\")
        name = f"{option} in {fstab.FILE} for {point}"
        rival = rf"{before}(?:\S*,)?)(?:{mount_options.conflicting_options(option)})(?=[,\s]|$)"
        lacking = rf"{before}(?!(?:\S*,)?{re.escape(field)}(?:[,\s]|$))\S+)"
        yield _replace(edit, f"Set {name}", rival, text)
        yield _replace(edit, f"Add {name}", lacking, f",{text}")


def _replace(edit: fstab.Edit, name: str, regexp: str, text: str) -> Task:
    replace = CommentedMap(
        {
            "path": str(fstab.FILE),
            "regexp": regexp,
            "replace": rf"\g<1>{text}",
            "backup": True,
            "validate": "findmnt --verify --tab-file %s",
        }
    )
    # Its length is that of the mount point, and it cannot be folded.
    replace.yaml_add_eol_comment("noqa: yaml[line-length]", "regexp")
    notified = _notify([] if edit.only_at_mount else [edit.activation])
    return {"name": name, "ansible.builtin.replace": replace, **notified}


def _notify(activations: Iterable[Activation]) -> Task:
    names = [_name(activation) for activation in activations]
    return {"notify": names} if names else {}


def _handler(activation: Activation) -> Task:
    handler = CommentedMap(
        {
            "name": _name(activation),
            "ansible.builtin.command": {"argv": list(activation.command)},
            "changed_when": True,
        }
    )
    if activation.command[0] == "mount":
        # The module for it is in a collection.
        handler.yaml_add_eol_comment("noqa: command-instead-of-module", "name")
    return handler


def _name(activation: Activation) -> str:
    return f"Run {' '.join(activation.command)}"


def _activations(artifact: Artifact) -> tuple[Activation, ...]:
    """Return the commands that work on any host: its disks have other names, or are others."""
    if artifact.path == udev.FILE:
        return udev.activations(["--subsystem-match=block"])
    return artifact.activations


def _yaml(play: Task) -> str:
    """The only element of a list, as ansible-lint wants it indented."""
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 1 << 16
    buffer = io.StringIO()
    yaml.dump(play, buffer)
    lines = buffer.getvalue().splitlines()
    return "".join(
        f"{'- ' if number == 0 else '  ' if line else ''}{line}\n"
        for number, line in enumerate(lines)
    )
