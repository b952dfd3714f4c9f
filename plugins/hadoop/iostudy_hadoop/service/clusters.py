"""Hadoop cluster as the service of a study, and the levels of its properties in a trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from iostudy.errors import SettingError
from iostudy.line_handler import LineHandler, ignore_line
from iostudy.node.levels import setting_changed_error
from iostudy.settings import catalog
from iostudy.settings.change import Change
from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration, Factor, FactorKind
from iostudy.study.targets.target import Target
from iostudy_hadoop import native_library
from iostudy_hadoop.client import Client
from iostudy_hadoop.properties.definition import HadoopDefinition, Scope
from iostudy_hadoop.protocol import Cluster
from iostudy_hadoop.spec import ClusterSpec, Properties

_PLACE = "@cluster"
_NOT_SET = "not set"


class ClusterChange(Change, Protocol):
    """A change that starts a cluster; its undo removes the cluster completely."""

    @property
    def cluster(self) -> Cluster:
        """The cluster, once the change has been applied."""


@dataclass(frozen=True)
class ClusterRequest:
    """The cluster of a study; ``make`` creates it for the study's working folder.

    ``on_progress`` receives messages during the first start. ``restarts``: the daemons restart
    before every trial; see `needs_restarts`. ``is_own``: the study starts it.
    """

    spec: ClusterSpec
    make: Callable[[Path, LineHandler], ClusterChange]
    on_progress: LineHandler = ignore_line
    restarts: bool = False
    is_own: bool = True

    @property
    def name(self) -> str:
        """Its name in the circumstances of a study."""
        return "hadoop"

    def find_service(self, change: ClusterChange) -> RunningCluster:
        """Return the cluster that a change of `make` has started."""
        return RunningCluster(change.cluster, self.restarts, self.is_own)


@dataclass(frozen=True)
class RunningCluster:
    """A running cluster that takes the levels of configurations, as a `Service`."""

    cluster: Cluster
    restarts: bool
    is_own: bool

    def try_levels(self, configuration: Configuration) -> None:
        """Configure it and read it back; SettingError for a level that it does not take."""
        client = self.configured(configuration)
        self.read_back(configuration)
        if self.is_own:
            _require_native_library(client, configuration)

    def stored_levels(self, configuration: Configuration) -> Properties:
        """Return the properties of a configuration that are stored with the data."""
        return _properties(configuration, lambda definition: definition.shapes_data)

    def client_for_data(self, stored: Properties) -> Client:
        """Return a client for data preparation, with the properties that are stored with data."""
        return self.cluster.configured(stored, restart=self.restarts)

    def configured(self, configuration: Configuration) -> Client:
        """Return a client for a trial, with all levels of the configuration."""
        return self.cluster.configured(_properties(configuration), restart=self.restarts)

    def default_client(self) -> Client:
        """Return a client for clean-up, with default properties and every daemon running."""
        return self.cluster.configured({}, restart=False)

    def read_back(self, configuration: Configuration) -> dict[str, str]:
        """Read the current values by label; SettingError if one differs from the expected one."""
        varied = _cluster_settings(configuration)
        values = self.cluster.read_back(tuple(definition.key for definition in varied))
        return {
            f"{definition.name}{_PLACE}": _require_kept(definition, wanted, values)
            for definition, wanted in varied.items()
        }

    def settle(self) -> None:
        """Wait until data deleted in HDFS are also deleted on the disks of the DataNodes."""
        self.cluster.settle()

    def verify(self) -> None:
        """Raise ClusterError if a daemon has ended since `configured`."""
        self.cluster.verify()

    def data_dirs(self) -> tuple[Path, ...]:
        """Return the directories of its data on this machine; none if unknown."""
        return self.cluster.data_dirs()

    def pids(self) -> tuple[int, ...]:
        """Return its processes on this machine, if known."""
        return self.cluster.pids()

    def facts(self) -> Mapping[str, Any]:
        """Return versions, daemons, directories and properties as JSON values."""
        return self.cluster.facts()


def needs_restarts(target: Target, factors: Sequence[Factor]) -> bool:
    """Return whether a varied setting is read or inherited only at the start of daemons.

    Daemons that the study starts inherit the options of mounts and the network settings of the host
    then, because they have namespaces of their own.

    If so, they restart for every trial, also for unchanged ones. Otherwise the trials of a block
    would differ in the age and the caches of the daemons.
    """
    names = [factor.name for factor in factors if factor.kind is FactorKind.SETTING]
    inherits = not target.cluster_uri
    return any(
        _is_startup_only(definition) or (inherits and _is_per_namespace(definition))
        for definition in map(catalog.get, names)
    )


def _require_native_library(client: Client, configuration: Configuration) -> None:
    """Raise SettingError if a level needs Hadoop's native library and the cluster lacks it."""
    wanted = [
        definition.name
        for definition, value in _cluster_settings(configuration).items()
        if _needs_native_library(definition, value)
    ]
    if wanted and not native_library.is_loadable(client):
        raise SettingError(
            f"{', '.join(wanted)} to make a difference",
            found="Hadoop's native library (libhadoop.so), which it needs, is missing",
            where="the cluster that the study starts",
            remedy="add the lib/native of a release for this machine to LD_LIBRARY_PATH, or "
            "remove the factor",
        )


def _needs_native_library(definition: HadoopDefinition, value: str) -> bool:
    return definition.native and value != AS_FOUND


def _is_startup_only(definition: SettingDefinition) -> bool:
    if isinstance(definition, HadoopDefinition):
        return definition.scope is Scope.DAEMONS
    return definition.reach is Reach.WORKLOAD


def _is_per_namespace(definition: SettingDefinition) -> bool:
    return definition.reach is Reach.MOUNT or definition.name.startswith("sysctl.net.")


def _cluster_settings(configuration: Configuration) -> dict[HadoopDefinition, str]:
    """Return the settings of the cluster with their levels."""
    levels = {catalog.get(name): value for name, value in configuration.settings.items()}
    return {
        definition: value
        for definition, value in levels.items()
        if isinstance(definition, HadoopDefinition)
    }


def _properties(
    configuration: Configuration,
    chosen: Callable[[HadoopDefinition], bool] = lambda _: True,
) -> Properties:
    return {
        definition.key: value
        for definition, value in _cluster_settings(configuration).items()
        if value != AS_FOUND and chosen(definition)
    }


def _require_kept(definition: HadoopDefinition, wanted: str, actual: Properties) -> str:
    """Return the actual value, normalised as a level; SettingError if it is unexpected."""
    text = actual.get(definition.key, _NOT_SET)
    try:
        value = definition.parse(text)
    except ValueError:
        value = text
    if wanted != AS_FOUND and not definition.matches(wanted, value):
        remedy = "check whether the cluster's own site files declare it final"
        raise setting_changed_error(f"{definition.name}{_PLACE}", wanted, value, remedy)
    return value
