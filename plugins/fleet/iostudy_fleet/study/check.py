"""Studies that nodes can run together (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.errors import UsageError
from iostudy.study.load_section import KEY_PATH, NODES
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.workloads.measurement import AGGREGATE, EXEC_TIME

_FIGURES = (AGGREGATE, EXEC_TIME)


def require_together(study: Study) -> None:
    """UsageError for a study with trials that have no meaning on several nodes at once."""
    for obstacle, remedy in list_joint_obstacles(study):
        raise UsageError(
            "a study that nodes can run together", found=obstacle, where=study.name, remedy=remedy
        )


def check_load(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """Add a problem for each obstacle of a load that is a number of nodes."""
    if study.most_nodes is not None:
        for obstacle, remedy in list_joint_obstacles(study):
            message = f"several nodes cannot run a study with {obstacle}; {remedy}"
            collector.add((*KEY_PATH, NODES), message)


def list_joint_obstacles(study: Study) -> Iterator[tuple[str, str]]:
    """Yield what keeps nodes from running the study together, each with its remedy."""
    path = study.target.shared_directory
    if path is None or not path.is_absolute():
        yield (
            f"the target {study.describe_target()}",
            "name a directory that all nodes share, by its absolute path",
        )
    if study.service:
        yield (
            f"a workload on {study.service}",
            "run it with `iostudy run`: the service may have hosts of its own",
        )
    mode = find_mode(study)
    if mode.measures_windows:
        yield str(mode), "leave out mode in decide: whole trials have a joint figure"
    elif not mode.compares_configurations:
        yield str(mode), "compare configurations by factors, in whole trials"
    if study.telemetry.block_latency:
        yield "block_latency", "leave it out: block requests are those of one host"
    if study.validity.foreign_io is not None:
        yield "a limit of foreign_io", "leave it out: every node's I/O is foreign to the others"
    figures = ((entry.name, w.listed_as) for w in study.workloads for entry in w.figures)
    for figure, label in dict.fromkeys(figures):
        if figure not in _FIGURES:
            yield (
                f"the figure {figure} of {label}",
                f"use a workload with the figure {' or '.join(_FIGURES)}, as dfsio-write has",
            )
