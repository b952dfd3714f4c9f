"""Carries a study out: block after block, until every comparison has its verdict.

What comes next follows from the plan and the ledger's rows alone, so a resumed study goes on, and
decides, exactly as if it had never stopped.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace

from iostudy.conduct.listeners import Listener
from iostudy.conduct.progress import Progress, is_whole, open_order, outlook, trials_left
from iostudy.conduct.standing import Standing, standings
from iostudy.conduct.trial import carry_out
from iostudy.errors import TrialError
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.ledger.store import Ledger
from iostudy.node.protocol import Node
from iostudy.study.model import Configuration, Study
from iostudy.study.plan import Block, Plan

INTERRUPTED = "iostudy ended before this trial did"


class Conductor:
    """One study on one node, recorded in one ledger."""

    def __init__(
        self,
        study: Study,
        plan: Plan,
        node: Node,
        ledger: Ledger,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._study = study
        self._plan = plan
        self._node = node
        self._ledger = ledger
        self._listeners = listeners
        self._configurations = {c.label: c for c in study.configurations()}
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
            listener.study_began(self._study, self._plan, len(self._rows))
        for block in self._plan.blocks:
            order = self._order(block)
            if order:
                self._complete(block, order)
        final = standings(self._study, self._rows)
        for listener in self._listeners:
            listener.study_ended(final)
        return final

    def _order(self, block: Block) -> tuple[Configuration, ...]:
        """What the block still has to run, in its order; nothing if it is whole or all decided."""
        if is_whole(block, self._rows):
            return ()
        labels = open_order(self._study, block, standings(self._study, self._rows))
        return tuple(self._configurations[label] for label in labels)

    def _complete(self, block: Block, order: Sequence[Configuration]) -> None:
        """Attempt the block until an attempt counts; TrialError after the last one allowed."""
        allowed = self._study.validity.attempts
        before = max((row.attempt for row in self._rows_of(block)), default=0)
        reason = ""
        for attempt in range(before + 1, before + allowed + 1):
            began = time.monotonic()
            rows, reason = self._attempt(block, order, attempt)
            self._seconds += time.monotonic() - began
            self._trials += len(rows)
            if not reason:
                self._ledger.complete(block.workload, block.index, attempt)
                self._rows += [replace(row, counts=True) for row in rows]
                return self._tell(block)
            self._rows += rows
            for listener in self._listeners:
                listener.block_repeated(block, attempt, reason)
        raise _given_up(block, allowed, reason, self._ledger)

    def _attempt(
        self, block: Block, order: Sequence[Configuration], attempt: int
    ) -> tuple[list[TrialRow], str]:
        """Run the block once; its rows, and why they do not count (empty if they do)."""
        rows: list[TrialRow] = []
        seed = _data_seed(self._plan.seed, block, attempt)
        request, limits = self._requests[block.workload], self._study.validity
        figure = request.figure
        try:
            with self._node.block(request, seed) as session:
                for configuration in order:
                    row = _begun(block, attempt, len(rows) + 1, configuration)
                    for listener in self._listeners:
                        listener.trial_began(row, len(order))
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
        current = standings(self._study, self._rows)
        left = trials_left(self._study, self._plan, block, current)
        first_look = block.index == self._study.decide.min_blocks
        progress = Progress(
            block=block,
            blocks=self._study.decide.max_blocks,
            seconds_left=left * self._seconds / self._trials,
            standings=current,
            outlook=outlook(self._study, block.workload, current) if first_look else "",
        )
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
