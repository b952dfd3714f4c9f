"""Text about the factors, the blocks and the time of a study, by its mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from iostudy import plugins
from iostudy.analysis.switchback.window_plan import FEWEST_BLOCKS, count_blocks
from iostudy.node.free_space import estimate_volume
from iostudy.node.service import study_restarts_service
from iostudy.report.formatting import format_count
from iostudy.study.combinations import Factor
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.study.plan import whole_plots
from iostudy.study.requests import list_trials
from iostudy.units import MIB, format_rounded_size, format_seconds
from iostudy.workloads import catalog as workload_catalog

Lines = list[tuple[str, str]]
"""Lines of a head and a text."""


def describe_factors(study: Study) -> Lines:
    """Describe every factor, and the configurations that the file names."""
    return [
        *(line for factor in study.factors for line in _describe_levels(factor)),
        *(
            ("configuration", f"{c.label}: {format_pairs(c.levels) or 'the first level of each'}")
            for c in study.chosen
        ),
    ]


def _describe_levels(factor: Factor) -> Lines:
    """List the levels, and the value of each that has a label."""
    labelled = [level for level in factor.levels if level.label != level.value]
    return [
        (factor.name, ", ".join(level.label for level in factor.levels) or "offered"),
        *(("", f"{level.label}: {level.value}") for level in labelled),
    ]


def describe_planned(study: Study) -> Lines:
    """Describe the blocks and trials of a study that plans them, and what they cost."""
    in_a_round = len(study.configurations()) * len(study.workloads)
    blocks = study.decide.min_blocks, study.decide.max_blocks
    trial = f"a trial under each of the {len(study.configurations())} configurations"
    at_load = " at each load" if any(workload.load for workload in study.workloads) else ""
    return [
        (
            "blocks",
            f"{format_range(map(str, blocks))} of each workload{at_load}; a block is {trial}",
        ),
        ("trials", format_range(str(number * in_a_round) for number in blocks)),
        *([] if study.target.predicts else _describe_cost(study, blocks)),
    ]


def _describe_trials(study: Study) -> Lines:
    blocks, *others = describe_planned(study)
    return [("baseline", study.baseline.label), blocks, *others]


def _describe_windows(study: Study) -> Lines:
    return [
        ("baseline", study.baseline.label),
        (
            "blocks",
            (
                f"{FEWEST_BLOCKS} to {count_blocks(study.decide.time)} in about "
                f"{format_seconds(study.decide.time)} of each "
                "workload; each has several windows under each of the "
                f"{len(study.configurations())} configurations"
            ),
        ),
    ]


def _describe_cost(study: Study, blocks: tuple[int, int]) -> Lines:
    """Describe what the blocks take of the storage and of time."""
    files = (*describe_volume(study, blocks), *_describe_formats(study))
    return [*files, *_describe_restarts(study), ("time", format_expected_time(study, blocks))]


def describe_volume(study: Study, blocks: Sequence[int]) -> Lines:
    """Describe the space of the files at one time, and the data written in all blocks."""
    volume = estimate_volume(study)
    unknown = f"not known for {', '.join(volume.unknown)}" if volume.unknown else ""
    peak = f"{format_rounded_size(volume.peak_bytes)} of files at most" if volume.peak_bytes else ""
    total = format_range(format_rounded_size(number * volume.block_bytes) for number in blocks)
    written = f"{total} in all" if volume.block_bytes else ""
    return [
        ("space", peak or "unknown before the run"),
        ("written", "; ".join(filter(None, (written, unknown))) or "nothing"),
    ]


def _describe_formats(study: Study) -> Lines:
    """Count how often a file system or data are made; empty if the study varies neither."""
    plots = whole_plots(study.configurations())
    if not plots[0][0].whole_plot:
        return []
    trials = len(plots) * len(study.workloads)
    fewest, most = trials * study.decide.min_blocks, trials * study.decide.max_blocks
    if study.target.compared:
        times = format_range(map(str, (fewest, most)))
        again = "what reads need is made again in each directory in every block"
        return [("data", f"{times} times: {again}")]
    explanation = (
        f"{len(plots)} beforehand, then {fewest} to {most}: each is recreated in every block, with "
        "the data that its reads need; the time excludes what mkfs writes "
        "(about 1/64 of the disk for ext)"
    )
    return [("file systems", explanation)]


def _describe_restarts(study: Study) -> Lines:
    """Count the restarts of the cluster's daemons; empty if no trial needs one."""
    jobs = [workload for workload in study.workloads if workload_catalog.get(workload.name).service]
    if not study_restarts_service(study):
        return []
    runs = len(jobs) * len(study.configurations())
    times = format_range(
        str(number * runs) for number in (study.decide.min_blocks, study.decide.max_blocks)
    )
    anew = "all daemons before each trial on the cluster, and before its data are made"
    return [("restarts", f"{times}: {anew}; the time excludes them")]


