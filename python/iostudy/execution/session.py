"""From a study file to a study under way: new, or gone on with where it stopped."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib.metadata import version
from pathlib import Path
from typing import Any

from iostudy.errors import LedgerError, UsageError
from iostudy.execution.listeners import Listener
from iostudy.execution.runner import Runner
from iostudy.execution.schedule import PlannedSchedule, Schedule
from iostudy.execution.search_schedule import SearchSchedule
from iostudy.ledger.rows import StudyRow
from iostudy.ledger.search import SearchRecord
from iostudy.ledger.store import Ledger, refuse_occupied
from iostudy.ledger.studies import open_ledger, recorded_study
from iostudy.node.protocol import Node
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.cross_check import with_offered
from iostudy.study.model import Study
from iostudy.study.plan import draw_seed, make_plan
from iostudy.study.user import for_user

MUST_AGREE = (
    ("host", "kernel", "release"),
    ("versions", "iostudy"),
    ("target", "identity"),
    ("target", "on"),
    ("hadoop", "hadoop", "version"),
    ("hadoop", "java", "version"),
    ("hadoop", "namenodes"),
)
"""What a resumed study may not mix, as ways into the circumstances."""


@dataclass(frozen=True)
class Assignment:
    """What is to be carried out where: the study for this user, and what was recorded of it."""

    study: Study
    folder: Path
    recorded: StudyRow | None

    def final(self) -> tuple[ComparisonResult, ...] | None:
        """Where every comparison stands if nothing is left to be run; None where something is."""
        if self.recorded is None:
            return None
        study = recorded_study(self.recorded)
        with open_ledger(self.folder) as ledger:
            if study.search is not None:
                return () if SearchRecord(ledger).outcome() else None
            agenda, rows = _planned(study, self.recorded.seed), ledger.rows()
        return None if agenda.next(rows) else agenda.comparisons(rows)

    def carry_out(
        self, node: Node, *, root: bool, seed: int | None, listeners: Sequence[Listener]
    ) -> tuple[ComparisonResult, ...]:
        """Record what is fixed before the first trial, then let the Conductor do it."""
        circumstances = node.circumstances()
        if self.recorded is not None:
            refuse_other_circumstances(self.recorded.circumstances, circumstances)
        study = _with_levels(self.study, node, self.recorded)
        for listener in listeners:
            listener.checking_began(study)
        study = _without_refused(study, node, resumed=self.recorded is not None)
        ledger = self._ledger(study, circumstances, root=root, seed=seed)
        try:
            agenda = _agenda(study, ledger, node, listeners)
            return Runner(study, agenda, node, ledger, listeners).run()
        finally:
            ledger.close()

    def _ledger(
        self, study: Study, circumstances: Mapping[str, Any], *, root: bool, seed: int | None
    ) -> Ledger:
        if self.recorded is not None:
            ledger = Ledger.open(self.folder)
            ledger.resume(time.time(), circumstances)
            return ledger
        offered = {f.name: tuple(v.value for v in f.levels) for f in study.factors if f.offered}
        row = StudyRow(
            name=study.name,
            text=study.text,
            root=root,
            offered=offered,
            left_out=study.left_out,
            seed=_seed(study, seed),
            started_at=time.time(),
            iostudy_version=version("iostudy"),
            circumstances=circumstances,
        )
        return Ledger.create(self.folder, row)


def assign(study: Study, folder: Path, *, root: bool, resume: bool) -> Assignment:
    """Settle what runs, for this user and this folder.

    Raises UsageError where the study needs root and has nothing to fall back on, LedgerError
    where the folder holds another study, or one that was not asked to be resumed.
    """
    recorded = _recorded(study, folder, root=root) if resume else None
    if not resume:
        refuse_occupied(folder)
    return Assignment(for_user(study, root=root), folder, recorded)


def refuse_other_circumstances(began: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """UsageError where a resumed study would mix what cannot be compared."""
    for way in MUST_AGREE:
        before, after = (reduce(_inner, way, told) for told in (began, now))
        if before != after:
            raise UsageError(
                "to resume the study under the circumstances it began in",
                found=f"{' '.join(way)} was {before} and is {after}",
                where="--resume",
                remedy="bring them back, or begin anew in another folder",
            )


def _agenda(study: Study, ledger: Ledger, node: Node, listeners: Sequence[Listener]) -> Schedule:
    seed = ledger.study().seed
    if study.search is not None:
        return SearchSchedule(study, seed, SearchRecord(ledger), node, listeners)
    return _planned(study, seed)


def _planned(study: Study, seed: int) -> PlannedSchedule:
    return PlannedSchedule(study, make_plan(study, seed))


def _inner(told: Any, key: str) -> Any:
    return told.get(key) if isinstance(told, Mapping) else None


def _recorded(study: Study, folder: Path, *, root: bool) -> StudyRow:
    with open_ledger(folder) as ledger:
        row = ledger.study()
    if row.text != study.text:
        raise LedgerError(
            f"the output folder of this study ({study.name})",
            found=f"it holds another study ({row.name}), or this one with another text",
            where=str(folder),
            remedy="what decides cannot change once a study has begun: resume it with the file "
            "it began with, or give another folder with --out",
        )
    if row.root != root:
        began, now = ("as root", "without") if row.root else ("without root", "with it")
        raise UsageError(
            "to resume the study as the user it began with",
            found=f"it began {began}, and now runs {now}",
            where=str(folder),
            remedy="resume it as the same user, or begin anew in another folder",
        )
    return row


def _without_refused(study: Study, node: Node, *, resumed: bool) -> Study:
    """Leave out what the host refuses, where the study asks for that and something is left.

    Otherwise the first refusal is raised. What is left out is settled once: not at a resumption.
    """
    refused = node.preflight(study.workloads, study.configurations())
    if not refused:
        return study
    left = [own.label for own in study.choices() if own.label not in refused]
    comparable = study.baseline.label in left and len(left) > 1
    if resumed or not study.leave_out_refused or not comparable:
        raise next(iter(refused.values()))
    return study.without({label: f"{e.wanted}: {e.found}" for label, e in refused.items()})


def _with_levels(study: Study, node: Node, recorded: StudyRow | None) -> Study:
    """Fill in the levels of factors that take what the host offers."""
    offered = {f.name: node.offered(f.name, f.on) for f in study.awaiting_offer()}
    if recorded is None:
        return with_offered(study, offered)
    gone = {v for name, levels in recorded.offered.items() for v in levels} - {
        v for levels in offered.values() for v in levels
    }
    if gone:
        raise UsageError(
            f"the levels that the study began with: {', '.join(sorted(gone))}",
            found="the host no longer offers them",
            where=study.name,
            remedy="load the kernel modules again, or begin anew in another folder",
        )
    return with_offered(study, recorded.offered).without(recorded.left_out)


def _seed(study: Study, asked: int | None) -> int:
    """The seed of the command line, else of the file, else a fresh one."""
    if asked is not None:
        return asked
    return study.seed if study.seed is not None else draw_seed()
