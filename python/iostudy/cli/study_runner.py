"""Runs a study with progress on stderr, then writes and prints its report."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from iostudy.cli.answer_output import AnswerForm, print_answer
from iostudy.cli.consent import Consent
from iostudy.cli.console import say
from iostudy.cli.output_folder import prepare_output
from iostudy.cli.progress import show_progress
from iostudy.cli.report_output import write_report
from iostudy.cli.watchdog import start_or_warn
from iostudy.durable import write_whole
from iostudy.errors import IostudyError, TrialError, WorkloadError
from iostudy.execution.schedule import NO_LIMIT, TimeLimit
from iostudy.execution.session import StudySession, prepare_confirmation, prepare_session
from iostudy.execution.validity import explain_unusable_figures
from iostudy.folders import make_output_folder, require_safe_folder
from iostudy.ledger.store import FILE_NAME
from iostudy.ledger.studies import CONFIRMATION, read_given_up_workloads
from iostudy.node.conditions import Callbacks, Conditions, Permission
from iostudy.node.local import LocalNode
from iostudy.node.protocol import StartLine, start_at_once
from iostudy.node.service import ServiceRequest, find_service
from iostudy.node.targets.driver import find_driver
from iostudy.report.render.verdict_cases import list_report_cases
from iostudy.report.values import Report
from iostudy.results.comparisons import ComparisonResult, describe_failed_side
from iostudy.settings.transaction.locks import lock_output_folder
from iostudy.study.model import Study
from iostudy.study.plan import draw_seed
from iostudy.study.requests import list_directories


def run_study(
    assignment: StudySession,
    permission: Permission,
    *,
    seed: int | None,
    limit: TimeLimit = NO_LIMIT,
    form: AnswerForm = AnswerForm.SCREEN,
) -> set[str]:
    """Run the study, print its answer, and return its verdicts: a one-sided one decides nothing.

    The answer is printed before a TrialError, of a trial that fails permanently, or of runs that
    leave nothing to compare.
    """
    folder = assignment.folder
    try:
        final = run_remaining(assignment, permission, seed=seed, limit=limit)
    except TrialError:
        if (folder / FILE_NAME).exists():
            with suppress(IostudyError):  # the error that ended the study takes precedence
                print_report(folder, form=form)
        raise
    return _print_verdicts(final, folder, form=form)


def run_and_write_report(
    study: Study,
    folder: Path,
    consent: Consent,
    *,
    resume: bool,
    seed: int | None,
    limit: TimeLimit = NO_LIMIT,
) -> tuple[ComparisonResult, ...]:
    """Run the remaining trials, write the report without printing it, and return the results.

    Such a study is not continued, so that it spends its whole risk. Raises TrialError if a workload
    was given up, since callers need the complete study.
    """
    study = study.without_continuation()
    study.require_one_host()
    assignment = prepare_session(study, folder, root=os.geteuid() == 0, resume=resume)
    final = assignment.final_comparisons()
    if final is None:
        with prepare_output(assignment, consent) as permission:
            final = run_remaining(assignment, permission, seed=seed, limit=limit)
    require_safe_folder(folder, insist=consent.unsafe_folders)
    write_report(folder)
    for given_up in read_given_up_workloads(folder):
        raise TrialError(
            f"every block of {given_up.workload}",
            found=f"block {given_up.block}: {given_up.explanation}",
            where=str(folder),
            remedy="resume it with --resume on a quieter machine, or without limits (validity:); "
            f"`iostudy report {shlex.quote(str(folder))}` shows what was measured",
        )
    return final


def run_remaining(
    assignment: StudySession,
    permission: Permission,
    *,
    seed: int | None,
    limit: TimeLimit = NO_LIMIT,
) -> tuple[ComparisonResult, ...]:
    """Run the remaining trials on this machine and return the result of every comparison.

    If its winner is confirmed, these are the comparisons of the confirmation. A study that fails
    still gets a report of its finished trials, if that can be written.
    """
    folder = assignment.folder
    try:
        final = assignment.final_comparisons()
        if final is None:
            final = _run_on_node(assignment, permission, seed=seed, limit=limit)
        confirmation = prepare_confirmation(assignment)
        if confirmation is None:
            return final
        return _confirm(assignment, confirmation, permission, limit=limit)
    except IostudyError:
        if (folder / FILE_NAME).exists():
            with suppress(IostudyError):  # the error that ended the study takes precedence
                write_report(folder)
        raise


def rehearse(study: Study, folder: Path, permission: Permission, seconds: float) -> float:
    """Run the first workload once under each configuration, unrecorded; return seconds of a block.

    The time of configurations for which ``seconds`` leave none is taken to be that of the others.
    """
    configurations, request = study.configurations(), study.workloads[0]
    with lock_output_folder(folder), build_local_node(study, folder, permission) as node:
        for error in node.preflight(study.workloads, configurations).values():
            raise error
        with node.block(request, draw_seed()) as session:
            began, elapsed, done = time.monotonic(), 0.0, 0
            for configuration in configurations:
                result = session.trial(configuration)
                if unusable := explain_unusable_figures(result.figures, request.figures):
                    raise WorkloadError(
                        "figures that can be compared",
                        found=unusable,
                        where=f"{request.label} under {configuration.label}",
                        remedy="run it by hand, and name a figure that every run has",
                    )
                elapsed, done = time.monotonic() - began, done + 1
                if elapsed > seconds:
                    break
    return elapsed / done * len(configurations) * len(study.workloads)


def find_completed(assignment: StudySession) -> tuple[ComparisonResult, ...] | None:
    """Return the result of every comparison if nothing is left to run or to confirm."""
    final = assignment.final_comparisons()
    if final is None:
        return None
    confirmation = prepare_confirmation(assignment)
    return final if confirmation is None else confirmation.final_comparisons()


def _run_on_node(
    assignment: StudySession,
    permission: Permission,
    *,
    seed: int | None,
    limit: TimeLimit = NO_LIMIT,
) -> tuple[ComparisonResult, ...]:
    folder, study = assignment.folder, assignment.study
    with (
        lock_output_folder(folder),
        show_progress() as listening,
        find_driver(study.target).open_node(
            partial(build_local_node, study, folder, permission)
        ) as node,
    ):
        return assignment.execute(node, seed=seed, listeners=[listening], limit=limit)


def build_local_node(
    study: Study, folder: Path, permission: Permission, start_line: StartLine = start_at_once
) -> LocalNode:
    """Build this machine as the study needs it; ``start_line`` is called before every run."""
    conditions = Conditions(
        study.target,
        study.factors,
        _request_service(study, folder),
        directories=list_directories(study.workloads, study.known().configurations()),
        limit=study.limit,
        block_latency=study.telemetry.block_latency,
        warm_memory=study.prepare.is_warm,
        hz=study.telemetry.hz,
    )
    callbacks = Callbacks(
        on_progress=say,
        on_journal=partial(start_or_warn, output_folder=folder),
        start_line=start_line,
    )
    return LocalNode(conditions, folder, permission, callbacks)


def _confirm(
    finished: StudySession, confirmation: StudySession, permission: Permission, *, limit: TimeLimit
) -> tuple[ComparisonResult, ...]:
    """Run the confirmation of a study's winner; return its results."""
    folder = finished.folder
    make_output_folder(confirmation.folder, insist=permission.unsafe_folders)
    file = folder / f"{CONFIRMATION}.yaml"
    write_whole(file, confirmation.study.text.encode())
    say(f"confirming {confirmation.study.configurations()[1].label} in fresh blocks: {file}")
    final = confirmation.final_comparisons()
    if final is None:
        final = _run_on_node(confirmation, permission, seed=None, limit=limit)
    write_report(confirmation.folder)
    return final


