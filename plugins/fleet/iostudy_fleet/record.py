"""Record of a fleet run in the controller's output folder: its nodes and what became of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from iostudy.durable import write_whole
from iostudy.errors import LedgerError, RestoreError
from iostudy.folders import FLEET_RECORD
from iostudy.ledger.store import FILE_NAME as LEDGER
from iostudy.own_folder import new_identity
from iostudy_fleet.design import Design
from iostudy_fleet.supervision.node_state import Phase


class NodeRecord(BaseModel):
    """A node: its phase, what there is to say about it, and its folder there.

    ``unrestored``: in the last command, it ended and could not restore all settings.
    """

    model_config = ConfigDict(frozen=True)

    phase: Phase
    detail: str
    folder: str
    unrestored: bool = False

    def lose(self) -> NodeRecord:
        """Return the record of the node as one that takes no part in a resumed run."""
        before = f"{self.detail}; then " if self.unrestored else ""
        detail = f"{before}it was not ready when the run was resumed"
        return self.model_copy(update={"phase": Phase.LOST, "detail": detail, "unrestored": False})


class FleetRecord(BaseModel):
    """A fleet run; ``identity`` names the folders on its nodes.

    Nodes that run together have their results in one ledger, in the folder of this record.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    schema_name: Literal["iostudy.fleet-run/1"] = Field(
        default="iostudy.fleet-run/1", alias="schema"
    )
    identity: str
    design: Design = Design.REPLICATE
    study: str
    text: str
    nodes: Mapping[str, NodeRecord]

    def needs(self, node: str) -> bool:
        """Whether `--resume` needs a node: for results, or to remove its folder."""
        is_complete = node in self.nodes and self.nodes[node].phase is Phase.COMPLETE
        return self.design is Design.TOGETHER or not is_complete

    def list_in(self, phase: Phase) -> tuple[str, ...]:
        """Return the nodes in a phase."""
        return tuple(node for node, state in self.nodes.items() if state.phase is phase)

    def list_results(self, folder: Path) -> list[Path]:
        """Return the output folders of nodes with results in this folder, complete or not."""
        return [folder / node for node in self.nodes if (folder / node / LEDGER).exists()]

    def list_missing(self) -> list[str]:
        """Return the state of each node with an incomplete study."""
        return [
            f"{node} is {state.phase.value}: {state.detail or 'no more is known'}; its folder "
            f"there is {state.folder}"
            for node, state in self.nodes.items()
            if state.phase not in (Phase.FETCHED, Phase.COMPLETE)
        ]

    def list_remaining(self) -> tuple[str, ...] | None:
        """Return the nodes that `--resume` needs; None if the run had none so far."""
        return tuple(filter(self.needs, self.nodes)) if self.nodes else None

    def list_others(self, nodes: Collection[str]) -> tuple[str, ...]:
        """Return the nodes of the run that are not among these."""
        return tuple(node for node in self.nodes if node not in nodes)

    def lose_others(self, nodes: Collection[str]) -> FleetRecord:
        """Return the record in which all other nodes are lost: they take no part."""
        lost = {node: self.nodes[node].lose() for node in self.list_others(nodes)}
        return self.model_copy(update={"nodes": {**self.nodes, **lost}})

    def clear_unrestored(self) -> FleetRecord:
        """Return the record without the marks of nodes that an earlier command left unrestored."""
        nodes = {
            node: state.model_copy(update={"unrestored": False})
            for node, state in self.nodes.items()
        }
        return self.model_copy(update={"nodes": nodes})

    def require_unchanged(self, folder: Path) -> None:
        """LedgerError if another command has changed the record since this one was read."""
        record = read_record(folder)
        if record != self and (record is not None or self.nodes):
            raise _wrong_folder(
                folder,
                "the record as it was read",
                "another command changed it",
                "repeat the command",
            )

    def require_restored(self) -> None:
        """RestoreError if nodes could not restore all settings."""
        nodes = {node: state for node, state in self.nodes.items() if state.unrestored}
        if nodes:
            raise RestoreError(
                "to restore every node",
                found="; ".join(f"{node}: {state.detail}" for node, state in nodes.items()),
                where=", ".join(state.folder for state in nodes.values()),
                remedy="`iostudy restore` on these nodes restores the rest",
            )

    def write(self, folder: Path) -> None:
        """Replace the record durably; OSError as it comes."""
        content = self.model_dump_json(by_alias=True, indent=2)
        write_whole(folder / FLEET_RECORD, f"{content}\n".encode())


def read_record(folder: Path) -> FleetRecord | None:
    """The record of a folder, None without one; LedgerError if it is damaged."""
    path = folder / FLEET_RECORD
    try:
        return FleetRecord.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise LedgerError(
            "the record of a fleet run",
            found=f"{error.error_count()} errors in it",
            where=str(path),
            remedy="restore the file from a copy, or run the study into another folder",
        ) from error


def prepare_record(
    out: Path, study: str, text: str, design: Design, *, resume: bool
) -> FleetRecord:
    """The record of a new run, or of the one to resume; LedgerError if the folder has another."""
    record = read_record(out)
    if record is None and resume:
        raise _wrong_folder(out, "a fleet run to resume", "there is none", "leave out --resume")
    if record is None:
        return FleetRecord(identity=new_identity(), design=design, study=study, text=text, nodes={})
    if not resume:
        raise _wrong_folder(
            out, "a folder without a fleet run", "it has one", "give --resume, or another folder"
        )
    if record.design is not design:
        raise _wrong_folder(
            out,
            f"a fleet run with --design {design.value}",
            f"its design is {record.design.value}",
            f"give --design {record.design.value}, or another folder",
        )
    if record.text != text:
        raise _wrong_folder(
            out,
            f"the fleet run of this study ({study})",
            f"it has another study ({record.study}), or this one with a different text",
            "resume with the original file, or give another folder",
        )
    return record


def _wrong_folder(out: Path, wanted: str, found: str, remedy: str) -> LedgerError:
    return LedgerError(wanted, found=found, where=str(out / FLEET_RECORD), remedy=remedy)
