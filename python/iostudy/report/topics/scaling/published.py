"""Published curves of the same workload over the same kind of load (pure)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iostudy.analysis.scaling import find_estimated_crossings
from iostudy.report.topics.scaling.crossings import build_crossings
from iostudy.report.topics.scaling.values import LoadLevel, PublishedCurves
from iostudy.study import reference
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.reference import PublishedFigure
from iostudy.workloads import catalog


def build_published_curves(study: Study, workload: WorkloadRequest) -> tuple[PublishedCurves, ...]:
    """Each figure that the publication of the study has of a workload at several loads.

    The loads themselves need not be those of the study: curves are compared by their shape.
    """
    if study.reference is None or workload.load is None:
        return ()
    published = reference.get(study.reference)
    if published.load != workload.load.option:
        return ()
    own = [f for f in published.figures if f.load is not None and f.is_of(workload)]
    return tuple(
        _curves(study.reference, [f for f in own if f.figure == name], workload)
        for name in dict.fromkeys(figure.figure for figure in own)
    )


def _curves(
    name: str, figures: Sequence[PublishedFigure], workload: WorkloadRequest
) -> PublishedCurves:
    """One figure under all configurations; where one lacks a load, no crossing is looked for."""
    loads = sorted({figure.load for figure in figures if figure.load is not None})
    labels = list(dict.fromkeys(figure.configuration for figure in figures))
    values = {(figure.configuration, figure.load): figure.value for figure in figures}
    own = catalog.get(workload.name).figure(figures[0].figure, workload.options)
    sign = 1 if own.higher_is_better else -1
    is_whole = len(values) == len(labels) * len(loads)
    logs = [[sign * np.log(values[label, load]) for label in labels] for load in loads if is_whole]
    return PublishedCurves(
        reference=name,
        figure=own.name,
        unit=figures[0].unit,
        levels=tuple(LoadLevel(load=load, text=f"{load:g}", workload="") for load in loads),
        values={label: tuple(values.get((label, load)) for load in loads) for label in labels},
        crossings=build_crossings(find_estimated_crossings(loads, logs), labels, loads)
        if logs
        else (),
    )
