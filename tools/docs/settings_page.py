"""The page ``docs/settings.md``, from the definitions of the settings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby

from iostudy.settings import catalog
from iostudy.settings.definition import SettingDefinition

_HEAD = """# Settings

Every setting that a study can vary, `iostudy get` can read and `iostudy set` can change. iostudy
journals each change before it begins, and restores it afterwards, also after a crash. It refuses
settings that it cannot restore. `as-found` is a level of every setting except those of a new file
system: iostudy does not write it. `iostudy settings` lists the names, `iostudy settings WORD`
describes the settings that contain the word.

iostudy reads each value back after the write. It refuses a value that the kernel rounds or limits,
and the error shows the actual value.

*Switchable* settings take effect on a running workload with open files within seconds. The line
names what outlives a switch, or why the setting cannot be switched."""

_KINDS = {
    "block": (
        "Block devices",
        (
            "Attributes of a device's queue, below `/sys/block/DEVICE/queue`. The name of a "
            "tunable includes its scheduler. A tunable is applied after its scheduler, and exists "
            "only while the scheduler is active. mq-deadline and `timeout_sync` of bfq round "
            "milliseconds to kernel ticks: use multiples of 20, which suit any kernel."
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
            "or, if a part contains a dot, slashes (`sysctl.net/ipv4/conf/eth0.100/rp_filter`). "
            "The key without `sysctl.` is its short name (`vm.swappiness`). "
            "This page describes storage-related keys. For any other key, iostudy first writes "
            "the current value, to prove that the kernel accepts it. iostudy refuses keys that "
            "trigger an action (`vm.drop_caches`), that are irreversible "
            "(`kernel.modules_disabled`), and that reset others (`net.ipv4.ip_forward`)."
        ),
    ),
    "thp": ("Transparent huge pages", "Below `/sys/kernel/mm/transparent_hugepage`."),
    "cpu": ("CPUs", "All cpufreq policies of the host are one level."),
    "mount": (
        "Mounts",
        "Changed by a remount, or the equivalent system calls, and read back from mountinfo.",
    ),
    "hadoop": (
        "Hadoop",
        (
            "Properties of the cluster of a study's Hadoop workloads: `hadoop.` and Hadoop's own "
            "name. Job properties are passed to the jobs of a trial. Daemon properties need a "
            "restart of the study's own cluster before each trial; iostudy refuses them on an "
            "existing cluster. `as-found` is the cluster's own value. The defaults below are "
            "Hadoop's; a cluster that a study starts on one machine has [some "
            "others](hadoop.md#properties-that-differ-from-hadoops-defaults). Any property is a "
            "setting; this page describes only some. Hadoop ignores unknown names. iostudy "
            "refuses addresses, file locations, security properties, and properties that it sets "
            "itself (`fs.defaultFS`, `mapreduce.framework.name`). On a cluster that a study "
            "starts, it also refuses properties that need Hadoop's native library if that is "
            "missing."
        ),
    ),
    "limit": (
        "Limits of processes",
        "For the processes of the workload, never for the shell that started iostudy.",
    ),
    "cgroup": ("Control groups", "For a control group that contains only the workload."),
    "filesystem": (
        "New file systems",
        "For scratch devices and loop-back disks: mkfs makes each level.",
    ),
    "volume": (
        "New volumes",
        "For volumes that a study makes with LVM or md: each level is a new volume.",
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
        "Concerns": f"{definition.applies_to}; {definition.cost} to change",
        "Switchable": str(definition.switching),
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
