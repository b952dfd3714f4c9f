"""``docs/settings.md`` and the pages below it, from the definitions of the settings."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from iostudy.settings import catalog
from iostudy.settings.definition import SettingDefinition

_TRIED = """\
## What has not run on a real device

In the tests, programs that keep state and fail as the real ones do imitate `zfs`, `hdparm`,
`sdparm`, `nvme`, `tuned-adm` and the mount of an NFS export; files imitate `io.cost.*` and the
attributes of md. No test has changed a real one by `zfs.*`, `ata.*`, `scsi.*`, `nvme.*`,
`tuned.profile`, `nfs.*`, `iocost.*` or `md.*`."""

_HEAD = Path(__file__).with_name("settings_head.md").read_text("utf-8").rstrip()

_KINDS = {
    "block": (
        "Block devices",
        (
            "Attributes of a device's queue, below `/sys/block/DEVICE/queue`. The name of a "
            "tunable includes its scheduler. A tunable is applied after its scheduler, and exists "
            "only while the scheduler is active. mq-deadline and `timeout_sync` of bfq round "
            "milliseconds to kernel ticks: use multiples of 20, which suit any kernel. Any other "
            "attribute is a setting too, such as `block.io_poll`: iostudy first writes its current "
            "value, to prove that the kernel accepts it."
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
    "zfs": (
        "ZFS",
        (
            "Properties of the dataset that is mounted at the target or at `on`. An inherited "
            "property is inherited again afterwards."
        ),
    ),
    "ata": ("Write caches of drives", "Each by the program of its bus, hdparm, sdparm or nvme."),
    "scsi": ("SCSI drives", "By sdparm."),
    "nvme": ("NVMe drives", "By nvme-cli."),
    "iocost": (
        "The cgroup controller iocost",
        "For each disk below the target or `on`; the root group of cgroup v2 has the files.",
    ),
    "md": ("Arrays of md", "For the array that the file system sits on."),
    "nfs": ("NFS mounts", "Options that hold from the mount on: each level is a new mount."),
    "tuned": ("TuneD", "Profiles as levels."),
    "zswap": ("Compressed swap", "Below `/sys/module/zswap/parameters`."),
    "sched": (
        "The CPU scheduler",
        "Below `/sys/kernel/debug/sched`; kernels before 5.13 have sysctls `kernel.sched_*`.",
    ),
    "slice": (
        "Control groups of the system",
        (
            "Of `system.slice`, which holds the services of systemd. Other groups are paths: "
            "`/sys/fs/cgroup/user.slice/cpu.weight` is a factor."
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
            "others](../hadoop.md#properties-that-differ-from-hadoops-defaults). Any property is a "
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


_PAGES = {
    "block": ("Block devices", ("block",)),
    "kernel": (
        "The kernel and the host",
        ("sysctl", "thp", "cpu", "sched", "slice", "zswap", "tuned"),
    ),
    "mounts": ("Mounts", ("mount", "bdi", "nfs", "zfs")),
    "drives": ("Drives and arrays", ("ata", "scsi", "nvme", "iocost", "md")),
    "processes": ("Processes of the workload", ("limit", "cgroup")),
    "file-systems": ("New file systems and volumes", ("filesystem", "volume")),
    "hadoop": ("Hadoop", ("hadoop",)),
}


def pages() -> Mapping[str, Callable[[], str]]:
    """Return the paths of all pages with what writes each."""
    by_page = {f"docs/settings/{name}.md": partial(_write_page, name) for name in _PAGES}
    return {"docs/settings.md": _write_index, **by_page}


def _write_index() -> str:
    """The head, and every setting with its page. ValueError for a kind without one."""
    kinds = _group_by_kind()
    if lost := kinds.keys() - {kind for _, members in _PAGES.values() for kind in members}:
        raise ValueError(f"tools/docs/settings_page.py: no page for settings of {sorted(lost)}")
    lines = ["| page | settings |", "|---|---|"]
    for page, (title, members) in _PAGES.items():
        names = ", ".join(f"`{setting.name}`" for kind in members for setting in kinds[kind])
        lines.append(f"| [{title}](settings/{page}.md) | {names} |")
    return "\n\n".join((_HEAD, _TRIED, "## All settings", "\n".join(lines))) + "\n"


def _write_page(page: str) -> str:
    title, members = _PAGES[page]
    kinds = _group_by_kind()
    sections = (part for kind in members for part in _section(kind, kinds[kind]))
    return "\n\n".join((f"# {title}", *sections)) + "\n"


def _group_by_kind() -> dict[str, list[SettingDefinition]]:
    definitions = map(catalog.get, catalog.names())
    groups = groupby(definitions, key=lambda definition: definition.name.partition(".")[0])
    return {kind: list(group) for kind, group in groups}


def _section(kind: str, definitions: Sequence[SettingDefinition]) -> Iterator[str]:
    """Text of a kind; what its settings have in common stands once."""
    title, introduction = _KINDS[kind]
    yield f"## {title}"
    yield _wrapped(introduction)
    common = set.intersection(*(set(_facts(definition).items()) for definition in definitions))
    if len(definitions) > 1 and common:
        yield "All of these:"
        yield _list([fact for fact in _facts(definitions[0]).items() if fact in common])
    else:
        common = set()
    for text, group in groupby(definitions, key=lambda definition: _describe(definition, common)):
        yield f"### {', '.join(f'`{definition.name}`' for definition in group)}\n\n{text}"


def _facts(definition: SettingDefinition) -> dict[str, str]:
    facts = {
        "Allowed": definition.allowed,
        "Default": definition.default,
        "Concerns": f"{definition.applies_to}; {definition.cost} to change",
        "Switchable": str(definition.switching),
        "Only while": str(definition.condition or ""),
        "Caution": definition.caution,
        "Source": definition.source,
    }
    return {name: text for name, text in facts.items() if text}


def _describe(definition: SettingDefinition, common: set[tuple[str, str]]) -> str:
    facts = [fact for fact in _facts(definition).items() if fact not in common]
    return f"{_wrapped(_escaped(definition.documentation))}\n\n{_list(facts)}"


def _list(facts: Sequence[tuple[str, str]]) -> str:
    return "\n".join(_wrapped(f"- {name}: {_escaped(text)}", "  ") for name, text in facts)


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
