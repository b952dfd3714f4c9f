"""Refuses what is not one study on several nodes, and names the nodes (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from iostudy.errors import UsageError
from iostudy.results.matching import label_folders, refuse_without_configurations
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy_fleet.node_traits import find_host_name
from iostudy_fleet.pooling import LEAST_NODES

_COMPARED = (
    "question",
    "factors",
    "workloads",
    "decide",
    "validity",
    "baseline_label",
    "chosen",
    "bounds",
    "services",
    "telemetry",
    "prepare",
    "limit",
    "refusal",
)
"""The parts of a study that must be equal; seeds may differ, and so may places of targets."""


def require_one_study(sides: Sequence[RecordedStudy]) -> None:
    """Raise UsageError unless these are runs of one study, each on its own."""
    for side in sides:
        if side.study.target.predicts:
            raise UsageError(
                "studies that measured hosts",
                found="predictions of a simulation",
                where=side.place,
                remedy="leave this folder out",
            )
    if len(sides) < LEAST_NODES:
        raise UsageError(
            f"at least {LEAST_NODES} output folders, one of each node",
            found=str(len(sides)),
            where="the command line",
            remedy="`iostudy report` prints the report of one node",
        )
    for side in sides:
        refuse_without_configurations(side, "nodes with a study that compares configurations")
    _refuse_copies(sides)
    first = sides[0]
    expected = _requested(first)
    for side in sides[1:]:
        if different := _differences(expected, _requested(side)):
            raise UsageError(
                "the same study on all nodes",
                found=f"another {' and '.join(different)} than in {first.place}",
                where=side.place,
                remedy="leave this folder out, or run the study of the others on that node; "
                f"`iostudy compare {first.place} {side.place}` lists all differences",
            )
        _require_same_baseline(first, side)


def _refuse_copies(sides: Sequence[RecordedStudy]) -> None:
    runs: dict[tuple[int, float], str] = {}
    for side in sides:
        run = (side.row.seed, side.row.started_at)
        if run in runs:
            raise UsageError(
                "a study run of its own in each folder",
                found=f"the same run as in {runs[run]}: seed and start are equal",
                where=side.place,
                remedy="give each run once; a copy counts as a node that does not exist",
            )
        runs[run] = side.place


def _require_same_baseline(first: RecordedStudy, side: RecordedStudy) -> None:
    ours, theirs = first.study.baseline.label, side.study.baseline.label
    if ours != theirs:
        raise UsageError(
            f"the baseline {ours} on all nodes",
            found=f"{theirs}, because the host refused the other",
            where=side.place,
            remedy="leave this folder out",
        )


def _requested(side: RecordedStudy) -> Study:
    """Return the study of the file, before a host offered or refused anything."""
    study = parse(side.row.text, where=side.place, name=side.row.name, has_windows=False)
    return study if side.row.root else study.without_root()


def _differences(first: Study, second: Study) -> list[str]:
    differing = [name for name in _COMPARED if getattr(first, name) != getattr(second, name)]
    if first.target.without_place() != second.target.without_place():
        differing.append("target")
    return [name.replace("_", " ") for name in differing]


def name_nodes(sides: Sequence[RecordedStudy]) -> tuple[str, ...]:
    """Return the host names, or the ends of the folders' paths unless all host names differ."""
    hosts = [find_host_name(side.row.circumstances) for side in sides]
    if None not in hosts and len(set(hosts)) == len(hosts):
        return tuple(map(str, hosts))
    return label_folders([side.place for side in sides])


def find_repeated_hosts(sides: Sequence[RecordedStudy]) -> tuple[str, ...]:
    """Return the host names that several folders have."""
    hosts = Counter(find_host_name(side.row.circumstances) for side in sides)
    return tuple(host for host, count in hosts.items() if host is not None and count > 1)
