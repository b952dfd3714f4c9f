"""Text about the factors, the blocks and the time of a study, by its mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from iostudy.analysis.search.space import Choices, Parameter, Range
from iostudy.analysis.switchback.window_plan import FEWEST_BLOCKS, count_blocks
from iostudy.cli.expected_time import format_expected_time, format_range
from iostudy.node.clusters import needs_restarts
from iostudy.node.data_volume import estimate_volume
from iostudy.report.formatting import format_count
from iostudy.settings import catalog
from iostudy.study.candidates import format_point
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.mode import Mode, find_mode
from iostudy.study.model import Study
from iostudy.study.plan import whole_plots
from iostudy.study.search import SLOTS, Search, TimeBudget, TrialBudget
from iostudy.units import format_percent, format_rounded_size, format_seconds, format_size
from iostudy.workloads import catalog as workload_catalog

Lines = list[tuple[str, str]]
"""Lines of a head and a text."""
_USUAL_SHARE = 0.9
_MAX_COUNTED_POINTS = 1_000_000
"""Larger spaces are reported as larger than this."""


def _describe_space(study: Study) -> Lines:
    """Describe every parameter with domain and default, the points tried first, and the bound."""
    search = _find_search(study)
    searched = {parameter.name: parameter for parameter in search.space.parameters}
    worst = "" if search.worst is None else format_percent(search.worst)
    return [
        *((f.name, _describe_factor(study, f, searched.get(f.name))) for f in study.factors),
        ("space", f"{_describe_size(search)}, {_describe_default(search)}"),
        *(
            ("tried first", f"{label}: {', '.join(f'{k}={v}' for k, v in values.items())}")
            for label, values in ((n, format_point(study, p)) for n, p in search.tries.items())
        ),
        *([("worst", f"no workload may lose more than {worst}")] if worst else []),
    ]


def _describe_search(study: Study) -> Lines:
    """Describe trials and time of the search, and of the confirmation after it."""
    search, workloads, decide = _find_search(study), len(study.workloads), study.decide
    blocks = decide.min_blocks, decide.max_blocks
    round_ = f"a round is a trial of the default and of up to {SLOTS} candidates on each workload"
    # Assumes that the winner takes as long as the default.
    numbers = format_range(str(2 * number * workloads) for number in blocks)
    confirmed = format_expected_time(study, [2 * number for number in blocks])
    return [
        ("budget", f"{search.budget}, valid ones only; {round_}"),
        ("time", _describe_search_time(study)),
        (
            "confirmation",
            f"{numbers} trials of default and winner in fresh blocks, if a candidate leads",
        ),
        ("its time", confirmed),
    ]


def _describe_default(search: Search) -> str:
    return "and the default" if search.default is None else "the default among them"


def _describe_factor(study: Study, factor: Factor, parameter: Parameter | None) -> str:
    default = factor.levels[0].label
    if parameter is None:
        return f"{default}, fixed"
    return f"{_describe_domain(study, parameter, _unit(factor))}; default {default}"


def _describe_domain(study: Study, parameter: Parameter, unit: str) -> str:
    match parameter.domain:
        case Choices(names):
            return ", ".join(names)
        case Range() as range_:
            low, high = (
                format_point(study, {parameter.name: range_.text(multiple)})[parameter.name]
                for multiple in (range_.first, range_.last)
            )
            ends = f"{low} to {high} {unit}".strip()
            is_size = low != range_.text(range_.first)
            step = format_size(int(range_.step)) if is_size else f"{range_.step:g}"
            steps = f" in steps of {step}" if range_.step != 1 else ""
            return ends + steps + (", on a logarithmic scale" if range_.log else "")
        case unreachable:
            assert_never(unreachable)


def _unit(factor: Factor) -> str:
    return catalog.get(factor.name).unit if factor.kind is FactorKind.SETTING else ""


def _describe_size(search: Search) -> str:
    size = search.space.size
    return (
        f"{size} points"
        if size <= _MAX_COUNTED_POINTS
        else f"more than {_MAX_COUNTED_POINTS} points"
    )


def _describe_search_time(study: Study) -> str:
    """Describe the time of the search without its confirmation."""
    search = _find_search(study)
    match search.budget:
        case TrialBudget(trials):
            return format_expected_time(study, [trials / len(study.workloads)])
        case TimeBudget():
            return f"{search.budget}, and the time between them"
        case unreachable:
            assert_never(unreachable)


def _describe_factors(study: Study) -> Lines:
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


def _describe_planned(study: Study) -> Lines:
    """Describe the blocks and trials of a study that plans them, and what they cost."""
    in_a_round = len(study.configurations()) * len(study.workloads)
    blocks = study.decide.min_blocks, study.decide.max_blocks
    each = f"a trial under each of the {len(study.configurations())} configurations"
    at_load = " at each load" if any(own.load for own in study.workloads) else ""
    return [
        (
            "blocks",
            f"{format_range(map(str, blocks))} of each workload{at_load}; a block is {each}",
        ),
        ("trials", format_range(str(number * in_a_round) for number in blocks)),
        *([] if study.target.predicts else _describe_cost(study, blocks)),
    ]


def _describe_trials(study: Study) -> Lines:
    blocks, *others = _describe_planned(study)
    orders = _describe_orders(study.decide.max_blocks)
    return [("baseline", study.baseline.label), blocks, *orders, *others]


def _describe_screening(study: Study) -> Lines:
    return [*_describe_design(study), *_describe_planned(study)]


def _describe_orders(blocks: int) -> Lines:
    """Say how seldom so few blocks have the orders that a verdict needs."""
    # Imported here: numpy takes a fifth of a second to load.
    from iostudy.analysis.decision import MIN_ORDERS

    possible = sum(math.comb(blocks, first) for first in range(MIN_ORDERS, blocks - MIN_ORDERS + 1))
    share = possible / 2**blocks
    if share > _USUAL_SHARE:
        return []
    text = (
        f"in {format_percent(share)} of studies of so few, each of two runs twice before the other"
    )
    return [("", f"{text}; without that, no verdict")]


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


def _describe_design(study: Study) -> Lines:
    """Describe the design, its aliases and its runs."""
    # Imported here: the report's values take most of a second to load.
    from iostudy.report.topics.screening import find_aliases

    assert study.design is not None
    design = study.design
    confounded = find_aliases(study, design)
    pairs = "; ".join(f"{a.level} with {', '.join(a.interactions[:3])}" for a in confounded[:3])
    more = f" (of {len(confounded[0].interactions)}), ..." if confounded else ""
    aliases = (
        f"effects are aliased with interactions of other factors: {pairs}{more}"
        if confounded
        else ("no effect is aliased with an interaction of two factors")
    )
    runs = study.configurations()
    return [
        ("design", f"{design.describe()}: {len(runs)} runs; {aliases}"),
        *((f"run {number}", run.label) for number, run in enumerate(runs, start=1)),
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
    each = len(plots) * len(study.workloads)
    fewest, most = each * study.decide.min_blocks, each * study.decide.max_blocks
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
    jobs = [each for each in study.workloads if workload_catalog.get(each.name).needs_hadoop]
    if not jobs or not needs_restarts(study.target, study.factors):
        return []
    each = len(jobs) * len(study.configurations())
    times = format_range(
        str(number * each) for number in (study.decide.min_blocks, study.decide.max_blocks)
    )
    anew = "all daemons before each trial on the cluster, and before its data are made"
    return [("restarts", f"{times}: {anew}; the time excludes them")]


def _describe_planned_time(study: Study) -> str:
    """Time, blocks and configurations."""
    blocks = study.decide.min_blocks, study.decide.max_blocks
    configurations, workloads = len(study.configurations()), len(study.workloads)
    each = f"{format_range(map(str, blocks))} blocks of {configurations} trials"
    of_each = f"{each} of each of {workloads} workloads" if workloads > 1 else each
    time = format_expected_time(study, blocks)
    return f"{of_each}: {time}" if time else of_each


def _describe_window_time(study: Study) -> str:
    return f"at most {format_seconds(study.decide.time)} of windows for each workload"


def _describe_budget(study: Study) -> str:
    budget = _find_search(study).budget
    return f"{budget} and a confirmation: {_describe_search_time(study)}"


def _describe_blocks(study: Study) -> str:
    configurations = format_count(len(study.configurations()), "configuration")
    workloads = format_count(len(study.workloads), "workload")
    return f"{configurations} x {workloads}, up to {study.last_block} blocks"


def _describe_parameters(study: Study) -> str:
    search = _find_search(study)
    parameters = format_count(len(search.space.parameters), "parameter")
    workloads = format_count(len(study.workloads), "workload")
    return f"a search of {parameters} for {search.budget}, {workloads}"


def format_pairs(options: Mapping[str, str]) -> str:
    """Format ``name=value`` pairs."""
    return ", ".join(f"{name}={value}" for name, value in options.items())


def _find_search(study: Study) -> Search:
    assert study.search is not None
    return study.search


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


_TEXTS: Mapping[Mode, ModeText] = {
    Mode.TRIALS: ModeText(
        _describe_factors, _describe_trials, _describe_planned_time, _describe_blocks
    ),
    Mode.WINDOWS: ModeText(
        _describe_factors, _describe_windows, _describe_window_time, _describe_blocks, "windows"
    ),
    Mode.SCREENING: ModeText(
        _describe_factors, _describe_screening, _describe_planned_time, _describe_blocks
    ),
    Mode.SEARCH: ModeText(
        _describe_space, _describe_search, _describe_budget, _describe_parameters
    ),
}


def find_mode_text(study: Study) -> ModeText:
    """Return what is said of the study's mode."""
    return _TEXTS[find_mode(study)]
