"""Run of a study on each node, and its record in the output folder of the controller."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from iostudy_fleet.deployment.source import NodeSource
from iostudy_fleet.options import RunOptions
from iostudy_fleet.record import FleetRecord, NodeRecord
from iostudy_fleet.replicate.controller import Controller, FleetStudy, States
from iostudy_fleet.replicate.transfer import find_damage
from iostudy_fleet.supervision.node_state import Phase
from iostudy_fleet.supervision.work_folder import WorkFolder


def run_fleet(
    source: NodeSource,
    record: FleetRecord,
    out: Path,
    options: RunOptions,
    on_change: Callable[[States, str], None],
    say: Callable[[str], None],
) -> FleetRecord:
    """Run the study on the nodes of the source; return the record, which is in the folder too.

    If this is interrupted, RestoreError for nodes that could not restore all settings.
    """
    keeper = _Keeper(record, out, on_change)
    with source.connect() as client:
        folders = options.name_folders(record, client.nodes)
        order = options.build_order(record)
        fetched = [node for node in record.list_in(Phase.FETCHED) if not find_damage(out / node)]
        keeper.begin({node: folder for node, folder in folders.items() if node not in fetched})
        study = FleetStudy(order, folders, out)
        try:
            Controller(client, study, keeper.update, say).run(folders, fetched)
        except BaseException:
            keeper.record.require_restored()
            raise
    return keeper.record


class _Keeper:
    """Keeps the record up to date."""

    def __init__(
        self, record: FleetRecord, out: Path, on_change: Callable[[States, str], None]
    ) -> None:
        self.record = record
        self._out = out
        self._on_change = on_change

    def begin(self, folders: dict[str, WorkFolder]) -> None:
        """Record the nodes before anything is on them."""
        nodes = {
            node: NodeRecord(phase=Phase.RUNNING, detail="", folder=str(folder.path))
            for node, folder in folders.items()
        }
        self._write({**self.record.clear_unrestored().nodes, **nodes})

    def update(self, states: States, changed: str) -> None:
        """Record the new phase of a node."""
        state, recorded = states[changed], self.record.nodes[changed]
        new = recorded.model_copy(
            update={
                "phase": state.phase,
                "detail": state.detail,
                "unrestored": state.is_unrestored,
            }
        )
        self._write({**self.record.nodes, changed: new})
        self._on_change(states, changed)

    def _write(self, nodes: dict[str, NodeRecord]) -> None:
        self.record = self.record.model_copy(update={"nodes": nodes})
        self.record.write(self._out)
