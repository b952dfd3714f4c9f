"""Checks after a kill: clean hosts, all finished trials, and an unchanged analysis."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from iostudy.cli.report_output import read_recorded
from iostudy.host import devices
from iostudy.ledger.rows import MeasuredRow, TrialRow, TrialStatus
from iostudy.ledger.store import FILE_NAME
from iostudy.report.base import Span, build_span, finite
from iostudy.results.comparisons import compare_configurations
from iostudy.study.model import Study
from iostudy.units import MIB
from iostudy_fleet.design import Design
from iostudy_fleet.pooling import (
    NodeStudy,
    fleet_rule,
    mean_difference,
    new_node_difference,
    pool_fleet,
)
from iostudy_fleet.record import read_record
from iostudy_fleet.together.joint_run import read_node_parts
from tests.cli.program import Program
from tests.plugins.fleet.namespaces import Namespaces

SYSCTL, USUAL = "net.ipv4.tcp_fin_timeout", "60"
"""Each network namespace has a value of its own."""
_TARGET_PREFIX = "iostudy-work-"


def find_residue(spaces: Namespaces, names: Sequence[str], folder: Path) -> list[str]:
    """Changes that a run has left on its nodes: settings, journals, mounts, loops, folders."""
    found = [
        f"{name}: {SYSCTL} = {value}"
        for name in names
        if (value := spaces.read(name, "sysctl", "-n", SYSCTL)) != USUAL
    ]
    found += [str(path) for name in names for path in spaces.state(name).glob("*.journal")]
    mounts = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    found += [line for line in mounts if str(folder) in line]
    found += [name for name in devices.disk_names() if _is_backed(name, folder)]
    found += map(str, (folder / "target").iterdir())
    return [*found, *(str(path) for path in folder.rglob("*") if _is_scratch(path))]


def finished_rows(ledgers: Mapping[str, Path]) -> dict[str, list[TrialRow]]:
    """The finished trials of each ledger, in their order."""
    return {
        node: [
            replace(row, counts=False)  # its block can be completed later
            for row in read_recorded(folder).rows
            if row.status is TrialStatus.FINISHED
        ]
        for node, folder in ledgers.items()
        if (folder / FILE_NAME).exists()
    }


def require_same_analysis(program: Program, design: Design) -> None:
    """AssertionError if a report has other numbers than the declared rule gives.

    The rule is applied here to the raw trials, by nothing but which trials finished on which nodes:
    the trials of a node count until it is absent, and those of a block with other nodes do not.
    """
    if design is Design.TOGETHER:
        if (program.out / FILE_NAME).exists():
            _require_same_joint_analysis(program)
    else:
        _require_same_pooled_analysis(program)


def _require_same_joint_analysis(program: Program) -> None:
    recorded = read_recorded(program.out)
    rows = apply_rule(recorded.study, recorded.trials)
    for row in rows:
        if row.counts:
            _require_joint_figure(row)
    done = program("report", "out", "--format", "json")
    assert done.returncode == 0, done.stderr
    reported = _list_results(json.loads(done.stdout)["workloads"])
    assert reported == expected_results(recorded.study, rows)


def _require_same_pooled_analysis(program: Program) -> None:
    record = read_record(program.out)
    folders = record.list_results(program.out) if record is not None else []
    nodes = []
    for folder in folders:
        recorded = read_recorded(folder)
        rows = apply_rule(recorded.study, recorded.trials)
        nodes.append(NodeStudy(folder.name, recorded.study, rows, {}))
    if len(nodes) < 2:
        return
    done = program("fleet", "report", "out", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for node in found["nodes"]:
        own = next(each for each in nodes if each.node == Path(node["place"]).name)
        assert _list_results(node["workloads"]) == expected_results(own.study, own.rows)
    effects = [own for own in pool_fleet(nodes) if not own.is_baseline]
    rule = fleet_rule(nodes)
    assert len(found["comparisons"]) == len(effects)
    for effect, reported in zip(effects, found["comparisons"], strict=True):
        assert reported["nodes"] == len(effect.nodes)
        assert reported["mean"]["change"] == mean_difference(effect, rule).change
        assert reported["new_node"]["change"] == new_node_difference(effect, rule).change


def apply_rule(study: Study, trials: Sequence[TrialRow]) -> list[TrialRow]:
    """Let those trials count that are of an attempt with every configuration on the same nodes.

    AssertionError if the ledger lets others count. The last attempt before a loss can be without
    its end: then it is repeated, although all its trials finished.
    """
    attempts: dict[tuple[str, int, int], list[TrialRow]] = defaultdict(list)
    for row in trials:
        attempts[row.workload, row.block, row.attempt].append(row)
    complete = {key for key, rows in attempts.items() if _is_complete(study, rows)}
    counted = {key for key, rows in attempts.items() if all(row.counts for row in rows)}
    assert counted <= complete, f"incomplete attempts count: {counted - complete}"
    assert len(complete - counted) <= 1, f"complete attempts do not count: {complete - counted}"
    assert len({key[:2] for key in counted}) == len(counted), "a block counts twice"
    return [replace(row, counts=key in counted) for key, rows in attempts.items() for row in rows]


def expected_results(study: Study, rows: Sequence[MeasuredRow]) -> list[tuple[Any, ...]]:
    """Configuration, change and interval of each comparison, as numbers of a report."""
    return [
        (
            own.configuration,
            finite(own.comparison.change),
            _as_json(build_span(own.comparison.change_interval)),
        )
        for own in compare_configurations(study, rows)
    ]


def _as_json(span: Span | None) -> dict[str, Any] | None:
    return None if span is None else span.model_dump()


def _list_results(workloads: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (own["configuration"], own["change"], own["interval"])
        for workload in workloads
        for own in workload["results"]
        if not own["baseline"]
    ]


def _is_complete(study: Study, rows: Sequence[TrialRow]) -> bool:
    finished = {row.configuration for row in rows if row.status is TrialStatus.FINISHED}
    nodes = {frozenset(own.node for own in read_node_parts(row.parts)) for row in rows}
    return finished == {own.label for own in study.configurations()} and len(nodes) == 1


def _require_joint_figure(row: TrialRow) -> None:
    """The figure is that of the nodes that took part, and of no other."""
    parts, figures = read_node_parts(row.parts), row.figures
    assert figures is not None
    assert figures["bytes"] == sum(own.size for own in parts)
    last = max(own.start_after + own.seconds for own in parts)
    slack = 2 * max(own.error for own in parts) + 1e-9
    assert abs(figures["exec_time"] - last) <= slack + 1e-4 * last
    assert figures["aggregate"] == figures["bytes"] / figures["exec_time"] / MIB


def _is_backed(name: str, folder: Path) -> bool:
    return str(folder) in str(devices.read_device(name).backing_file)


def _is_scratch(path: Path) -> bool:
    return path.name.startswith(("scratch-", _TARGET_PREFIX))
