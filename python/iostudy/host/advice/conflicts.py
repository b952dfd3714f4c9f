"""Rules for services and configuration that may override a setting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from iostudy.host.advice.commands import comment_out_command, format_command
from iostudy.host.advice.facts import DeviceFacts, Facts, is_storage
from iostudy.host.advice.finding import HOST, AdviceRule, Certainty, Observation
from iostudy.host.configuration import Assignment
from iostudy.host.daemons import TUNED

_KEPT = "the value to keep, or none"
_MATCH = re.compile(
    r'(?<![A-Z_])(?P<key>KERNEL|ATTR\{[^}]*\})\s*(?P<operator>==|!=)\s*"(?P<pattern>[^"]*)"'
)
_KINDS = {"queue": "block", "bdi": "bdi"}


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


def _udev(facts: Facts) -> Iterator[Observation]:
    for each in facts.configuration.udev:
        if any(may_match(each.text, device) for device in facts.devices):
            found = f"{each.name} = {each.value}"
            yield _file_observation(each, found, "udev/rules.d", _setting(each.name))


def _sysctl(facts: Facts) -> Iterator[Observation]:
    for each in facts.configuration.sysctl:
        if is_storage(each.name):
            now = facts.host.sysctls.get(each.name)
            current = "not present" if now is None else f"now {now}"
            found = f"{each.name} = {each.value} ({current})"
            yield _file_observation(each, found, "sysctl.d", f"sysctl.{each.name}")


def _tmpfiles(facts: Facts) -> Iterator[Observation]:
    for each in facts.configuration.tmpfiles:
        yield _file_observation(each, f"{each.name} = {each.value}", "tmpfiles.d", "")


def _file_observation(assignment: Assignment, found: str, folder: str, setting: str) -> Observation:
    return Observation(
        subject=assignment.where,
        found=found,
        advised=_KEPT,
        evidence=assignment.text,
        command=comment_out_command(assignment, folder),
        setting=setting,
    )


def may_match(rule: str, device: DeviceFacts) -> bool:
    """Return whether the name and queue attributes of a udev rule match the device.

    All other conditions (environment, programs, labels) count as matching.
    """
    texts = {"KERNEL": device.name}
    texts |= {f"ATTR{{queue/{name}}}": text for name, text in device.queue.items()}
    conditions = ((m["key"], m["operator"], m["pattern"]) for m in _MATCH.finditer(rule))
    return all(
        _matches_pattern(texts[key], pattern) == (operator == "==")
        for key, operator, pattern in conditions
        if key in texts
    )


def _matches_pattern(text: str, pattern: str) -> bool:
    return any(fnmatchcase(text, each) for each in pattern.split("|"))


def _setting(attribute: str) -> str:
    """``queue/read_ahead_kb`` -> ``block.read_ahead_kb``; a tunable needs its scheduler's name."""
    folder, _, name = attribute.partition("/")
    return f"{_KINDS[folder]}.{name}" if folder in _KINDS and "/" not in name else ""


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
        "and when a program closes it after writing.",
        source="udev(7), ATTR{key}; systemd's 60-block.rules (watch)",
        check=_udev,
    ),
    AdviceRule(
        id="sysctl-file-sets",
        title="A file sets a sysctl that storage studies vary",
        certainty=Certainty.FACT,
        why="The value is written at boot and by `sysctl --system`, and overrides manual changes. "
        "If files disagree, the last one wins.",
        source="sysctl.d(5), sysctl.conf(5)",
        check=_sysctl,
    ),
    AdviceRule(
        id="tmpfiles-writes",
        title="systemd-tmpfiles writes kernel attributes",
        certainty=Certainty.FACT,
        why="The value is written at boot and whenever a package runs systemd-tmpfiles.",
        source='tmpfiles.d(5), type "w"',
        check=_tmpfiles,
    ),
)
