"""A fleet run in an output folder of the controller, new or resumed."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import LedgerError
from iostudy.fleet.controller import Controller, FleetStudy, States
from iostudy.fleet.design import Design
from iostudy.fleet.node_state import Phase
from iostudy.fleet.record import FILE_NAME, FleetRecord, NodeRecord, read_record
from iostudy.fleet.source import NodeSource
from iostudy.fleet.work_folder import StudyOrder, WorkFolder, work_folder
from iostudy.own_folder import new_identity


@dataclass(frozen=True)
class RunOptions:
    """Options of a fleet run; ``parent`` is the folder on nodes that gets the work folder."""

    lease_seconds: float
    parent: Path
    study_options: Sequence[str]


def prepare_record(
    out: Path, study: str, text: str, design: Design, *, resume: bool
) -> FleetRecord:
    """The record of a new run, or of the one to resume; LedgerError if the folder has another."""
    found = read_record(out)
    if found is None and resume:
        raise _wrong_folder(out, "a fleet run to resume", "there is none", "leave out --resume")
    if found is None:
        return FleetRecord(identity=new_identity(), design=design, study=study, text=text, nodes={})
    if not resume:
        raise _wrong_folder(
            out, "a folder without a fleet run", "it has one", "give --resume, or another folder"
        )
    if found.design is not design:
        raise _wrong_folder(
            out,
            f"a fleet run with --design {design.value}",
            f"its design is {found.design.value}",
            f"give --design {found.design.value}, or another folder",
        )
    if found.text != text:
        raise _wrong_folder(
            out,
            f"the fleet run of this study ({study})",
            f"it has another study ({found.study}), or this one with a different text",
            "resume with the original file, or give another folder",
        )
    return found


def run_fleet(
    source: NodeSource,
    record: FleetRecord,
    out: Path,
    options: RunOptions,
    on_change: Callable[[States, str], None],
) -> FleetRecord:
    """Run the study on the nodes of the source; return the record, which is in the folder too."""
    keeper = _Keeper(record, out, on_change)
    with source.connect(record.study) as client:
        folders = {
            node: work_folder(options.parent, record.identity, node) for node in client.nodes
        }
        order = StudyOrder(
            name=record.study,
            text=record.text,
            options=options.study_options,
            lease_seconds=options.lease_seconds,
            controller=socket.gethostname(),
        )
        keeper.begin(folders)
        Controller(client, FleetStudy(order, folders, out), keeper.update).run(folders)
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
        self._write({**self.record.nodes, **nodes})

    def update(self, states: States, changed: str) -> None:
        """Record the new phase of a node."""
        state, own = states[changed], self.record.nodes[changed]
        new = own.model_copy(update={"phase": state.phase, "detail": state.detail})
        self._write({**self.record.nodes, changed: new})
        self._on_change(states, changed)

    def _write(self, nodes: dict[str, NodeRecord]) -> None:
        self.record = self.record.model_copy(update={"nodes": nodes})
        self.record.write(self._out)


def _wrong_folder(out: Path, wanted: str, found: str, remedy: str) -> LedgerError:
    return LedgerError(wanted, found=found, where=str(out / FILE_NAME), remedy=remedy)
