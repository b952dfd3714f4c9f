"""``iostudy run --json``: its document, in the form that ``run.schema.json`` describes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import FiniteFloat

from iostudy.cli.console import print_json
from iostudy.cli.report_output import read_report
from iostudy.ledger.given_up_workloads import GivenUpWorkload
from iostudy.report.answer import build_answer
from iostudy.report.base import EffectReport, OnWorkload, State, Step, Value, declare_schema
from iostudy.report.topics.verdicts import Result, list_verdicts
from iostudy.report.values import Report

RUN_PHASE = "run"
"""Phase of a trial in which its workload runs."""


class WorkloadVerdict(Result):
    """Comparison of a configuration with the baseline, as in report.json, with its workload."""

    workload: str
    """Label of the workload."""
    figure: str
    """Name of the figure."""
    is_guard: bool
    """Whether the figure does not decide, but a recommendation must not make it worse."""


class WorkloadTime(OnWorkload):
    """The time that a workload ran."""

    measuring_seconds: FiniteFloat
    """Time that the workload ran: its windows and whole trials, in seconds."""
    windows_seconds: FiniteFloat
    """Duration of its runs with windows, in seconds; 0 without windows."""
    trials_seconds: FiniteFloat
    """Duration of its whole trials, also of those that do not count, in seconds."""


class StudyRunReport(Value):
    """The result of ``iostudy run``."""

    schema_name: Literal["iostudy.run/2"] = declare_schema("iostudy.run/2")
    study: str
    """Name of the study: that of its file."""
    folder: str
    """Absolute path of the output folder."""
    exit_code: int
    """Exit code of the command."""
    state: State
    """``complete`` if every comparison has a verdict or has used all its blocks."""
    question: str
    """Question of the study."""
    answer: str
    """The answer in a sentence."""
    reasons: tuple[str, ...]
    """Why comparisons have no verdict; empty if all have one."""
    next_steps: tuple[Step, ...]
    """The next steps, in order."""
    baseline: str
    """Label of the baseline."""
    verdicts: tuple[WorkloadVerdict, ...]
    """Comparisons with the baseline, by workload; of a search those of its confirmation."""
    effects: tuple[EffectReport, ...]
    """Effects of a screening; empty for other studies."""
    given_up: tuple[GivenUpWorkload, ...]
    """Workloads that the study gave up: all attempts at a block failed."""
    measuring_seconds: FiniteFloat
    """Time that all workloads ran, in seconds; without the candidates of a search."""
    workloads: tuple[WorkloadTime, ...]
    """Time by workload, in the order of the study."""


def print_run(folder: Path, exit_code: int) -> None:
    """Print the document of the study in the folder; LedgerError without one."""
    document = build_document(read_report(folder), folder, exit_code)
    print_json(document.model_dump(mode="json"))


def build_document(report: Report, folder: Path, exit_code: int) -> StudyRunReport:
    """The document of a report."""
    answer = build_answer(report, folder)
    workloads = tuple(_build_time(report, workload.label) for workload in report.workloads)
    return StudyRunReport(
        study=report.name,
        folder=str(folder.absolute()),
        exit_code=exit_code,
        state=report.state,
        question=answer.question,
        answer=answer.sentence,
        reasons=tuple(answer.reasons),
        next_steps=tuple(answer.next_steps),
        baseline=report.baseline,
        verdicts=tuple(_list_verdicts(report)),
        effects=tuple(effect for topic in report.topics for effect in topic.list_effects()),
        given_up=report.given_up,
        measuring_seconds=sum(workload.measuring_seconds for workload in workloads),
        workloads=workloads,
    )


def _list_verdicts(report: Report) -> Iterator[WorkloadVerdict]:
    for verdict in list_verdicts(report.workloads):
        for result in verdict.results:
            if result.verdict is not None:
                yield WorkloadVerdict.copy_from(
                    result,
                    workload=verdict.workload,
                    figure=verdict.figure.name,
                    is_guard=verdict.is_guard,
                )


def _build_time(report: Report, label: str) -> WorkloadTime:
    switchback = next((result for result in report.switchback if result.workload == label), None)
    windows = sum(run.seconds for run in switchback.runs) if switchback else 0.0
    own_trials = (trial for trial in report.trials if trial.workload == label)
    trials = sum(trial.phases.get(RUN_PHASE) or 0.0 for trial in own_trials)
    return WorkloadTime(
        workload=label,
        measuring_seconds=windows + trials,
        windows_seconds=windows,
        trials_seconds=trials,
    )
