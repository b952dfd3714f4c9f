"""Rules for services and configuration that may override a setting."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from fnmatch import fnmatchcase
from functools import partial

from iostudy.host.advice.facts import DeviceFacts, Facts, is_storage
from iostudy.host.advice.finding import (
    HOST,
    AdviceRule,
    Certainty,
    Observation,
    comment_out_command,
    format_command,
)
from iostudy.host.configuration.assignment import Assignment, Stage
from iostudy.host.devices import udev_name
from iostudy.host.processes import TUNED

_KEPT = "the value to keep, or none"
_MATCH = re.compile(
    r'(?<![A-Z_])(?P<key>KERNEL|ATTR\{[^}]*\})\s*(?P<operator>==|!=)\s*"(?P<pattern>[^"]*)"'
)
_BDI = 'SUBSYSTEM=="bdi"'
_THP = {
    f"/sys/kernel/mm/transparent_hugepage/{name}": f"thp.{name}" for name in ("enabled", "defrag")
}


def _tuned(facts: Facts) -> Iterator[Observation]:
    for daemon in facts.host.daemons:
        if daemon.role == TUNED and facts.host.tuned_profile:
            yield Observation(
                subject=HOST,
                found=f"profile {facts.host.tuned_profile} is active",
                advised="a profile with the values to keep",
                evidence=f"/etc/tuned/active_profile; process {daemon.pid}",
                command=format_command(["iostudy", "persist", "--format", "tuned"]),
            )


def _written(facts: Facts, stages: Container[Stage]) -> Iterator[Observation]:
    """Observe what runs at these stages and concerns storage."""
    for line in facts.writers:
        if line.stage in stages and not line.cancels and _concerns(facts, line):
            now = ""
            if line.stage is Stage.SYSCTL:
                current = facts.host.sysctls.get(line.name)
                now = " (not present)" if current is None else f" (now {current})"
            why = f"; {line.ineffective}" if line.ineffective else ""
            yield Observation(
                subject=line.where,
                found=f"{line.name} = {line.value}{now}{why}",
                advised=_KEPT,
                evidence=line.text,
                command=comment_out_command(line),
                setting=_setting(line.path),
            )


def _concerns(facts: Facts, line: Assignment) -> bool:
    key = _sysctl_key(line.path)
    if key and line.stage is not Stage.TMPFILES:
        return is_storage(key)
    pattern = line.device
    if pattern is None:
        return True
    devices = (device for device in facts.devices if fnmatchcase(device.name, pattern))
    is_rule = line.file.suffix == ".rules"
    return any(not is_rule or may_match(line.text, device) for device in devices)


def _sysctl_key(path: str) -> str:
    """``/proc/sys/vm/swappiness`` -> ``vm.swappiness``; empty for another path."""
    inside = path.partition("/proc/sys/")[2]
    return inside.translate(str.maketrans("/.", "./"))


def may_match(rule: str, device: DeviceFacts) -> bool:
    """Return whether the name and queue attributes of a udev rule match the device.

    All other conditions (environment, programs, labels) count as matching.
    """
    block = device.node.device
    texts = {"KERNEL": block.number if _BDI in rule else udev_name(block.name)}
    texts |= {f"ATTR{{queue/{name}}}": text for name, text in device.queue.items()}
    conditions = ((m["key"], m["operator"], m["pattern"]) for m in _MATCH.finditer(rule))
    return all(
        any(fnmatchcase(texts[key], p) for p in pattern.split("|")) == (operator == "==")
        for key, operator, pattern in conditions
        if key in texts
    )


def _setting(path: str) -> str:
    """``/sys/block/*/queue/nr_requests`` -> ``block.nr_requests``; empty without a setting.

    A tunable would need the name of its scheduler.
    """
    if key := _sysctl_key(path):
        return f"sysctl.{key}"
    folder, _, name = path.rpartition("/")
    return f"block.{name}" if folder.endswith("/queue") else _THP.get(path, "")


RULES = (
    AdviceRule(
        id="tuned-active",
        title="TuneD manages settings of this host",
        certainty=Certainty.FACT,
        why="Its profile sets schedulers, read-ahead, sysctls and more, at each start and for "
        "each new disk, and some of them whenever the load changes (dynamic tuning). The "
        "command prints the values that `iostudy set` holds as a profile on top of the active "
        "one. Switching TuneD off would revert all values of its profile.",
        source="tuned(8), tuned.conf(5), tuned-adm(8)",
        check=_tuned,
    ),
    AdviceRule(
        id="udev-sets-attribute",
        title="A udev rule sets a device's attributes",
        certainty=Certainty.FACT,
        why="udev writes the value again on every matching event: at boot, when the disk appears, "
        "and when a program closes it after writing. Programs of RUN run after all rules, so they "
        "win.",
        source="udev(7), ATTR{key}, SYSCTL{key}, RUN; systemd's 60-block.rules (watch)",
        check=partial(_written, stages=(Stage.UDEV, Stage.UDEV_PROGRAM)),
    ),
    AdviceRule(
        id="sysctl-file-sets",
        title="A file sets a sysctl that storage studies vary",
        certainty=Certainty.FACT,
        why="The value is written at boot and by `sysctl --system`, and overrides manual changes. "
        "If files disagree, the last one wins. Udev, systemd-tmpfiles and services write later.",
        source="sysctl.d(5), sysctl.conf(5)",
        check=partial(_written, stages=(Stage.SYSCTL,)),
    ),
    AdviceRule(
        id="tmpfiles-writes",
        title="systemd-tmpfiles writes kernel attributes",
        certainty=Certainty.FACT,
        why="The value is written at boot, after the rules of udev, and whenever a package runs "
        "systemd-tmpfiles.",
        source='tmpfiles.d(5), types "w" and "f+"; bootup(7)',
        check=partial(_written, stages=(Stage.TMPFILES,)),
    ),
    AdviceRule(
        id="service-writes",
        title="A service writes kernel attributes",
        certainty=Certainty.FACT,
        why="Services run last at boot, so their value replaces that of all files. Only the text "
        "of units, scripts, crontabs and sysfs.conf is searched, and no program is run.",
        source="systemd.service(5), ExecStart; systemd-rc-local-generator(8); crontab(5)",
        check=partial(_written, stages=(Stage.SERVICE,)),
    ),
)
