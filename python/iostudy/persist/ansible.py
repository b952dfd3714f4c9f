"""Ansible role of a persistence plan, for many hosts.

Only modules of ansible.builtin, and no collections: files by ``template`` from variables, each
option of a line in fstab by ``replace``. Handlers apply the files; every handler runs, and the last
one fails if a command of another one failed. What the files of this host say already does not
matter: the role is for others, too. Source: docs.ansible.com, collections/ansible/builtin.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from iostudy.errors import UsageError
from iostudy.persist import fstab, limits, sysctl, tmpfiles, udev
from iostudy.persist.plan import Artifact, format_heading
from iostudy.persist.request import PersistedSetting, PersistRequest

ROLE = Path("/roles/iostudy")
"""Stands for the folder of the role, which has no path of its own on a host."""

_UNFIT = re.compile(r"\{[{%#]|[\ud800-\udfff]")
"""Text that Ansible would expand as a template, and bytes that are not text."""
_FAILED = "Fail if a command failed"
_UDEV_TRIGGER = ("udevadm", "trigger", "--action=change", "--settle")
_DISKS_ONLY = ("--subsystem-match=block", "--property-match=DEVTYPE=disk")

Task = Mapping[str, Any]


@dataclass(frozen=True)
class _AnsibleHandler:
    """A handler that runs ``argv`` for each ``item`` of ``loop`` (both Jinja expressions)."""

    name: str
    result: str
    argv: str
    loop: str


@dataclass(frozen=True)
class _File:
    """A file on the hosts: its variable with a comment, its template and its handlers."""

    path: Path
    variable: str
    comment: str
    value: Any
    template: str
    handlers: tuple[_AnsibleHandler, ...] = ()


def build_role(
    kept: Sequence[PersistedSetting], edits: Iterable[fstab.Edit], choice: PersistRequest
) -> tuple[Artifact, ...]:
    """The files of the role; running it again changes nothing. UsageError for what it cannot hold.

    ``kept`` are settings with a file of their own, ``edits`` those of mounts.
    """
    files, edits = tuple(_files(kept, choice)), tuple(edits)
    _require_plain(files, edits, choice)
    heading = format_heading(choice.origin)
    remounts = [edit for edit in edits if not edit.only_at_mount]
    handlers = [handler for file in files for handler in file.handlers]
    handlers += map(_remount, remounts)
    tasks = [*map(_write, files), *(task for edit in edits for task in _edit(edit))]
    documents = {
        "defaults/main.yml": _defaults(files),
        "handlers/main.yml": _yaml([*map(_run, handlers), *_check(handlers)]),
        "meta/main.yml": _yaml(_META),
        "tasks/main.yml": _yaml(tasks),
    }
    texts = {name: f"{heading}---\n{text}" for name, text in documents.items() if text}
    texts |= {f"templates/{file.path.name}.j2": heading + file.template for file in files}
    texts["README.md"] = _README.format(origin=choice.origin)
    return tuple(Artifact(ROLE / name, None, text) for name, text in sorted(texts.items()))


def _files(kept: Sequence[PersistedSetting], choice: PersistRequest) -> Iterator[_File]:
    disks = [s for s in kept if s.name.startswith("block.")]
    sysctls = {s.attribute: s.value for s in kept if s.name.startswith("sysctl.")}
    attributes = {path: s.value for s in kept if (path := tmpfiles.find_path(s.name))}
    lines = [limits.line_of(s).split() for s in kept if s.name.startswith("limit.")]
    if disks:
        yield _udev_file(disks, choice)
    if sysctls:
        loop = "{% for key, value in iostudy_sysctls.items() %}\n{{ key }} = {{ value }}\n"
        argv = f"['sysctl', '--load={sysctl.FILE}']"
        handler = _single("Load the sysctls", "iostudy_sysctl_result", argv)
        yield _File(
            sysctl.FILE,
            "iostudy_sysctls",
            "Sysctls and their values.",
            sysctls,
            _loop(loop),
            (handler,),
        )
    if attributes:
        start = "{% for path, value in iostudy_attributes.items() %}\n"
        loop = f"{start}w {{{{ path }}}} - - - - {{{{ value }}}}\n"
        argv = f"['systemd-tmpfiles', '--create', '{tmpfiles.FILE}']"
        handler = _single("Write the attributes", "iostudy_tmpfiles_result", argv)
        yield _File(
            tmpfiles.FILE,
            "iostudy_attributes",
            "Files of sysfs, or patterns of them, and their values.",
            attributes,
            _loop(loop),
            (handler,),
        )
    if lines:
        names = ("domain", "type", "item", "value")
        fields = " ".join(f"{{{{ limit.{name} }}}}" for name in names)
        yield _File(
            limits.FILE,
            "iostudy_limits",
            "Limits of processes, as limits.conf(5) has them; for sessions from now on.",
            [dict(zip(names, line, strict=True)) for line in lines],
            limits.NOTES + _loop(f"{{% for limit in iostudy_limits %}}\n{fields}\n"),
        )


def _udev_file(kept: Sequence[PersistedSetting], choice: PersistRequest) -> _File:
    parts = udev.build_rules(kept, choice.match, choice.present)
    rule = (
        "{% for disk in iostudy_disks %}\n# {{ disk.name }}\n{% for rule in disk.rules %}\n"
        "{{ disk.match }}, {{ rule.condition | default('') }}"
        'ATTR{queue/{{ rule.attribute }}}="{{ rule.value }}"\n{% endfor %}\n'
    )
    trigger = [*_UDEV_TRIGGER, *_DISKS_ONLY]
    return _File(
        udev.FILE,
        "iostudy_disks",
        "Disks: the match of their udev rules (udev(7)), the options of `udevadm trigger` that\n"
        "# select the same disks, and the attributes below queue in their order.",
        [_describe_disks(part) for part in parts if part.rules],
        udev.frame(_loop(rule)),
        (
            _single(
                "Reload the udev rules",
                "iostudy_reload_result",
                "['udevadm', 'control', '--reload']",
            ),
            _AnsibleHandler(
                "Trigger udev for the disks",
                "iostudy_trigger_result",
                f"{trigger} + item",
                "iostudy_disks | map(attribute='triggers') | flatten | map(attribute='options')",
            ),
        ),
    )


def _describe_disks(part: udev.DiskRules) -> Mapping[str, Any]:
    assert part.pattern is not None, "rules have a pattern"
    rules = [
        {"attribute": rule.attribute, "value": rule.value}
        | ({"condition": rule.condition} if rule.condition else {})
        for rule in part.rules
    ]
    triggers = [{"options": list(options)} for options in part.pattern.triggers]
    return {"name": part.heading, "match": part.pattern.rule, "triggers": triggers, "rules": rules}


def _loop(body: str) -> str:
    return body + "{% endfor %}\n"


def _single(name: str, result: str, argv: str) -> _AnsibleHandler:
    return _AnsibleHandler(name, result, "item", f"[{argv}]")


def _remount(edit: fstab.Edit) -> _AnsibleHandler:
    point = edit.entry.point
    variable = "iostudy_mount_result_" + re.sub(r"\W", "_", point, flags=re.ASCII).lower()
    return _single(f"Remount {point}", variable, str(list(edit.activation.command)))


def _run(handler: _AnsibleHandler) -> Task:
    return {
        "name": handler.name,
        "ansible.builtin.command": {"argv": f"{{{{ {handler.argv} }}}}"},
        "loop": f"{{{{ {handler.loop} }}}}",
        "when": "iostudy_activate | bool",
        "register": handler.result,
        "changed_when": True,
        # A failure here would keep the handlers behind this one from running.
        "failed_when": False,
    }


def _check(handlers: Sequence[_AnsibleHandler]) -> Iterator[Task]:
    """The last handler; it fails with the error of each command that failed."""
    if not handlers:
        return
    yield {
        "name": _FAILED,
        "ansible.builtin.assert": {
            "that": "item.results | default([]) | map(attribute='rc', default=0) | sum == 0",
            "fail_msg": (
                "{% for run in item.results if run.rc | default(0) != 0 %}"
                "{{ run.item | join(' ') }}: {{ run.stderr | default(run.msg, true) }} {% endfor %}"
            ),
            "quiet": True,
        },
        "loop": [f"{{{{ {handler.result} | default({{}}) }}}}" for handler in handlers],
        "loop_control": {"label": "its commands"},
    }


def _write(file: _File) -> Task:
    return {
        "name": f"Write {file.path}",
        "ansible.builtin.template": {
            "src": f"{file.path.name}.j2",
            "dest": str(file.path),
            "owner": "root",
            "group": "root",
            "mode": "0644",
        },
        **_notify(file.handlers),
    }


def _notify(handlers: Sequence[_AnsibleHandler]) -> Task:
    return {"notify": [*(handler.name for handler in handlers), _FAILED]} if handlers else {}


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
        rival = rf"{before}(?:\S*,)?)(?:{fstab.conflicting_options(option)})(?=[,\s]|$)"
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
    notified = _notify([] if edit.only_at_mount else [_remount(edit)])
    return {"name": name, "ansible.builtin.replace": replace, **notified}


def _require_plain(
    files: Iterable[_File], edits: Iterable[fstab.Edit], choice: PersistRequest
) -> None:
    """Raise UsageError for a text that Ansible would change."""
    values = _yaml([file.value for file in files])
    points = "".join(edit.entry.point for edit in edits)
    if _UNFIT.search("\n".join((values, choice.origin, *choice.provenance, points))):
        raise UsageError(
            "an Ansible role",
            found="a value or a name with {{, {% or {#, which Ansible would expand, or no UTF-8",
            where="--format ansible",
            remedy="keep it on each host by another format",
        )


def _defaults(files: Iterable[_File]) -> str:
    text = "# Whether the settings hold at once, by handlers; else from the next start on.\n"
    text += _yaml({"iostudy_activate": True})
    return text + "".join(
        f"\n# {file.comment}\n{_yaml({file.variable: file.value})}" for file in files
    )


def _yaml(document: Any) -> str:
    """A document with its lists indented, as ansible-lint wants them."""
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 1 << 16
    buffer = io.StringIO()
    yaml.dump(document, buffer)
    # A list at the top is not indented.
    lines = buffer.getvalue().splitlines(keepends=True)
    offset = "  " if isinstance(document, list) else ""
    return "".join(line.removeprefix(offset) for line in lines)


_META: Mapping[str, Any] = {
    "galaxy_info": {
        "role_name": "iostudy",
        "author": "iostudy",
        "description": "Keep storage settings that iostudy has measured",
        "license": "Apache-2.0",
        "min_ansible_version": "2.14",
        "platforms": [{"name": "Debian", "versions": ["all"]}, {"name": "EL", "versions": ["all"]}],
        "galaxy_tags": ["storage"],
    },
    "dependencies": [],
}

_README = """\
# Role iostudy

Keeps {origin}. Use it in a playbook:

```yaml
- name: Keep storage settings
  hosts: storage
  become: true
  gather_facts: false
  roles:
    - role: iostudy
```

`defaults/main.yml` describes the variables. To undo the role, remove the files that
`tasks/main.yml` writes. Each copy of `/etc/fstab` before a change is next to it.
"""
