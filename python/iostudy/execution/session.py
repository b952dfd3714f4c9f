"""Session of a study in an output folder, new or resumed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from importlib.metadata import version
from pathlib import Path
from typing import Any

from iostudy.errors import IostudyError, LedgerError, SettingError, UsageError
from iostudy.execution.listeners import Listener
from iostudy.execution.schedule import NO_LIMIT, Run, TimeLimit
from iostudy.execution.strategies import find_strategy, run_study
from iostudy.ledger.rows import StudyRow
from iostudy.ledger.store import Ledger, refuse_existing_study
from iostudy.ledger.studies import (
    CONFIRMATION,
    CONTINUATION,
    FILES,
    METHOD,
    NODES,
    REFUSED,
    find_confirmation,
    open_ledger,
    read_study,
    with_recorded_method,
    without_recorded,
)
from iostudy.node.protocol import Node
from iostudy.results.comparisons import ComparisonResult, decision_rule
from iostudy.study.combinations import (
    FactorKind,
    NamedConfiguration,
    active_levels,
    build_configuration,
)
from iostudy.study.cross_check import resolve_offered_levels
from iostudy.study.mode import find_mode, has_comparison
from iostudy.study.model import Study
from iostudy.study.plan import draw_seed
from iostudy.study.privileges import adapt_to_user
from iostudy.study.requests import digest_files
from iostudy.study.sections import Refusal

_VERSION = ("versions", "iostudy")
FIXED_CIRCUMSTANCES: tuple[tuple[str, ...], ...] = (
    ("host", "kernel", "release"),
    _VERSION,
    ("target", "identity"),
    ("target", "on"),
    ("hadoop", "hadoop", "version"),
    ("hadoop", "java", "version"),
    ("hadoop", "namenodes"),
)
"""Circumstances that must not change in a resumed study, as paths of keys."""


@dataclass(frozen=True)
class StudySession:
    """A study for this user, ``root`` or not, with its output folder and recorded state."""

    study: Study
    folder: Path
    root: bool
    recorded: StudyRow | None

    def final_comparisons(self) -> tuple[ComparisonResult, ...] | None:
        """Return all comparisons if no trial is left to run; otherwise None."""
        if self.recorded is None:
            return None
        with open_ledger(self.folder) as ledger:
            study = replace(read_study(ledger), further_blocks=self.study.further_blocks)
            return find_strategy(study).find_final(study, ledger)

    def execute(
        self,
        node: Node,
        *,
        seed: int | None,
        listeners: Sequence[Listener],
        limit: TimeLimit = NO_LIMIT,
    ) -> tuple[ComparisonResult, ...]:
        """Record the study before its first trial, then run it."""
        circumstances = node.circumstances()
        # Each of several nodes has files of its own.
        if NODES not in circumstances and (files := digest_files(self.study)):
            circumstances = {**circumstances, FILES: files}
        if self.recorded is not None:
            refuse_other_circumstances(self.recorded.circumstances, circumstances)
        study = _with_levels(self.study, node, self.recorded)
        for listener in listeners:
            listener.checking_began(study)
        study = without_refused(study, node, resumed=self.recorded is not None)
        ledger = self._ledger(study, circumstances, seed)
        try:
            return run_study(study, Run(node, ledger, listeners, limit))
        finally:
            ledger.close()

    def _ledger(self, study: Study, circumstances: Mapping[str, Any], seed: int | None) -> Ledger:
        if self.recorded is not None:
            ledger = Ledger.open(self.folder)
            ledger.resume(time.time(), circumstances)
            return ledger
        offered = {f.name: tuple(v.value for v in f.levels) for f in study.factors if f.offered}
        chosen = study.seed if seed is None else seed
        row = StudyRow(
            name=study.name,
            text=study.text,
            root=self.root,
            offered=offered,
            left_out=study.left_out,
            seed=draw_seed() if chosen is None else chosen,
            started_at=time.time(),
            iostudy_version=version("iostudy"),
            circumstances={
                **circumstances,
                METHOD: study.method,
                CONTINUATION: asdict(study.continuation),
                **({REFUSED: study.refused_levels} if study.refused_levels else {}),
            },
        )
        return Ledger.create(self.folder, row)


def prepare_session(
    study: Study, folder: Path, *, root: bool, resume: bool, further_blocks: float = 0
) -> StudySession:
    """Prepare a session of the study for this user and folder.

    A resumed study adds up to so many ``further_blocks`` to each workload, past its plan. Raises
    UsageError if the study needs root and has no fallback, or cannot be continued; LedgerError if
    the folder contains another study, or one that is not to be resumed.
    """
    adapted = adapt_to_user(study, root=root)
    if not resume:
        refuse_existing_study(folder)
        return StudySession(adapted, folder, root, None)
    with open_ledger(folder) as ledger:
        recorded = ledger.study()
    if recorded.text != study.text:
        raise LedgerError(
            f"the output folder of this study ({study.name})",
            found=f"it contains another study ({recorded.name}), or this one with a different text",
            where=str(folder),
            remedy="the study file cannot change after the start: resume with the original file, "
            "or give another folder with --out",
        )
    if recorded.root != root:
        began, now = ("as root", "without root") if recorded.root else ("without root", "as root")
        raise UsageError(
            "to resume the study as the same user",
            found=f"it started {began}, and now runs {now}",
            where=str(folder),
            remedy="resume it as the same user, or start again in another folder",
        )
    resumed = with_recorded_method(adapted, recorded)
    if further_blocks and not decision_rule(resumed).continuation.stages:
        raise UsageError(
            "a study that keeps a part of its risk for further blocks",
            found="a screening, a study of an earlier version, or one of another command than run "
            "and try: the whole risk is spent at the end of its plan",
            where=str(folder),
            remedy="run a new study with more blocks, in another folder",
        )
    return StudySession(replace(resumed, further_blocks=further_blocks), folder, root, recorded)


def prepare_confirmation(finished: StudySession) -> StudySession | None:
    """Prepare the session that confirms the winner of another one; None without a winner.

    A resumed one is continued past its plan as far as the other one. Raises the errors of
    `prepare_session`.
    """
    study = find_strategy(finished.study).build_confirmation(finished.folder)
    if study is None:
        return None
    resume = find_confirmation(finished.folder) is not None
    further_blocks = finished.study.further_blocks if resume else 0
    folder = finished.folder / CONFIRMATION
    return prepare_session(
        study, folder, root=finished.root, resume=resume, further_blocks=further_blocks
    )


def refuse_other_circumstances(began: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise UsageError if a resumed study would mix incomparable circumstances.

    Nodes that run together are each compared with their own circumstances at the start. A node
    that joined later needs the version of the others.
    """
    if NODES not in now:
        _refuse_others(began, now, FIXED_CIRCUMSTANCES, "--resume")
        _refuse_other_files(began, now)
        return
    for node, facts in now[NODES].items():
        if node in began[NODES]:
            _refuse_others(began[NODES][node], facts, FIXED_CIRCUMSTANCES, node)
            _refuse_other_files(began[NODES][node], facts, f" on {node}")
        else:
            _refuse_others(began, facts, (_VERSION,), node)


