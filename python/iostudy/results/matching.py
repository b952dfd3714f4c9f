"""What two studies share: workloads, configurations and circumstances (pure)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from pydantic import JsonValue

from iostudy.errors import UsageError
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.mode import find_mode
from iostudy.study.model import Study, WorkloadRequest
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
    _refuse_mixed_tracing(first, second)
    for side in (first, second):
        refuse_without_configurations(side, "two studies that compare configurations")
    reasons = dict(_workload_reasons(first.study, second.study))
    theirs = {workload.label: workload.figures for workload in second.study.workloads}
    workloads = [
        replace(own, figures=tuple(each for each in own.figures if each in theirs[own.label]))
        for own in first.study.workloads
        if own.label not in reasons
    ]
    if not workloads:
        raise UsageError(
            "two studies with a workload in common: the same options, figure and unit",
            found="; ".join(reasons.values()),
            where=f"{first.place} and {second.place}",
            remedy="run one of them again with the workload of the other",
        )
    reduced = {**first.study.reduced, **second.study.reduced}
    unequal = first.study.reduced.keys() ^ second.study.reduced.keys()
    labels = _labels(first.study, unequal), _labels(second.study, unequal)
    pairs = [_requested_pair(each, labels, (first, second)) for each in requested]
    if not requested:
        same = ((label, label) for label in labels[0] if label in labels[1])
        pairs = [(labels[0][0], labels[1][0]), *same]
    alone = () if requested else tuple(_configuration_reasons(labels, pairs))
    lacking = (f"{label} lacks {reduced[label]} in one study" for label in unequal)
    return ComparableParts(
        tuple(workloads), tuple(dict.fromkeys(pairs)), (*reasons.values(), *alone, *lacking)
    )


def refuse_without_configurations(side: RecordedStudy, expected: str) -> None:
    """Refuse a study whose configurations are not chosen to be kept."""
    mode = find_mode(side.study)
    if not mode.compares_configurations:
        raise UsageError(expected, found=str(mode), where=side.place, remedy=mode.instead)


def _refuse_mixed_tracing(first: RecordedStudy, second: RecordedStudy) -> None:
    """Refuse a traced and an untraced study: the cost of tracing would look like a difference."""
    traced = [side.place for side in (first, second) if side.study.telemetry.block_latency]
    if len(traced) == 1:
        raise UsageError(
            "two studies that are both traced, or both untraced",
            found="its requests were traced (block_latency), which costs time; those of the other "
            "were not",
            where=traced[0],
            remedy="run one of them again, with telemetry as in the other",
        )


def _labels(study: Study, excluded: Container[str]) -> tuple[str, ...]:
    labels = (configuration.label for configuration in study.configurations())
    return tuple(label for label in labels if label not in excluded)


def _requested_pair(
    text: str,
    labels: tuple[Sequence[str], Sequence[str]],
    sides: tuple[RecordedStudy, RecordedStudy],
) -> tuple[str, str]:
    """A label may hold an equals sign itself: each of them is tried."""
    parts = text.split("=")
    splits = (("=".join(parts[:n]), "=".join(parts[n:])) for n in range(1, len(parts)))
    for pair in ((text, text), *splits):
        if pair[0] in labels[0] and pair[1] in labels[1]:
            return pair
    known = (f"{side.place} has {', '.join(own)}" for side, own in zip(sides, labels, strict=True))
    raise UsageError(
        "a configuration of both studies, or LABEL=LABEL where the labels differ",
        found=text,
        where="--configuration",
        remedy="; ".join(known),
    )


def _workload_reasons(first: Study, second: Study) -> Iterator[tuple[str, str]]:
    """The label of each workload that cannot be compared, and why."""
    theirs = {workload.label: workload for workload in second.workloads}
    for ours in first.workloads:
        if ours.label not in theirs:
            yield ours.label, f"only the first study has the workload {ours.label}"
        elif reason := _difference(ours, theirs[ours.label]):
            yield ours.label, f"{ours.label} is not the same workload: {reason}"
    own = {workload.label for workload in first.workloads}
    for label in theirs:
        if label not in own:
            yield label, f"only the second study has the workload {label}"


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


def _configuration_reasons(
    labels: tuple[Sequence[str], Sequence[str]], pairs: Sequence[tuple[str, str]]
) -> Iterator[str]:
    for index, which in enumerate(("first", "second")):
        compared = {pair[index] for pair in pairs}
        for label in labels[index]:
            if label not in compared:
                yield f"only the {which} study has the configuration {label}"


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


@dataclass(frozen=True)
class Difference:
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

    sides = [dict(_leaves((), _comparable(each))) for each in (first, second)]
    ways = dict.fromkeys(way for side in sides for way in side)
    found = [Difference(way, *(side.get(way) for side in sides)) for way in ways]
    return tuple(sorted((each for each in found if each.first != each.second), key=weigh))


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
    devices = [_mapping(known[name]) for name in names if name in known]
    if "block_devices" in host:
        lasting: list[JsonValue] = [
            {name: own for name, own in device.items() if name not in _DISK_NUMBERS}
            for device in devices
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
