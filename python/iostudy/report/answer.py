"""Answer of a study on one screen, from its report (pure)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.ledger.given_up_workloads import GivenUpWorkload
from iostudy.report.base import State, Step
from iostudy.report.formatting import format_blocks_needed
from iostudy.report.topics.covariates import describe_disturbances, list_open_workloads
from iostudy.report.topics.verdicts import (
    FigureVerdicts,
    Result,
    list_verdicts,
)
from iostudy.report.values import Report
from iostudy.units import format_percent


@dataclass(frozen=True)
class Answer:
    """Answer of a study: sentence, verdicts, reasons and next steps.

    - ``noun``: the varied factor in one word
    - ``is_decided``: every comparison has a verdict
    - ``seconds``: time of all trials and windows
    - ``margin``: equivalence margin, as a fraction
    - ``reasons``: why comparisons have no verdict; empty if all have one
    - ``next_steps``: in order; each command works where the answer is printed
    - ``report``: path of the HTML report; empty without one
    """

    question: str
    sentence: str
    noun: str
    state: State
    is_decided: bool
    seconds: float
    margin: float
    tables: Sequence[FigureVerdicts]
    reasons: Sequence[str]
    next_steps: Sequence[Step]
    report: str


_PAGE = "report.html"
_EXPLAINS = 0.25
"""Share of the variance from which its cause is named as a reason."""


def build_answer(report: Report, folder: Path | None) -> Answer:
    """Build the answer; commands and the report's path name ``folder`` as the user did."""
    tables = list_verdicts(report.workloads)
    compared = [result for table in tables for result in table.results[1:]]
    return Answer(
        question=report.question,
        sentence=report.headline,
        noun=report.noun,
        state=report.state,
        is_decided=bool(compared) and not any(each.is_open for each in compared),
        seconds=_seconds(report),
        margin=report.method.margin,
        tables=tables,
        reasons=list(_reasons(report, compared)),
        next_steps=[_named_as_given(step, folder) for step in report.next_steps],
        report=str(folder / _PAGE) if folder else "",
    )


def _seconds(report: Report) -> float:
    """Return the time of trials, with what surrounds the workload, and that of runs of windows."""
    trials = sum(sum(filter(None, trial.phases.values())) for trial in report.trials)
    return trials + sum(run.seconds for own in report.switchback for run in own.runs)


def _reasons(report: Report, compared: list[Result]) -> Iterator[str]:
    """Yield why comparisons have no verdict, from the strongest evidence to the weakest."""
    for given_up in report.given_up:
        own = GivenUpWorkload(**given_up.model_dump())
        yield f"{own.workload} was given up in block {own.block}: {own.explanation}"
    if not any(each.is_open for each in compared):
        return
    disturbed = describe_disturbances(report.workloads, report.covariates)
    yield from list(_causes(report)) or (each for each in disturbed if each not in report.headline)
    yield from _noise(report)
    if report.state is State.STOPPED:
        yield "the study stopped before its last block"


def _causes(report: Report) -> Iterator[str]:
    waiting = list_open_workloads(report.workloads)
    for own in report.noise_causes:
        for cause in own.causes[:1]:
            if cause.share >= _EXPLAINS and own.workload in waiting:
                by = f" ({cause.process})" if cause.process else ""
                share = format_percent(round(cause.share, 2))
                yield f"{share} of the noise of {own.workload} goes with {cause.cause}{by}"


def _noise(report: Report) -> Iterator[str]:
    """Yield the noise of the workload that needs most blocks."""
    waiting = list_open_workloads(report.workloads)
    noisy = [w for w in report.workloads if w.noise is not None and w.label in waiting]
    for own in sorted(noisy, key=lambda w: -w.noise.blocks if w.noise else 0)[:1]:
        assert own.noise is not None
        sd, margin = (format_percent(round(s, 3)) for s in (own.noise.sd, own.noise.margin))
        needed = format_blocks_needed(own.noise.blocks, more="more than ")
        ran = max(result.blocks for result in own.results)
        yield (
            f"pairs of runs of {own.label} vary by {sd}: {needed} blocks tell {margin} apart, "
            f"{ran} ran"
        )


def _named_as_given(step: Step, folder: Path | None) -> Step:
    """Return the step with the folder in its command as the user named it."""
    if folder is None or not step.command:
        return step
    absolute = str(folder.absolute())
    words = [str(folder) if word == absolute else word for word in shlex.split(step.command)]
    return step.model_copy(update={"command": shlex.join(words)})
