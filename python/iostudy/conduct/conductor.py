"""Carries a study out: the blocks that its agenda names, each repeated until it counts."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace

from iostudy.conduct.agenda import Agenda
from iostudy.conduct.listeners import Listener
from iostudy.conduct.standing import Standing
from iostudy.conduct.trial import carry_out
from iostudy.errors import TrialError
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.ledger.store import Ledger
from iostudy.node.protocol import Node
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study
from iostudy.study.plan import Block

INTERRUPTED = "iostudy ended before this trial did"


class Conductor:
    """One study on one node, recorded in one ledger."""

    def __init__(
        self,
        study: Study,
        agenda: Agenda,
        node: Node,
        ledger: Ledger,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._study = study
        self._agenda = agenda
        self._node = node
        self._ledger = ledger
        self._listeners = listeners
        self._requests = {w.label: w for w in study.workloads}
        self._rows: list[TrialRow] = []
        self._seconds = 0.0
        self._trials = 0

    def run(self) -> tuple[Standing, ...]:
        """Carry out what the ledger does not hold yet; where every comparison stands then.

        Raises TrialError when a block could not be completed in the attempts allowed, RestoreError
        when something could not be put back. What was finished before is in the ledger.
        """
        self._ledger.interrupt(INTERRUPTED)
        self._rows = list(self._ledger.rows())
        for listener in self._listeners:
            listener.study_began(self._study, self._agenda.seed, len(self._rows))
        while (block := self._agenda.next(self._rows)) is not None:
            self._complete(block)
        final = self._agenda.standings(self._rows)
        for listener in self._listeners:
            listener.study_ended(final)
        return final

    def _complete(self, block: Block) -> None:
        """Attempt the block until an attempt counts; TrialError after the last one allowed."""
        allowed = self._study.validity.attempts
        before = max((row.attempt for row in self._rows_of(block)), default=0)
        reason, failed = "", set[str]()
        for attempt in range(before + 1, before + allowed + 1):
            began = time.monotonic()
            rows, reason = self._attempt(block, attempt)
            self._seconds += time.monotonic() - began
            self._trials += len(rows)
            if not reason:
                self._ledger.complete(block.workload, block.index, attempt)
                self._rows += [replace(row, counts=True) for row in rows]
                return self._tell(block)
            self._rows += rows
            failed.add(_failed_by_itself(rows))
            for listener in self._listeners:
                listener.block_repeated(block, attempt, reason)
        if len(failed) == 1 and self._agenda.drop(failed.pop(), reason):
            return None
        raise _given_up(block, allowed, reason, self._ledger)

    def _attempt(self, block: Block, attempt: int) -> tuple[list[TrialRow], str]:
        """Run the block once; its rows, and why they do not count (empty if they do)."""
        rows: list[TrialRow] = []
        seed = _data_seed(self._agenda.seed, block, attempt)
        request, limits = self._requests[block.workload], self._study.validity
        figure = request.figure
        try:
            with self._node.block(request, seed) as session:
                for label in block.order:
                    configuration = self._agenda.configuration(label)
                    row = _begun(block, attempt, len(rows) + 1, configuration)
                    for listener in self._listeners:
                        listener.trial_began(row, len(block.order))
                    row = carry_out(self._ledger, session, limits, row, configuration, figure)
                    rows.append(row)
                    for listener in self._listeners:
                        listener.trial_ended(row)
                    if row.status is not TrialStatus.FINISHED:
                        return rows, f"{configuration.label}: {row.reason}"
        except TrialError as error:
            return rows, f"{error.wanted}, but {error.found}"
        return rows, ""

    def _tell(self, block: Block) -> None:
        progress = self._agenda.progress(block, self._rows, self._seconds / self._trials)
        for listener in self._listeners:
            listener.block_ended(progress)

    def _rows_of(self, block: Block) -> list[TrialRow]:
        wanted = (block.workload, block.index)
        return [row for row in self._rows if (row.workload, row.block) == wanted]


def _begun(block: Block, attempt: int, position: int, configuration: Configuration) -> TrialRow:
    return TrialRow(
        id=0,
        block=block.index,
        attempt=attempt,
        position=position,
        workload=block.workload,
        configuration=configuration.label,
        status=TrialStatus.STARTED,
        started_at=time.time(),
    )


def _failed_by_itself(rows: Sequence[TrialRow]) -> str:
    """The configuration that an attempt ended with, if it gave no figures; empty otherwise."""
    return rows[-1].configuration if rows and rows[-1].figures is None else ""


def _data_seed(seed: int, block: Block, attempt: int) -> int:
    """Other data in every block, the same for the same study, seed, block and attempt."""
    text = f"{seed} {block.workload} {block.index} {attempt}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _given_up(block: Block, attempts: int, reason: str, ledger: Ledger) -> TrialError:
    return TrialError(
        f"to complete block {block.index} of {block.workload}",
        found=f"none of {attempts} attempts counts; the last: {reason}",
        where=str(ledger.folder),
        remedy="end what disturbs it and go on with --resume; finished trials are kept. "
        "Wider limits (validity:) need a new study",
    )
