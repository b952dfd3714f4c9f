"""Options of a fleet run, and the order and work folders that follow from them."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from iostudy_fleet.record import FleetRecord
from iostudy_fleet.supervision.work_folder import StudyOrder, WorkFolder, work_folder


@dataclass(frozen=True)
class RunOptions:
    """``parent`` gets the new work folders; ``study_options`` are those of `iostudy run`."""

    lease_seconds: float
    parent: Path
    study_options: tuple[str, ...]

    def build_order(self, record: FleetRecord) -> StudyOrder:
        """What the controller orders every node to run."""
        return StudyOrder(
            name=record.study,
            text=record.text,
            options=self.study_options,
            lease_seconds=self.lease_seconds,
            controller=socket.gethostname(),
            design=record.design,
        )

    def name_folders(self, record: FleetRecord, nodes: Iterable[str]) -> dict[str, WorkFolder]:
        """The work folder on each node: that of the first run if the run is resumed."""
        return {
            node: WorkFolder(Path(record.nodes[node].folder))
            if node in record.nodes
            else work_folder(self.parent, record.identity, node)
            for node in nodes
        }
