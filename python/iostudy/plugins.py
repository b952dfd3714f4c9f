"""Plugins: what other distributions add to iostudy.

A distribution registers a `Plugin` as an entry point of the group ``iostudy.plugins``. It must be
installed in the folder of iostudy itself: what a user has elsewhere would run as root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from iostudy.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path

GROUP = "iostudy.plugins"
API = 1
"""Version of `Plugin` and of the protocols of what it registers."""

Ref = str
"""A name in a module, "package.module:name", that is imported at its first use."""

_WORDS = {
    "fleet": ("fleet", "nodes"),
    "hadoop": (
        *("hadoop", "local-hdfs", "local-sshfs", "mount", "mrbench", "nnbench", "nnthroughput"),
        *("teragen", "terasort", "teravalidate", "wordcount", "edit-log", "edit-log-native"),
        *("edit-log-network", "hdfs-read-buffer", "hdfs-replication"),
        *("noatime-and-limits", "noatime-and-limits-on-hadoop", "noatime-and-limits-screening"),
        *("schedulers", "schedulers-native", "scheduler-tunables", "scheduler-tunables-bfq"),
        *("scheduler-tunables-cfq", "scheduler-tunables-kyber"),
    ),
    "hep": (
        *("events", "root-events", "hep-disk-settings", "hep-events", "hep-network-settings"),
        *("hep-scaling", "read-ahead", "storage-systems"),
    ),
    "lab": (
        *("drive", "drives", "modelled-drive", "drive-queue", "simulate"),
        *("failing-drive", "raid10-or-not", "raid10-or-not-smoke", "raid10-simulated"),
        *("raid10-slow-disk", "raid10-slow-disk-simulated", "read-ahead-on-a-drive"),
        *("scheduler-tunables-2014-anticipatory", "scheduler-tunables-2014-cfq"),
        *("scheduler-tunables-2014-deadline", "scheduler-tunables-2014-screening"),
        *("schedulers-2014", "schedulers-2026-nearline", "schedulers-2026-ssd"),
        *("schedulers-on-a-drive", "smr-write"),
    ),
    "search": ("search", "design"),
    "trace": ("trace",),
    "watch": ("watch",),
}
"""Commands, workloads, studies and their keys that this repository's plugins have."""

_BEGINNINGS = {"hadoop": ("dfsio-", "hadoop.", "hadoop-", "hdfs:", "hdfs-", "mount.hdfs.")}
"""Beginnings of workloads, settings, targets, mounts and kinds of changes."""


@dataclass(frozen=True)
class Command:
    """A command: its name, its line in the help, and the object that implements it.

    ``summary`` equals the first line of the command's own help. ``ref`` names a function, or the
    Typer application of a command group. ``takes_command_line``: a command line of the user may
    follow ``--``. ``analyzes``: it loads NumPy and the charts, and writes or reads reports.
    ``changes_host``: it does not start while a change is unrestored. ``restores``: it restores
    by itself what a killed command left, for example if its options decide whether it changes
    the host.
    """

    name: str
    summary: str
    ref: Ref
    takes_command_line: bool = False
    analyzes: bool = False
    changes_host: bool = False
    restores: bool = False


@dataclass(frozen=True)
class Mode:
    """How a study chooses its runs and what it compares, with what each layer does for it.

    - ``name``: what the study is, in a sentence: "a search"
    - ``compares_configurations``: each is compared with the baseline, until that is decided
    - ``compares_levels``: levels of factors are compared with the first levels, with one level of
      risk in all analyses
    - ``measures_windows``: levels are switched during one run, whose windows are measured
    - ``plans_trials``: the fewest and the most trials are known before the first one
    - ``instead``: what to do where only configurations can be compared

    The others are references; those without one do nothing that other modes do not.

    - ``comparisons``: a function of study and rows that returns all results
    - ``restored``: a function of study and ledger that adds what only the ledger knows
    - ``verdict_folder``: a function of the output folder that returns the one with the verdicts
    - ``strategy``: an `iostudy.execution.strategies.Strategy`
    - ``power``: a function that returns the `iostudy.results.power.PowerBasis` of a study
    - ``text``: an `iostudy.cli.mode_text.ModeText`
    - ``report``: a function of the output folder and of a reference that returns its report
    """

    name: str
    comparisons: Ref
    strategy: Ref
    text: Ref
    compares_configurations: bool = False
    compares_levels: bool = False
    measures_windows: bool = False
    plans_trials: bool = False
    instead: str = ""
    restored: Ref = ""
    verdict_folder: Ref = ""
    power: Ref = ""
    report: Ref = ""

    def __str__(self) -> str:
        return self.name

    @property
    def has_last_block(self) -> bool:
        """Whether the most blocks are known before the first one."""
        return self.compares_configurations or self.plans_trials


