"""The ``load`` section: levels of an option of the workloads, or numbers of nodes, make a curve.

A load is no configuration: one file system under 20 jobs and another under 80 say nothing of each
other. So each level becomes a workload of its own, in which configurations are compared as in any.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from iostudy.study.factors import OPTION_PREFIX
from iostudy.study.model import Load, WorkloadRequest
from iostudy.study.names import UnknownNameError, parse_label
from iostudy.study.problems import KeyPath, ProblemCollector, format_reason
from iostudy.study.requests import replace_options
from iostudy.study.source import format_value
from iostudy.study.study_file import DesignKey, StudyFile, keys_of

KEY_PATH: KeyPath = ("load",)
NODES = "fleet.nodes"
"""The load that is a number of nodes of a fleet."""
NODES_OPTION = "nodes"
"""Its short name, in labels and reports."""


def parse_load(
    collector: ProblemCollector, file: StudyFile, requests: Sequence[WorkloadRequest]
) -> tuple[WorkloadRequest, ...]:
    """The study's workloads, with one for each level in place of those that have the option.

    Every workload has the number of nodes.
    """
    if not file.load:
        return tuple(requests)
    values = collector.source.values
    name, levels = next(iter(file.load.items()))
    path, option = (*KEY_PATH, name), str(name).removeprefix(OPTION_PREFIX)
    having = [r for r in requests if name == NODES or option in type(r.options).model_fields]
    if (name != NODES and not str(name).startswith(OPTION_PREFIX)) or not having:
        if len(requests) == len(file.workloads or ()):  # else one that is wrong may have it
            fields = {field for r in requests for field in type(r.options).model_fields}
            options = sorted(OPTION_PREFIX + field for field in fields)
            error = UnknownNameError("option of these workloads", str(name), [*options, NODES])
            collector.note(path, error, name)
        return tuple(requests)
    _refuse_elsewhere(collector, values, str(name))
    return tuple(
        point
        for request in requests
        for point in (_curve(collector, path, request, levels) if request in having else (request,))
    )


def _refuse_elsewhere(collector: ProblemCollector, values: Mapping[str, Any], name: str) -> None:
    """A load stands neither among factors and parameters nor among the options of a workload."""
    others = (key.factors_path for key in keys_of(DesignKey).values() if key.factors_path)
    for path in (("factors",), *others, ("without_root", "factors")):
        section: Any = values
        for key in path:
            section = section.get(key) if isinstance(section, Mapping) else None
        if isinstance(section, Mapping) and name in section:
            message = "it is the load, so configurations cannot differ in it; leave it out here"
            collector.add((*path, name), message, found=format_value(section[name]))
    option = name.removeprefix(OPTION_PREFIX)
    workloads = values.get("workloads")
    for index, entry in enumerate(workloads if isinstance(workloads, list) else ()):
        for workload, options in entry.items() if isinstance(entry, Mapping) else ():
            if isinstance(options, Mapping) and option in options:
                here = ("workloads", index, workload, option)
                message = f"the load gives it its levels; leave it out here, or {name} there"
                collector.add(here, message, found=format_value(options[option]))


def _curve(
    collector: ProblemCollector, path: KeyPath, request: WorkloadRequest, levels: Sequence[Any]
) -> tuple[WorkloadRequest, ...]:
    """The workload at each level that is right; what is wrong with the others is noted."""
    points = [
        collector.attempt(
            (*path, index), lambda text: _apply_level(request, str(path[-1]), text), level
        )
        for index, level in enumerate(levels)
    ]
    curve = tuple(point for point in points if point is not None)
    loads = [point.load for point in curve if point.load is not None]
    for low, high in pairwise(loads):
        if high.level <= low.level:
            message = f"levels of load ascend; {low.text} comes before {high.text}"
            collector.add(path, message, found=format_value(list(levels)))
    return curve


def _apply_level(request: WorkloadRequest, name: str, text: str) -> WorkloadRequest:
    """The workload at one level; ValueError where that is no number, or goes with no other option.

    The text of the level is as the study file has it.
    """
    if name == NODES:
        if not text.isdecimal() or int(text) < 1:
            raise ValueError("a number of nodes is a whole number above 0")
        return replace(_at_load(request, NODES_OPTION, int(text), text), node_count=int(text))
    option = name.removeprefix(OPTION_PREFIX)
    try:
        options = replace_options(request.options, {option: text})
    except ValidationError as error:
        raise ValueError(f"{request.label}: {format_reason(error.errors()[0])}") from error
    level = getattr(options, option)
    if isinstance(level, bool) or not isinstance(level, int | float):
        raise ValueError("a load is an option that counts or measures something")
    if not (math.isfinite(level) and level > 0):
        raise ValueError("a load is a number above 0")
    return _at_load(replace(request, options=options), option, float(level), text)


def _at_load(request: WorkloadRequest, option: str, level: float, text: str) -> WorkloadRequest:
    load = Load(curve=request.label, option=option, level=level, text=text)
    return replace(request, label=parse_label(f"{request.label} at {option}={text}"), load=load)