def describe_planned_time(study: Study) -> str:
    """Describe time, blocks and configurations of a study that plans its trials."""
    blocks = study.decide.min_blocks, study.decide.max_blocks
    configurations, workloads = len(study.configurations()), len(study.workloads)
    text = f"{format_range(map(str, blocks))} blocks of {configurations} trials"
    of_each = f"{text} of each of {workloads} workloads" if workloads > 1 else text
    if study.target.predicts:
        return f"{of_each}, on a virtual clock"
    time = format_expected_time(study, blocks)
    return f"{of_each}: {time}" if time else of_each


def _describe_window_time(study: Study) -> str:
    return f"at most {format_seconds(study.decide.time)} of windows for each workload"


def describe_blocks(study: Study) -> str:
    """Describe how many configurations and blocks it has."""
    configurations = format_count(len(study.configurations()), "configuration")
    workloads = format_count(len(study.workloads), "workload")
    return f"{configurations} x {workloads}, up to {study.last_block} blocks"


def format_pairs(options: Mapping[str, str]) -> str:
    """Format ``name=value`` pairs."""
    return ", ".join(f"{name}={value}" for name, value in options.items())


@dataclass(frozen=True)
class ModeText:
    """What is said of a study of a mode.

    - ``describe_varied``: what varies, in lines
    - ``describe_effort``: its blocks and what they take, in lines
    - ``describe_time``: its time, in a few words
    - ``describe_size``: its number of blocks or its budget, in a few words
    - ``measured``: what its ledger records
    """

    describe_varied: Callable[[Study], Lines]
    describe_effort: Callable[[Study], Lines]
    describe_time: Callable[[Study], str]
    describe_size: Callable[[Study], str]
    measured: str = "trials"


TRIALS_TEXT = ModeText(describe_factors, _describe_trials, describe_planned_time, describe_blocks)
WINDOWS_TEXT = ModeText(
    describe_factors, _describe_windows, _describe_window_time, describe_blocks, "windows"
)


def find_mode_text(study: Study) -> ModeText:
    """Return what is said of the study's mode."""
    text: ModeText = plugins.load(find_mode(study).text)
    return text


# An estimate needs some speed. This is a modest SSD's; the output says that it is assumed.
ASSUMED_BYTES_PER_SECOND = 500 * MIB


def format_expected_time(study: Study, blocks: Sequence[float]) -> str:
    """Estimate the time of the trials, and list the workloads without an estimate.

    ``blocks`` are the fewest and the most of each workload.
    """
    seconds, labels = estimate_block_seconds(study)
    unknown = ", ".join(labels)
    times = format_range(format_seconds(number * seconds) for number in blocks)
    speed = format_rounded_size(assumed_speed(study))
    estimate = f"{times}, if the storage moves {speed}/s" if seconds else ""
    unestimated = f"no estimate for {unknown}" if unknown else ""
    return "; ".join(filter(None, (estimate, unestimated)))


def estimate_block_seconds(study: Study) -> tuple[float, tuple[str, ...]]:
    """Return the time of a block in seconds, and the workloads that it excludes."""
    speed = assumed_speed(study)
    expected = [
        (request.label, workload.expected_seconds(speed))
        for request, workload in list_trials(study.workloads, study.configurations())
    ]
    unknown = dict.fromkeys(label for label, seconds in expected if seconds is None)
    return sum(seconds for _, seconds in expected if seconds is not None), tuple(unknown)


def assumed_speed(study: Study) -> int:
    """Return the bytes per second of an estimate, at most the study's limit of the load."""
    return min(ASSUMED_BYTES_PER_SECOND, study.limit.rate or ASSUMED_BYTES_PER_SECOND)


def format_range(ends: Iterable[str]) -> str:
    """Format a range ``A to B``; one value if both are equal."""
    return " to ".join(dict.fromkeys(ends))
