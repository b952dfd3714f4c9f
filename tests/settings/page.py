"""``docs/settings.md`` from the definitions: ``python -m tests.settings.page`` writes it anew."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from iostudy.settings import catalog
from iostudy.settings.definition import SettingDefinition

PAGE = Path(__file__).parents[2] / "docs/settings.md"

_HEAD = """# Settings

Every setting that a study can vary, `iostudy get` can read and `iostudy set` can change. What is
changed is written down first and put back afterwards, also after a crash; what cannot be put back
is refused. `as-found` is a level of every setting but those of a new file system: it is left as the
host has it. `iostudy settings` lists the names, `iostudy settings WORD` describes those that have
the word in them.

A value is read back after it was written: one that the kernel rounds or limits is refused, and the
error says what it became."""

_KINDS = {
    "block": (
        "Block devices",
        (
            "Attributes of a device's queue, below `/sys/block/DEVICE/queue`. A tunable carries "
            "the name of its scheduler, is applied after it, and is there only while it is active. "
            "Times in milliseconds are kept in ticks of the kernel by mq-deadline and by "
            "`timeout_sync` of bfq: take multiples of 20 to suit any kernel."
        ),
    ),
    "bdi": (
        "Mounts without a block device",
        "For NFS, FUSE and btrfs; a file system on a block device has `block.read_ahead_kb`.",
    ),
    "sysctl": (
        "Kernel parameters",
        (
            "Any sysctl is a setting: `sysctl.` and its key, with dots (`sysctl.kernel.pid_max`) "
            "or, where a part has a dot in it, slashes "
            "(`sysctl.net/ipv4/conf/eth0.100/rp_filter`). Those below are described; any other is "
            "first written as it is, to prove that the kernel takes its old value back. Refused "
            "are keys that only do something (`vm.drop_caches`), that go one way "
            "(`kernel.modules_disabled`), and that reset others (`net.ipv4.ip_forward`)."
        ),
    ),
    "thp": ("Transparent huge pages", "Below `/sys/kernel/mm/transparent_hugepage`."),
    "cpu": ("CPUs", "All cpufreq policies of the host are one level."),
    "mount": (
        "Mounts",
        "Changed by a remount, or the calls that stand for it, and read back from mountinfo.",
    ),
    "hadoop": (
        "Hadoop",
        (
            "Properties of the cluster that a study's Hadoop workloads run on: `hadoop.` and "
            "Hadoop's own name. What each job reads is given to the jobs of a trial; what daemons "
            "read takes a restart of the study's own cluster before each trial, and is refused on "
            "a cluster that others have started. `as-found` is what the cluster itself has. The "
            "defaults here are Hadoop's; a cluster that a study starts has a few of its own, "
            "since all of it is on one machine ([which, and why]"
            "(hadoop.md#what-it-is-told-beside-hadoops-defaults)). Any property is "
            "a setting, though only those below are described; Hadoop ignores a name that it "
            "does not know. Refused are addresses, places for files, what concerns security, and "
            "what iostudy itself gives (`fs.defaultFS`, `mapreduce.framework.name`); and, on a "
            "cluster that a study starts, what takes Hadoop's native library where there is none."
        ),
    ),
    "limit": (
        "Limits of processes",
        "For the workload's own processes, never for the shell that iostudy was started from.",
    ),
    "cgroup": ("Control groups", "For a group in which the workload runs alone."),
    "filesystem": (
        "New file systems",
        "For scratch devices and loop-back disks: each level is made anew with mkfs.",
    ),
}


def page() -> str:
    """The whole page."""
    definitions = map(catalog.get, catalog.names())
    kinds = groupby(definitions, key=lambda definition: definition.name.partition(".")[0])
    sections = (part for kind, group in kinds for part in _section(kind, group))
    return "\n\n".join((_HEAD, *sections)) + "\n"


def _section(kind: str, definitions: Iterator[SettingDefinition]) -> Iterator[str]:
    title, introduction = _KINDS[kind]
    yield f"## {title}"
    yield _wrapped(introduction)
    yield from map(_setting, definitions)


def _setting(definition: SettingDefinition) -> str:
    facts = {
        "Allowed": definition.allowed,
        "Default": definition.default,
        "Concerns": f"{definition.concerns}; {definition.cost} to change",
        "Only while": str(definition.condition or ""),
        "Caution": definition.caution,
        "Source": definition.source,
    }
    lines = (_wrapped(f"- {name}: {_escaped(text)}", "  ") for name, text in facts.items() if text)
    meaning = _wrapped(_escaped(definition.documentation))
    return "\n".join((f"### `{definition.name}`", "", meaning, "", *lines))


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text,
        width=100,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "\\<")


if __name__ == "__main__":
    PAGE.write_text(page())
