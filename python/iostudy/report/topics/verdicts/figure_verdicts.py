"""Verdicts of a study by workload and figure: the tables of every report (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iostudy.report.base import FigureDescription
from iostudy.report.topics.verdicts.values import Result
from iostudy.report.values import WorkloadReport


@dataclass(frozen=True)
class FigureVerdicts:
    """Verdicts by one figure of a workload: the baseline, then the other configurations.

    ``name`` distinguishes it from all others of the study. ``is_guard``: the figure does not
    decide, but a recommendation must not make it worse.
    """

    name: str
    workload: str
    figure: FigureDescription
    results: Sequence[Result]
    is_guard: bool = False

    @property
    def choices(self) -> tuple[Result, ...]:
        """The results of all configurations but the baseline, without bounds."""
        return tuple(result for result in self.results[1:] if not result.bound)


def list_verdicts(workloads: Sequence[WorkloadReport]) -> tuple[FigureVerdicts, ...]:
    """Return the verdicts by every figure, in the order of the study."""
    alone = len(workloads) == 1
    return tuple(each for own in workloads for each in _list_of_workload(own, alone=alone))


def _list_of_workload(own: WorkloadReport, *, alone: bool) -> Iterator[FigureVerdicts]:
    """Yield the verdicts on one workload; its label names them if it has one figure."""
    figures = ((own.figure, own.results), *((each.figure, each.results) for each in own.guards))
    for place, (figure, results) in enumerate(figures):
        several = figure.name if alone else f"{figure.name} of {own.label}"
        name = several if own.guards else own.label
        yield FigureVerdicts(name, own.label, figure, results, is_guard=place > 0)
