"""Folder of a study on a node: the order, the output folder, the log and the ending."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from iostudy.errors import NOT_RESTORED
from iostudy.ledger.store import FILE_NAME
from iostudy_fleet.design import Design

PREFIX = "iostudy-fleet-"
TAIL_BYTES = 4096
"""Of the log, which has a line a block."""
_ORDERLY = (0, 128 + signal.SIGTERM, -signal.SIGTERM)
"""Exit codes of a command without an error; -SIGTERM if its handler was not yet installed."""


class EndReason(StrEnum):
    """Why a study ended on a node.

    STOPPED: by the controller. TERMINATED: by SIGTERM of another process, such as a batch system.
    """

    FINISHED = "finished"
    STOPPED = "stopped"
    LEASE = "lease"
    TERMINATED = "terminated"


class Ending(BaseModel):
    """How `iostudy run` ended; ``exit_code`` is negative for a signal."""

    model_config = ConfigDict(frozen=True)

    exit_code: int
    reason: EndReason

    @property
    def is_orderly(self) -> bool:
        """Whether it ended by itself without an error, or by SIGTERM."""
        return self.exit_code in _ORDERLY

    @property
    def may_begin_again(self) -> bool:
        """Whether the controller or its absence stopped it, and it has restored all."""
        was_stopped = self.reason in (EndReason.STOPPED, EndReason.LEASE)
        return was_stopped and self.exit_code != NOT_RESTORED


class StudyOrder(BaseModel):
    """What the controller orders a node to run.

    ``options`` are those of `iostudy run`, ``controller`` its host for messages. ``calls`` is the
    number of calls that the controller made before it started this server of trials.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    text: str
    options: tuple[str, ...]
    lease_seconds: float
    controller: str
    design: Design = Design.REPLICATE
    calls: int = 0


@dataclass(frozen=True)
class WorkFolder:
    """The paths in a folder, and what is recorded there."""

    path: Path

    @property
    def out(self) -> Path:
        """Output folder of `iostudy run`."""
        return self.path / "out"

    @property
    def log(self) -> Path:
        """Output of `iostudy run`."""
        return self.path / "run.log"

    @property
    def lock(self) -> Path:
        """File that the supervisor has locked; it contains its process number."""
        return self.path / "supervisor.lock"

    @property
    def order(self) -> Path:
        """The order."""
        return self.path / "order.json"

    @property
    def ending(self) -> Path:
        """How the study ended; missing while it runs, and if its supervisor was killed."""
        return self.path / "ending.json"

    def study(self, order: StudyOrder) -> Path:
        """The study file."""
        return self.path / f"{order.name}.yaml"

    def has_ledger(self) -> bool:
        """Whether the study has begun there."""
        return (self.out / FILE_NAME).exists()

    def read_order(self) -> StudyOrder:
        """The order; OSError or ValueError if it cannot be read."""
        return StudyOrder.model_validate_json(self.order.read_bytes())

    def read_ending(self) -> Ending | None:
        """The ending, if it is recorded."""
        try:
            return Ending.model_validate_json(self.ending.read_bytes())
        except FileNotFoundError:
            return None

    def last_line(self) -> str:
        """The last line of the log."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, self.log.stat().st_size - TAIL_BYTES))
                lines = file.read().decode(errors="replace").splitlines()
        except FileNotFoundError:
            return ""
        return lines[-1].strip() if lines else ""


def work_folder(parent: Path, identity: str, node: str) -> WorkFolder:
    """The folder of a fleet run on a node."""
    return WorkFolder(parent / f"{PREFIX}{identity}-{node}")
