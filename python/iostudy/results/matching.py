"""What two studies share: workloads, configurations and circumstances (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import NamedTuple

from pydantic import JsonValue

from iostudy.errors import UsageError
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.mode import find_mode
from iostudy.study.model import WorkloadRequest
from iostudy.workloads.option_text import format_options


def label_folders(places: Sequence[str]) -> tuple[str, ...]:
    """Return as few of the last parts of each path as distinguish all of them."""
    paths = [PurePath(place).parts for place in places]
    for count in range(1, max(map(len, paths)) + 1):
        ends = tuple(str(PurePath(*parts[-count:])) for parts in paths)
        if len(set(ends)) == len(ends):
            return ends
    return tuple(places)


@dataclass(frozen=True)
class ComparableParts:
    """The workloads of both, each by its label, and the pairs of configurations by theirs.

    A workload has the verdict figures of both studies.
    ``left_out`` are the workloads and configurations that only one has, or has otherwise.
    """

    workloads: tuple[WorkloadRequest, ...]
    configurations: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def match_studies(
    first: RecordedStudy, second: RecordedStudy, requested: Sequence[str]
) -> ComparableParts:
    """Return the comparable parts; ``requested`` are labels, or LABEL=LABEL if they differ.

    By default the baselines and all configurations with the same label are compared. UsageError
    for a study that compares no configurations, for a traced and an untraced study, for unknown
    labels, and if nothing is comparable.
    """
    sides = first, second
    traced = [side.place for side in sides if side.study.telemetry.block_latency]
    if len(traced) == 1:
        # The cost of tracing would look like a difference.
        raise UsageError(
            "two studies that are both traced, or both untraced",
            found="its requests were traced (block_latency), which costs time; those of the other "
            "were not",
            where=traced[0],
            remedy="run one of them again, with telemetry as in the other",
        )
    for side in sides:
        refuse_without_configurations(side, "two studies that compare configurations")
    theirs = {workload.label: workload for workload in second.study.workloads}
    reasons, workloads = {}, []
    for workload in first.study.workloads:
        if workload.label not in theirs:
            reasons[workload.label] = f"only the first study has the workload {workload.label}"
        elif reason := _difference(workload, theirs[workload.label]):
            reasons[workload.label] = f"{workload.label} is not the same workload: {reason}"
        else:
            common = theirs[workload.label].figures
            shared = tuple(figure for figure in workload.figures if figure in common)
            workloads.append(replace(workload, figures=shared))
    ours = {workload.label for workload in first.study.workloads}
    missing = (label for label in theirs if label not in ours)
    reasons |= {label: f"only the second study has the workload {label}" for label in missing}
    if not workloads:
        raise UsageError(
            "two studies with a workload in common: the same options, figure and unit",
            found="; ".join(reasons.values()),
            where=f"{first.place} and {second.place}",
            remedy="run one of them again with the workload of the other",
        )
    reduced = {**first.study.reduced, **second.study.reduced}
    unequal = first.study.reduced.keys() ^ second.study.reduced.keys()
    labels = [
        tuple(c.label for c in side.study.configurations() if c.label not in unequal)
        for side in sides
    ]
    pairs = [_requested_pair(label, labels, sides) for label in requested]
    alone = []
    if not requested:
        same = ((label, label) for label in labels[0] if label in labels[1])
        pairs = [(labels[0][0], labels[1][0]), *same]
        alone = [
            f"only the {which} study has the configuration {label}"
            for index, which in enumerate(("first", "second"))
            for label in labels[index]
            if label not in {pair[index] for pair in pairs}
        ]
    lacking = (f"{label} lacks {reduced[label]} in one study" for label in unequal)
    return ComparableParts(
        tuple(workloads), tuple(dict.fromkeys(pairs)), (*reasons.values(), *alone, *lacking)
    )


def refuse_without_configurations(side: RecordedStudy, expected: str) -> None:
    """Refuse a study whose configurations are not chosen to be kept."""
    mode = find_mode(side.study)
    if not mode.compares_configurations:
        raise UsageError(expected, found=str(mode), where=side.place, remedy=mode.instead)


def _requested_pair(
    text: str, labels: Sequence[Sequence[str]], sides: tuple[RecordedStudy, RecordedStudy]
) -> tuple[str, str]:
    """A label may hold an equals sign itself: each of them is tried."""
    parts = text.split("=")
    splits = (("=".join(parts[:n]), "=".join(parts[n:])) for n in range(1, len(parts)))
    for pair in ((text, text), *splits):
        if pair[0] in labels[0] and pair[1] in labels[1]:
            return pair
    known = (f"{side.place} has {', '.join(of)}" for side, of in zip(sides, labels, strict=True))
    raise UsageError(
        "a configuration of both studies, or LABEL=LABEL where the labels differ",
        found=text,
        where="--configuration",
        remedy="; ".join(known),
    )


def _difference(first: WorkloadRequest, second: WorkloadRequest) -> str:
    """Return the differences of two workloads with one label; empty without any."""
    if first.name != second.name:
        return f"it is {first.name} in the first study and {second.name} in the second"
    figures = [f"{w.figure.name} in {w.figure.unit}" for w in (first, second)]
    if figures[0] != figures[1]:
        return f"verdicts use {figures[0]} in the first study and {figures[1]} in the second"
    options = [format_options(w.options) for w in (first, second)]
    texts = (
        f"{name} is {options[0].get(name)} in the first study and {options[1].get(name)} in the "
        "second"
        for name in dict.fromkeys((*options[0], *options[1]))
        if options[0].get(name) != options[1].get(name)
    )
    return ", ".join(texts)


Circumstances = Mapping[str, JsonValue]
KeyPath = tuple[str, ...]

_FIRST_TO_LAST: tuple[KeyPath, ...] = (
    ("host", "kernel", "release"),
    ("host", "cpu"),
    ("host", "memory_bytes"),
    ("host", "virtualisation"),
    ("target",),
    ("host", "mounts"),
    ("host", "block_devices"),
    ("hadoop",),
    ("versions", "iostudy"),
    ("versions",),
)
"""Keys by importance; all others follow."""

_DISK_NUMBERS = ("number", "diskseq")
"""Assigned at each start or attachment, so they do not identify a device."""


class Difference(NamedTuple):
    """A way into the circumstances, and what is there; None where one has nothing there."""

    way: KeyPath
    first: JsonValue
    second: JsonValue


def find_differences(first: Circumstances, second: Circumstances) -> tuple[Difference, ...]:
    """Every way at which they differ, what usually matters most first.

    Block devices are those below each study's target, by their places in its stack. Mounts have
    places instead of paths, because each study works in a folder of its own.
    """

    def weigh(difference: Difference) -> int:
        ranks = (n for n, p in enumerate(_FIRST_TO_LAST) if difference.way[: len(p)] == p)
        return next(ranks, len(_FIRST_TO_LAST))

    sides = [dict(_leaves((), _comparable(side))) for side in (first, second)]
    ways = dict.fromkeys(way for side in sides for way in side)
    pairs = (Difference(way, *(side.get(way) for side in sides)) for way in ways)
    return tuple(sorted((pair for pair in pairs if pair.first != pair.second), key=weigh))


def _leaves(way: KeyPath, value: JsonValue) -> Iterator[tuple[KeyPath, JsonValue]]:
    """Every value that is no mapping, with the way to it."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves((*way, str(name)), inner)
    else:
        yield way, value


def _comparable(circumstances: Circumstances) -> dict[str, JsonValue]:
    """The same with places for the names of devices and mounts, which differ for nothing."""
    host = _mapping(circumstances.get("host"))
    below = _mapping(circumstances.get("target")).get("devices")
    known = _mapping(host.get("block_devices"))
    names = [str(name) for name in below] if isinstance(below, list | tuple) else []
    if "block_devices" in host:
        lasting: list[JsonValue] = [
            {key: value for key, value in _mapping(known[name]).items() if key not in _DISK_NUMBERS}
            for name in names
            if name in known
        ]
        host["block_devices"] = _placed("device", lasting)
    if "mounts" in host:
        host["mounts"] = _placed("mount", list(_mapping(host["mounts"]).values()))
    return {**circumstances, **({"host": host} if host else {})}


def _placed(noun: str, values: Sequence[JsonValue]) -> dict[str, JsonValue]:
    """Return the values by place if there are several: ``device 1``, ``device 2``."""
    if len(values) == 1:
        return {noun: values[0]}
    return {f"{noun} {index}": value for index, value in enumerate(values, 1)}


def _mapping(value: JsonValue) -> dict[str, JsonValue]:
    return dict(value) if isinstance(value, Mapping) else {}
