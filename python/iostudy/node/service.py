"""A service that workloads need, such as a Hadoop cluster.

A plugin defines it, by the name that its workloads have as ``service``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from iostudy import plugins
from iostudy.core import registered
from iostudy.line_handler import LineHandler
from iostudy.settings.change import Change
from iostudy.study.combinations import Configuration, Factor
from iostudy.study.model import ServiceSpec, Study
from iostudy.study.targets.target import Target


class ServiceClient(Protocol):
    """The service as a workload sees it, with the levels of one trial."""

    def program_files(self) -> Iterator[Path]:
        """Return the files that its programs read."""


class Service(Protocol):
    """A running service. Its errors are ClusterError and come within seconds."""

    def try_levels(self, configuration: Configuration) -> None:
        """Configure it and read it back; SettingError for a level that it does not take."""

    def stored_levels(self, configuration: Configuration) -> Mapping[str, str]:
        """Return what a configuration stores with the data, by which trials share data."""

    def client_for_data(self, stored: Mapping[str, str]) -> ServiceClient:
        """Return a client for the preparation of data."""

    def configured(self, configuration: Configuration) -> ServiceClient:
        """Configure it for a trial, and return the trial's client."""

    def default_client(self) -> ServiceClient:
        """Return a client for clean-up, with all parts of the service running."""

    def read_back(self, configuration: Configuration) -> Mapping[str, str]:
        """Return its current values by label; SettingError if one differs from its level."""

    def settle(self) -> None:
        """Wait until removed data have left its disks."""

    def verify(self) -> None:
        """Raise ClusterError if a part of it has ended since `configured`."""

    def data_dirs(self) -> tuple[Path, ...]:
        """Return the directories of its data on this machine; none if unknown."""

    def pids(self) -> tuple[int, ...]:
        """Return its processes on this machine, if known."""

    def facts(self) -> Mapping[str, Any]:
        """Return what the circumstances of a study have of it, as JSON values."""


class ServiceRequest(Protocol):
    """The service of a study before it runs, with all its software present."""

    @property
    def name(self) -> str:
        """Its name in the circumstances of a study."""

    @property
    def spec(self) -> ServiceSpec:
        """What the study needs of it."""

    @property
    def restarts(self) -> bool:
        """Whether it restarts before every trial."""

    @property
    def on_progress(self) -> LineHandler:
        """It receives messages during the first start."""

    @property
    def make(self) -> Callable[[Path, LineHandler], Change]:
        """Make the change that starts it for a working folder; its undo removes the service."""

    def find_service(self, change: Any) -> Service:
        """Return the service that such a change has started."""


class BuildRequest(Protocol):
    """A function that finds the software of a service; UsageError if some is missing."""

    def __call__(
        self,
        target: Target,
        spec: Any,
        factors: Sequence[Factor],
        *,
        logs: Path | None = None,
        on_progress: LineHandler = ...,
    ) -> ServiceRequest:
        """Build the request; logs go to the folder ``logs``, or with the study's other files."""


@dataclass(frozen=True)
class ServiceDefinition:
    """A service of a plugin.

    ``needs_restarts`` says whether a factor is read at the start of the service alone.
    """

    build_request: BuildRequest
    needs_restarts: Callable[[Target, Sequence[Factor]], bool]


def study_restarts_service(study: Study) -> bool:
    """Return whether the study's service restarts before every trial."""
    name = study.service
    return bool(name) and find_service(name).needs_restarts(study.target, study.factors)


def find_service(name: str) -> ServiceDefinition:
    """Return the definition of a service by its name; KeyError if no plugin has it."""
    refs = {key: ref for plugin in registered() for key, ref in plugin.services.items()}
    definition: ServiceDefinition = plugins.load(refs[name])
    return definition