def _request_service(study: Study, folder: Path) -> ServiceRequest | None:
    """Return the service that the study needs, with its logs in the output folder."""
    if not study.service:
        return None
    build = find_service(study.service).build_request
    logs = folder / study.service
    return build(study.target, study.service_spec, study.factors, logs=logs, on_progress=say)


def print_existing_report(
    final: Sequence[ComparisonResult], folder: Path, *, form: AnswerForm = AnswerForm.SCREEN
) -> set[str]:
    """Write the report of a finished study, print its answer, and return its verdicts."""
    say(f"the study in {folder} is complete; this is its answer")
    return _print_verdicts(final, folder, form=form)


def _print_verdicts(
    final: Sequence[ComparisonResult], folder: Path, *, form: AnswerForm
) -> set[str]:
    report = print_report(folder, form=form)
    if failed := describe_failed_side(final):
        raise TrialError(
            "runs to compare",
            found=failed,
            where=str(folder),
            remedy="run it by hand, and see what it lacks; then run the study again",
        )
    return {case.decided.value for case in list_report_cases(report) if not case.reason}


def print_report(folder: Path, *, form: AnswerForm = AnswerForm.SCREEN) -> Report:
    """Write the report of a folder, print the answer, and return the report."""
    report = write_report(folder)
    print_answer(report, folder, form)
    return report
