"""What sets settings on its own account, and so may undo a change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from iostudy.host.advice.commands import comment_out_command, joined
from iostudy.host.advice.facts import DeviceFacts, Facts, is_storage
from iostudy.host.advice.finding import HOST, Certainty, Rule, Sighting
from iostudy.host.configuration import Assignment
from iostudy.host.daemons import TUNED

_KEPT = "the value that is to be kept, or none"
_MATCH = re.compile(
    r'(?<![A-Z_])(?P<key>KERNEL|ATTR\{[^}]*\})\s*(?P<operator>==|!=)\s*"(?P<pattern>[^"]*)"'
)
_KINDS = {"queue": "block", "bdi": "bdi"}


def _tuned(facts: Facts) -> Iterator[Sighting]:
    for daemon in facts.host.daemons:
        if daemon.role == TUNED and facts.host.tuned_profile:
            yield Sighting(
                subject=HOST,
                found=f"profile {facts.host.tuned_profile} is active",
                advised="a profile with the values that are to be kept",
                evidence=f"/etc/tuned/active_profile; process {daemon.pid}",
                command=joined(["iostudy", "persist", "--format", "tuned"]),
            )


def _udev(facts: Facts) -> Iterator[Sighting]:
    for each in facts.configuration.udev:
        if any(may_match(each.text, device) for device in facts.devices):
            found = f"{each.name} = {each.value}"
            yield _sighting(each, found, "udev/rules.d", _setting(each.name))


def _sysctl(facts: Facts) -> Iterator[Sighting]:
    for each in facts.configuration.sysctl:
        if is_storage(each.name):
            now = facts.host.sysctls.get(each.name)
            told = "not there now" if now is None else f"now {now}"
            found = f"{each.name} = {each.value} ({told})"
            yield _sighting(each, found, "sysctl.d", f"sysctl.{each.name}")


def _tmpfiles(facts: Facts) -> Iterator[Sighting]:
    for each in facts.configuration.tmpfiles:
        yield _sighting(each, f"{each.name} = {each.value}", "tmpfiles.d", "")


def _sighting(assignment: Assignment, found: str, folder: str, setting: str) -> Sighting:
    return Sighting(
        subject=assignment.where,
        found=found,
        advised=_KEPT,
        evidence=assignment.text,
        command=comment_out_command(assignment, folder),
        setting=setting,
    )


def may_match(rule: str, device: DeviceFacts) -> bool:
    """Whether what a udev rule asks for by name and by queue attribute fits the device.

    What else it asks for (environment, programs, labels jumped to) is taken as given.
    """
    texts = {"KERNEL": device.name}
    texts |= {f"ATTR{{queue/{name}}}": text for name, text in device.queue.items()}
    asked = ((m["key"], m["operator"], m["pattern"]) for m in _MATCH.finditer(rule))
    return all(
        _fits(texts[key], pattern) == (operator == "==")
        for key, operator, pattern in asked
        if key in texts
    )


def _fits(text: str, pattern: str) -> bool:
    return any(fnmatchcase(text, each) for each in pattern.split("|"))


def _setting(attribute: str) -> str:
    """``queue/read_ahead_kb`` -> ``block.read_ahead_kb``; a tunable needs its scheduler's name."""
    folder, _, name = attribute.partition("/")
    return f"{_KINDS[folder]}.{name}" if folder in _KINDS and "/" not in name else ""


RULES = (
    Rule(
        id="tuned-active",
        title="TuneD sets this host",
        certainty=Certainty.FACT,
        why="It sets schedulers, read-ahead, sysctls and more by its profile, again at each "
        "start and for each disk that comes, and some of them as the load changes (dynamic "
        "tuning). The command shows what `iostudy set` holds as a profile on top of the active "
        "one; switching TuneD off would take back all that its profile has set.",
        source="tuned(8), tuned.conf(5), tuned-adm(8)",
        check=_tuned,
    ),
    Rule(
        id="udev-sets-attribute",
        title="A udev rule sets a device's attributes",
        certainty=Certainty.FACT,
        why="The value is written again on every event that the rule matches: at boot, when the "
        "disk comes, and when a program that had it open for writing closes it.",
        source="udev(7), ATTR{key}; systemd's 60-block.rules (watch)",
        check=_udev,
    ),
    Rule(
        id="sysctl-file-sets",
        title="A file sets a sysctl that storage studies vary",
        certainty=Certainty.FACT,
        why="The value is written at boot and by `sysctl --system`, whatever was set by hand. "
        "Where files disagree, the last one wins.",
        source="sysctl.d(5), sysctl.conf(5)",
        check=_sysctl,
    ),
    Rule(
        id="tmpfiles-writes",
        title="systemd-tmpfiles writes to the kernel",
        certainty=Certainty.FACT,
        why="The value is written at boot and whenever a package has systemd-tmpfiles run.",
        source='tmpfiles.d(5), type "w"',
        check=_tmpfiles,
    ),
)
