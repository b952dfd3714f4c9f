"""The Hadoop cluster of a study: what it is asked to be, and how its levels hold in a trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from iostudy.errors import SettingError
from iostudy.hadoop import native
from iostudy.hadoop.client import Client
from iostudy.hadoop.command import Tell, nobody
from iostudy.hadoop.protocol import Cluster
from iostudy.hadoop.spec import ClusterSpec, Properties
from iostudy.node.levels import not_kept
from iostudy.settings import catalog
from iostudy.settings.change import Change
from iostudy.settings.definition import Reach, SettingDefinition
from iostudy.settings.definitions.hadoop import HadoopDefinition, Scope
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration, Factor, FactorKind

_PLACE = "@cluster"
_NOT_SET = "not set"


class ClusterChange(Change, Protocol):
    """A change by which a cluster is there; undone, nothing is left of it."""

    @property
    def cluster(self) -> Cluster:
        """The cluster, once the change has been applied."""


@dataclass(frozen=True)
class ClusterRequest:
    """The cluster that a study needs. ``make`` gives it for the folder that the study works in.

    ``tell`` hears how it is started for the first time.
    """

    spec: ClusterSpec
    make: Callable[[Path, Tell], ClusterChange]
    tell: Tell = nobody


@dataclass(frozen=True)
class ClusterLevels:
    """A running cluster, and how it is made to have a configuration's levels.

    ``restarts``: the daemons are started anew before every trial, see `needs_restarts`.
    """

    cluster: Cluster
    restarts: bool

    def for_data(self, stored: Properties) -> Client:
        """For making data: with what is stored with them, and else as the cluster is by itself."""
        return self.cluster.configured(stored, restart=self.restarts)

    def configured(self, configuration: Configuration) -> Client:
        """For a trial: with all levels of the configuration."""
        return self.cluster.configured(_properties(configuration), restart=self.restarts)

    def whole(self) -> Client:
        """For tidying up: with every daemon there, whatever the trials before have done to them."""
        return self.cluster.configured({}, restart=False)

    def read_back(self, configuration: Configuration) -> dict[str, str]:
        """The values that hold now, by label; SettingError if one is not what was wanted."""
        varied = _varied(configuration)
        found = self.cluster.read_back(tuple(definition.key for definition in varied))
        return {
            f"{definition.name}{_PLACE}": _kept(definition, wanted, found)
            for definition, wanted in varied.items()
        }


def needs_restarts(factors: Sequence[Factor]) -> bool:
    """Whether what varies is read, or inherited, by daemons at their start alone.

    Then they are started anew for every trial, also for one that leaves all as found: otherwise
    trials of a block would begin with daemons of different age, and with different caches.
    """
    names = [factor.name for factor in factors if factor.kind is FactorKind.SETTING]
    return any(map(_is_read_at_start, map(catalog.get, names)))


def shaping(configuration: Configuration) -> Properties:
    """The properties of a configuration that are stored with what is written."""
    return _properties(configuration, lambda definition: definition.shapes_data)


def require_native_library(client: Client, configuration: Configuration) -> None:
    """SettingError where a level takes a library of Hadoop's that a cluster of ours has not."""
    wanted = [each.name for each, value in _varied(configuration).items() if _asks(each, value)]
    if wanted and not native.is_there(client):
        raise SettingError(
            f"{', '.join(wanted)} to make a difference",
            found="Hadoop's native library (libhadoop.so), which does this, is not there",
            where="the cluster that the study starts",
            remedy="have the lib/native of a release for this machine in LD_LIBRARY_PATH, or "
            "leave the factor out",
        )


def _asks(definition: HadoopDefinition, value: str) -> bool:
    return definition.native and value != AS_FOUND


def _is_read_at_start(definition: SettingDefinition) -> bool:
    if isinstance(definition, HadoopDefinition):
        return definition.scope is Scope.DAEMONS
    return definition.reach is Reach.WORKLOAD


def _varied(configuration: Configuration) -> dict[HadoopDefinition, str]:
    """The settings of the cluster with their levels."""
    levels = {catalog.get(name): value for name, value in configuration.settings.items()}
    return {each: value for each, value in levels.items() if isinstance(each, HadoopDefinition)}


def _properties(
    configuration: Configuration,
    chosen: Callable[[HadoopDefinition], bool] = lambda _: True,
) -> Properties:
    return {
        definition.key: value
        for definition, value in _varied(configuration).items()
        if value != AS_FOUND and chosen(definition)
    }


def _kept(definition: HadoopDefinition, wanted: str, found: Properties) -> str:
    """The value that was found, in the form that levels have; SettingError if it is another one."""
    told = found.get(definition.key, _NOT_SET)
    try:
        value = definition.parse(told)
    except ValueError:
        value = told
    if wanted != AS_FOUND and not definition.met(wanted, value):
        remedy = "see whether the cluster's own site files call it final"
        raise not_kept(f"{definition.name}{_PLACE}", wanted, value, remedy)
    return value
