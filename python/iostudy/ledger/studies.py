"""Studies in their output folders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from iostudy import plugins
from iostudy.analysis.spending import SPENT, AnalysisMethod, Continuation
from iostudy.analysis.switchback.window_plan import (
    BIAS_SHARE,
    FEWEST_BLOCKS,
    EarlierPlan,
    count_blocks,
    count_earlier_blocks,
)
from iostudy.errors import LedgerError, StudyError
from iostudy.ledger.given_up_workloads import GivenUpRecord, GivenUpWorkload
from iostudy.ledger.rows import PlanRow, StudyRow
from iostudy.ledger.store import FILE_NAME, Ledger
from iostudy.ledger.windows import WindowRecord
from iostudy.study.mode import find_mode, in_whole_trials
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy.study.privileges import adapt_to_user

METHOD = "analysis"
"""The key of the method of a study's interim analyses in its circumstances."""

CONTINUATION = "continuation"
"""The key of the stages of a study, and of the reserve of its risk, in its circumstances."""

REFUSED = "refused_levels"
"""The key of the levels that the host refused, by factor and label, in its circumstances."""

NODES = "nodes"
"""The key of each node's circumstances in those of a study, if its nodes run trials together."""

FILES = "files"
"""The key of the digests of the files that the study names, in its circumstances."""

CONFIRMATION = "confirmation"
"""The subfolder of a study that confirms the winner; its study file has the same name."""


@contextmanager
def open_ledger(folder: Path) -> Iterator[Ledger]:
    """Open the ledger of an output folder read-only."""
    ledger = Ledger.open(folder, read_only=True)
    try:
        yield ledger
    finally:
        ledger.close()


def recorded_study(row: StudyRow, *, has_windows: bool = False) -> Study:
    """Return the Study of a ledger's record, with offered levels and refused configurations.

    It starts no program, whoever wrote the text.
    """
    where = f"{row.name} in the ledger"
    try:
        study = parse(row.text, where=where, name=row.name, has_windows=has_windows)
    except StudyError as error:
        error.remedy = f"install what is named above, or use iostudy {row.iostudy_version}"
        raise
    adapted = adapt_to_user(study, root=row.root).with_offered(row.offered)
    return with_recorded_method(without_recorded(adapted, row), row)


def without_recorded(study: Study, row: StudyRow) -> Study:
    """Return the study without the levels and configurations that its ledger leaves out."""
    return study.without_levels(row.circumstances.get(REFUSED, {})).without(row.left_out)


def with_recorded_method(study: Study, row: StudyRow) -> Study:
    """Return the study with the method of its ledger; earlier ledgers do not record theirs.

    Those have spent the whole risk at the end of their plan. Raises LedgerError for the method of a
    later version.
    """
    recorded = row.circumstances.get(METHOD, AnalysisMethod.CONSTANT_LEVEL)
    if recorded not in list(AnalysisMethod):
        raise LedgerError(
            "a study whose analysis this version knows",
            found=f"its method is {recorded!r}",
            where=f"{row.name} in the ledger",
            remedy=f"use iostudy {row.iostudy_version}, which began the study",
        )
    kept = row.circumstances.get(CONTINUATION)
    continuation = SPENT if kept is None else Continuation(kept["reserve"], kept["stages"])
    return replace(study, method=AnalysisMethod(recorded), continuation=continuation)


def read_study(ledger: Ledger) -> Study:
    """Return the Study of a ledger, with the plans of its windows and what its mode adds."""
    plans = WindowRecord(ledger).plans()
    study = recorded_study(ledger.study(), has_windows=bool(plans))
    if restored := find_mode(study).restored:
        study = plugins.load(restored)(study, ledger)
    return apply_plans(study, plans)


def apply_plans(study: Study, plans: Sequence[PlanRow]) -> Study:
    """Return the study with the blocks and the bias of its windows; others stay as they are.

    It becomes a study of whole trials, with a note, if windows cannot decide.
    """
    if reasons := [plan.reason for plan in plans if plan.plan is None]:
        note = f"whole trials decide, because windows cannot: {'; '.join(reasons)}"
        return replace(in_whole_trials(study), notes=(*study.notes, note))
    earlier = [plan.plan for plan in plans if isinstance(plan.plan, EarlierPlan)]
    if earlier and len(earlier) == len(study.workloads):
        blocks, bias = count_earlier_blocks(earlier), max(plan.bias for plan in earlier)
    elif find_mode(study).measures_windows:
        blocks = count_blocks(study.decide.time)
        bias = BIAS_SHARE * math.log1p(study.decide.margin)
    else:
        return study
    decide = replace(study.decide, blocks=(FEWEST_BLOCKS, blocks))
    return replace(study, decide=decide, has_windows=True, bias=bias)


def read_given_up_workloads(folder: Path) -> tuple[GivenUpWorkload, ...]:
    """Return the workloads that the study of an output folder gave up."""
    with open_ledger(folder) as ledger:
        return GivenUpRecord(ledger).workloads()


def find_confirmation(folder: Path) -> Path | None:
    """Return the folder of the winner's confirmation; None before its start."""
    confirmation = folder / CONFIRMATION
    return confirmation if (confirmation / FILE_NAME).exists() else None


def find_verdict_folder(folder: Path) -> Path:
    """Return the folder with the verdicts: that of a confirmation, or the folder itself.

    UsageError if the study's mode needs a confirmation that is not there yet.
    """
    with open_ledger(folder) as ledger:
        mode = find_mode(recorded_study(ledger.study()))
    return plugins.load(mode.verdict_folder)(folder) if mode.verdict_folder else folder
