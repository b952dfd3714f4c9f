"""What ``run`` does once its arguments are settled: progress while it goes, then the report."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from iostudy.cli.consent import Consent
from iostudy.cli.console import say
from iostudy.cli.progress import listener
from iostudy.cli.report_output import print_summary, write_report
from iostudy.cli.run import make_ready
from iostudy.durable import write_whole
from iostudy.errors import IostudyError, TrialError
from iostudy.execution.confirmation import confirmation
from iostudy.execution.session import Assignment, assign
from iostudy.folders import make_output_folder, require_safe_folder
from iostudy.ledger.given_up import GivenUp
from iostudy.ledger.store import FILE_NAME
from iostudy.ledger.studies import CONFIRMATION, given_up_in
from iostudy.node.cluster_request import ordered
from iostudy.node.clusters import ClusterRequest
from iostudy.node.local import LocalNode
from iostudy.node.permission import Permission
from iostudy.results.comparisons import ComparisonResult, exclude_bounds
from iostudy.settings.transaction.locks import lock_output_folder
from iostudy.study.model import Study
from iostudy.study.requests import directories

LOGS = "hadoop"
"""Where in the output folder a cluster of the study's own keeps its logs."""


def carry_out(
    assignment: Assignment, permission: Permission, *, root: bool, seed: int | None
) -> set[str]:
    """Run the study and print its report; the verdicts that it came to.

    Where a trial failed for good, the report is printed before the TrialError is raised.
    """
    folder = assignment.folder
    try:
        final = conducted(assignment, permission, root=root, seed=seed)
    except TrialError:
        if (folder / FILE_NAME).exists():
            with suppress(IostudyError):  # the one that ended the study is the one to tell
                _print(folder)
        raise
    return _tell(final, folder)


def reported(
    study: Study, folder: Path, consent: Consent, *, resume: bool, seed: int | None
) -> tuple[ComparisonResult, ...]:
    """Run what is left of a study and write its report, without printing it; where it stands.

    Raises TrialError where a workload was given up: what rests on the whole study cannot be said.
    """
    root = os.geteuid() == 0
    assignment = assign(study, folder, root=root, resume=resume)
    final = assignment.final()
    if final is None:
        permission = make_ready(assignment.study, folder, consent)
        final = conducted(assignment, permission, root=root, seed=seed)
    require_safe_folder(folder, insist=consent.unsafe_folders)
    write_report(folder)
    for own in given_up_in(folder):
        raise _not_whole(own, folder)
    return final


def conducted(
    assignment: Assignment, permission: Permission, *, root: bool, seed: int | None
) -> tuple[ComparisonResult, ...]:
    """Run the study on this machine; where every comparison stands then.

    Of a search they are those of its confirmation. A study that fails still gets its report, of
    what was finished before, where that can be written.
    """
    folder = assignment.folder
    try:
        final = assignment.final()
        if final is None:
            final = _on_node(assignment, permission, root=root, seed=seed)
        if assignment.study.search is not None:
            final = _confirm(folder, permission, root=root)
        return final
    except IostudyError:
        if (folder / FILE_NAME).exists():
            with suppress(IostudyError):  # the one that ended the study is the one to tell
                write_report(folder)
        raise


def whole(assignment: Assignment, *, root: bool) -> tuple[ComparisonResult, ...] | None:
    """Where every comparison stands if nothing is left to run, nor to be confirmed."""
    final = assignment.final()
    if final is None or assignment.study.search is None:
        return final
    own = confirmation(assignment.folder, root=root)
    return final if own is None else own.final()


def _on_node(
    assignment: Assignment, permission: Permission, *, root: bool, seed: int | None
) -> tuple[ComparisonResult, ...]:
    folder, study = assignment.folder, assignment.study
    with (
        lock_output_folder(folder),
        listener() as listening,
        LocalNode(
            study.target,
            folder,
            study.factors,
            _order(study, folder),
            permission=permission,
            directories=directories(study.workloads, study.known().configurations()),
            block_latency=study.block_latency,
            hz=study.telemetry_hz,
        ) as node,
    ):
        return assignment.carry_out(node, root=root, seed=seed, listeners=[listening])


def _confirm(folder: Path, permission: Permission, *, root: bool) -> tuple[ComparisonResult, ...]:
    """Let the winner of a search meet the default in a study of its own; where that stands."""
    own = confirmation(folder, root=root)
    if own is None:
        return ()
    make_output_folder(own.folder, insist=permission.unsafe_folders)
    file = folder / f"{CONFIRMATION}.yaml"
    write_whole(file, own.study.text.encode())
    say(f"confirming {own.study.configurations()[1].label} in fresh blocks: {file}")
    final = own.final()
    if final is None:
        final = _on_node(own, permission, root=root, seed=None)
    write_report(own.folder)
    return final


def _order(study: Study, folder: Path) -> ClusterRequest | None:
    """The cluster that a workload of the study needs, with its logs in the output folder."""
    if not study.needs_hadoop:
        return None
    return ordered(study.target, study.hadoop, logs=folder / LOGS, tell=say)


def tell_again(final: Sequence[ComparisonResult], folder: Path) -> set[str]:
    """Write and print the report of a study that has nothing left to run; its verdicts."""
    say(f"nothing is left to run of the study in {folder}; this is its report")
    return _tell(final, folder)


def _not_whole(own: GivenUp, folder: Path) -> TrialError:
    return TrialError(
        f"every block of {own.workload}",
        found=f"none of {own.attempts} attempts at block {own.block} counts; "
        f"the last: {own.reason}",
        where=str(folder),
        remedy="resume it with --resume on a quieter machine, or without limits (validity:); "
        f"`iostudy report {shlex.quote(str(folder))}` shows what was measured",
    )


def _tell(final: Sequence[ComparisonResult], folder: Path) -> set[str]:
    _print(folder)
    return {standing.comparison.verdict.value for standing in exclude_bounds(final)}


def _print(folder: Path) -> None:
    print_summary(write_report(folder))
    again = shlex.join(["iostudy", "report", str(folder)])
    say(f"report: {folder / 'report.html'}; `{again}` prints all of it")