@dataclass(frozen=True)
class Plugin:
    """What a distribution adds; ``iostudy-NAME`` and the extra NAME of iostudy install it.

    - ``workloads``: references of each `WorkloadDefinition` by its name
    - ``settings``: references of each `SettingFamily` (``iostudy.settings.definition``) by its name
    - ``kinds``: references of the `SettingKind` of each family
    - ``changes``: references of classes that undo a change, by their kind in a journal
    - ``owners``: references of classes that own attributes, by their kind in a journal
    - ``disks``: references of functions that prepare disks, by the word that a target has for them
    - ``targets``: references of each `TargetKey` (``iostudy.study.targets.target``) by its key or
      the beginning of its text
    - ``mounts``: references of each `MountKind` (``iostudy.study.targets.target``) by the
      beginning of what is mounted
    - ``services``: references of each `ServiceDefinition` (``iostudy.node.service``) by its name
    - ``checks``: references of functions that note what does not go together in a study
    - ``sections``: references of each `DesignKey`, `ServiceKey` or `CommandKey`
      (``iostudy.study.study_file``) by its key in study files
    - ``formats``: references of each `PluginFormat` (``iostudy.persist.formats``) by the
      beginning of its settings
    - ``studies``: the folder of its ready-made studies
    - ``topics``: references of each `Topic` (``iostudy.report.plugin_topics``) by its key in
      report.json
    """

    name: str
    commands: tuple[Command, ...] = ()
    workloads: Mapping[str, Ref] = field(default_factory=dict)
    settings: Mapping[str, Ref] = field(default_factory=dict)
    kinds: Mapping[str, Ref] = field(default_factory=dict)
    changes: Mapping[str, Ref] = field(default_factory=dict)
    owners: Mapping[str, Ref] = field(default_factory=dict)
    disks: Mapping[str, Ref] = field(default_factory=dict)
    targets: Mapping[str, Ref] = field(default_factory=dict)
    mounts: Mapping[str, Ref] = field(default_factory=dict)
    services: Mapping[str, Ref] = field(default_factory=dict)
    checks: tuple[Ref, ...] = ()
    sections: Mapping[str, Ref] = field(default_factory=dict)
    topics: Mapping[str, Ref] = field(default_factory=dict)
    formats: Mapping[str, Ref] = field(default_factory=dict)
    studies: Path | None = None
    api: int = API


def load(ref: Ref) -> Any:
    """Import the module of a reference and return the object; UsageError if that is impossible."""
    module, _, name = ref.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        package = module.partition(".")[0].removeprefix("iostudy_")
        raise _unusable(package, f"{ref}: {error}") from error


@cache
def installed() -> tuple[Plugin, ...]:
    """Return the installed plugins by name; UsageError for one that cannot be used."""
    plugins = tuple(map(_load_plugin, _entries()))
    _require_distinct(plugins)
    return plugins


def list_usable() -> Iterator[Plugin]:
    """Yield the installed plugins that can be used."""
    for entry in _entries():
        with suppress(UsageError):
            yield _load_plugin(entry)


@cache
def _entries() -> tuple[EntryPoint, ...]:
    from importlib.metadata import distribution, distributions  # slow: most commands need none

    folder = str(distribution("iostudy").locate_file(""))
    entries = {
        entry.name: entry
        for distribution in distributions(path=[folder])
        for entry in distribution.entry_points
        if entry.group == GROUP
    }
    return tuple(entries[name] for name in sorted(entries))


def _load_plugin(entry: EntryPoint) -> Plugin:
    try:
        plugin = entry.load()
    except (ImportError, AttributeError) as error:
        raise _unusable(entry.name, f"{type(error).__name__}: {error}") from error
    if not isinstance(plugin, Plugin):
        raise _unusable(entry.name, f"{entry.value} is no Plugin")
    if plugin.api != API:
        raise _unusable(entry.name, f"it is written for version {plugin.api} of the API")
    return plugin


def _unusable(name: str, found: str) -> UsageError:
    return UsageError(
        f"a plugin for version {API} of the API",
        found=found,
        where=f"the plugin {name}",
        remedy=f"install its newest version, or remove it: pip uninstall iostudy-{name}",
    )


def _require_distinct(plugins: Iterable[Plugin]) -> None:
    """UsageError for a name that two plugins register."""
    owners: dict[str, str] = {}
    for plugin in plugins:
        names = {
            "the command": [command.name for command in plugin.commands],
            "the workload": plugin.workloads,
            "the family of settings": plugin.settings,
            "the kind of change": (*plugin.changes, *plugin.owners),
            "the disk": plugin.disks,
            "the target": plugin.targets,
            "the mount": plugin.mounts,
            "the service": plugin.services,
            "the section": plugin.sections,
            "the topic": plugin.topics,
            "the format": plugin.formats,
        }
        for what in (f"{kind} {name}" for kind, group in names.items() for name in group):
            if what in owners:
                raise _unusable(plugin.name, f"{what} is of the plugin {owners[what]}, too")
            owners[what] = plugin.name


def find_missing(word: str) -> str:
    """Return the command that installs the plugin of a word in a study or command; "" for none."""
    named = (plugin for plugin, words in _WORDS.items() if word in words)
    begun = (plugin for plugin, begin in _BEGINNINGS.items() if word.startswith(begin))
    name = next(chain(named, begun), None)
    is_missing = name is not None and name not in {plugin.name for plugin in list_usable()}
    text = f"pip install 'iostudy[{name}]', the package iostudy-{name}, or `make extras` in a clone"
    return text if is_missing else ""


def require_plugin_of(word: str, where: str) -> None:
    """UsageError that names the package if the word is of a plugin that is not installed."""
    if install := find_missing(word):
        raise UsageError(
            f"the plugin that has {word}", found="it is not installed", where=where, remedy=install
        )