def _refuse_others(
    began: Mapping[str, Any], now: Mapping[str, Any], paths: Iterable[tuple[str, ...]], where: str
) -> None:
    for path in paths:
        before, after = (reduce(_lookup, path, circumstances) for circumstances in (began, now))
        if before != after:
            raise UsageError(
                "to resume the study under the circumstances it began in",
                found=f"{' '.join(path)} was {before} and is {after}",
                where=where,
                remedy="restore these circumstances, or start again in another folder",
            )


def _refuse_other_files(began: Mapping[str, Any], now: Mapping[str, Any], on: str = "") -> None:
    for name, digest in began.get(FILES, {}).items():  # older ledgers have none
        current = now.get(FILES, {}).get(name)
        if current != digest:
            raise UsageError(
                "to resume the study with the files that it began with",
                found=f"this one has changed: its SHA-256 was {digest} and is {current}",
                where=f"{name}{on}",
                remedy="restore its content and time, or start again in another folder",
            )


def target_identities(circumstances: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the identities of the devices or mounts of the target; none if none are recorded."""
    return tuple(reduce(_lookup, ("target", "identity"), circumstances) or ())


def _lookup(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _with_levels(study: Study, node: Node, recorded: StudyRow | None) -> Study:
    """Fill in the levels of factors that use the values offered by the host."""
    offered = {f.name: node.offered(f.name, f.on) for f in study.awaiting_offer()}
    if recorded is None:
        return resolve_offered_levels(study, offered)
    missing = {v for levels in recorded.offered.values() for v in levels} - {
        v for levels in offered.values() for v in levels
    }
    if missing:
        raise UsageError(
            f"the original levels of the study: {', '.join(sorted(missing))}",
            found="the host no longer offers them",
            where=study.name,
            remedy="load the kernel modules again, or start again in another folder",
        )
    return without_recorded(resolve_offered_levels(study, recorded.offered), recorded)


def without_refused(study: Study, node: Node, *, resumed: bool) -> Study:
    """Leave out what the host refuses, if the study allows it and a comparison remains.

    Otherwise raise the first refusal. A resumed study leaves out nothing further.
    """
    refused = node.preflight(study.workloads, study.configurations())
    if not refused:
        return study
    first = next(iter(refused.values()))
    if resumed or study.refusal is Refusal.STOP or study.baseline.label in refused:
        raise first
    # Combinations of factors are left out as a whole: without a level they are other ones.
    are_reducible = study.chosen or not find_mode(study).compares_configurations
    if study.refusal is Refusal.LEAVE_OUT and are_reducible:
        reduced = study.without_levels(_find_refused_levels(study, node, refused))
        if reduced.refused_levels and has_comparison(reduced):
            study = reduced
            refused = node.preflight(study.workloads, study.configurations())
    kept = study.without({label: _format_reason(error) for label, error in refused.items()})
    if has_comparison(kept):
        return kept
    raise SettingError(
        f"a comparison with {study.baseline.label}: {first.wanted}",
        found=f"this host refuses every other configuration: {first.found}",
        where=first.where,
        remedy=first.remedy,
    )


def _find_refused_levels(
    study: Study, node: Node, refused: Mapping[str, IostudyError]
) -> dict[str, dict[str, str]]:
    """Try each level of the host that no accepted configuration has, alone in the baseline."""
    chosen = study.combinations()
    of_host = {f.name for f in study.factors if f.kind is not FactorKind.WORKLOAD_OPTION}
    accepted = {
        (name, level.label)
        for label in chosen.keys() - refused.keys()
        for name, level in chosen[label].items()
    }
    suspects = {
        (name, level.label)
        for label in refused
        for name, level in chosen[label].items()
        if name in of_host
    } - accepted
    baseline = {name: level.label for name, level in chosen[study.baseline.label].items()}
    alone = {f"{name}={level}": (name, level) for name, level in sorted(suspects)}
    tried = [
        build_configuration(
            label,
            active_levels(NamedConfiguration(label, {**baseline, name: level}), study.factors),
            study.factors,
        )
        for label, (name, level) in alone.items()
    ]
    refusals: dict[str, dict[str, str]] = {}
    for label, error in node.preflight(study.workloads, tried).items():
        name, level = alone[label]
        refusals.setdefault(name, {})[level] = _format_reason(error)
    return refusals


def _format_reason(error: IostudyError) -> str:
    return f"{error.wanted}: {error.found}"
