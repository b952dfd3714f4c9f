"""Driver of a simulated drive, which opens a node without a machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from iostudy.node.free_space import FreeSpace
from iostudy.node.protocol import Node
from iostudy.node.targets.driver import OfferedLevels, TargetDriver
from iostudy.node.targets.storage import ScratchStorage
from iostudy.settings import catalog
from iostudy.settings.definition import Reach
from iostudy.study.combinations import Factor
from iostudy.study.model import Study
from iostudy.workloads.tick import continue_run
from iostudy_lab.simulation.node import SimulatedNode
from iostudy_lab.study.target import SimulatedTarget


class SimulatedDriver(TargetDriver[SimulatedTarget]):
    """Predicts; nothing of this host is used."""

    def probe_paths(self) -> tuple[Path, ...]:
        return (Path(),)

    def free_space(self, study: Study, folder: Path) -> FreeSpace:
        settings = (configuration.settings for configuration in study.known().configurations())
        least = min(map(self.target.capacity_bytes, settings))
        return FreeSpace(study.describe_target(), least)

    def paths(self, folder: Path, storage: ScratchStorage | None) -> tuple[Path, ...]:
        return ()

    def creates(self, factor: Factor, reach: Reach) -> bool:
        return True

    def offered_levels(self, factors: Sequence[Factor]) -> OfferedLevels:
        return {factor.name: catalog.get(factor.name).choices for factor in factors}

    def find_warnings(self, study: Study) -> tuple[str, ...]:
        node = SimulatedNode(self.target, continue_run)
        refused = node.preflight(study.workloads, study.configurations())
        return tuple(f"{label}: {error.found}" for label, error in refused.items())

    def open_node(
        self, open_local: Callable[[], AbstractContextManager[Node]]
    ) -> AbstractContextManager[Node]:
        return SimulatedNode(self.target, continue_run)
