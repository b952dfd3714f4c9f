"""``iostudy check``: what a study would do, without doing it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, assert_never

import typer

from iostudy.cli.console import print_line, print_table
from iostudy.node.clusters import needs_restarts
from iostudy.node.expected import check_target, with_expected_levels
from iostudy.node.room import needed_bytes
from iostudy.settings import catalog
from iostudy.settings.definition import Cost, Reach
from iostudy.settings.values import AS_FOUND
from iostudy.study import library
from iostudy.study.model import Factor, FactorKind, Study, WorkloadRequest
from iostudy.study.plan import whole_plots
from iostudy.study.requests import trials
from iostudy.study.schema import load
from iostudy.study.targets import DirectoryTarget, HdfsTarget, LoopbackTarget, ScratchTarget
from iostudy.study.user import as_user, needs_root
from iostudy.units import GIB, MIB, format_percent, format_seconds
from iostudy.workloads import catalog as workload_catalog
from iostudy.workloads.written import as_written

# An estimate needs some speed. This is a modest SSD's; the output says that it is assumed.
ASSUMED_MIB_PER_SECOND = 500


def check(
    study: Annotated[str, typer.Argument(help="A study file, or the name of a ready-made study.")],
) -> None:
    """Validate a study; print its plan, what it changes and how long it takes. Changes nothing."""
    root = os.geteuid() == 0
    asked = with_expected_levels(as_user(load(library.find(study)), root=root))
    if root or not isinstance(asked.target, ScratchTarget):
        # Whether a device is free only root can tell; that the study needs root is told below.
        check_target(asked, Path())
    print_line(asked.question)
    for note in asked.notes:
        print_line(f"note: {note}")
    lacking = [] if root else [("needs root", f"to {need}") for need in needs_root(asked)]
    print_table(("", ""), [*_what(asked), *_changes(asked), *lacking, *_effort(asked)])


def _what(study: Study) -> list[tuple[str, str]]:
    levels = [(f.name, ", ".join(v.label for v in f.levels) or "offered") for f in study.factors]
    chosen = [
        ("configuration", f"{c.label}: {_pairs(c.levels) or 'the first level of each'}")
        for c in study.chosen
    ]
    workloads = [line for request in study.workloads for line in _workload(request)]
    decide = study.decide
    return [
        ("target", study.describe_target()),
        *_cluster(study),
        *levels,
        *chosen,
        *workloads,
        ("margin", f"{format_percent(decide.margin)}: smaller differences do not matter"),
        ("risk", f"{format_percent(decide.risk)} of any wrong verdict in the whole study"),
        *(("weight", f"{label}: {weight:g}") for label, weight in decide.weights.items()),
    ]


def _cluster(study: Study) -> list[tuple[str, str]]:
    """The cluster that is started; nothing where none is, or where it is there already."""
    if not study.starts_hadoop:
        return []
    spec = study.hadoop
    places = {"data": spec.data_dirs, "the NameNode's journal": spec.name_dirs}
    if not spec.dirs:
        places = {"all of it": ()}
    told = [f"{what} in {_where(dirs)}" for what, dirs in places.items()]
    properties = [("", f"with {_pairs(spec.properties)}")] if spec.properties else []
    return [("cluster", spec.describe()), ("", "; ".join(told)), *properties]


def _where(directories: Sequence[Path]) -> str:
    return ", ".join(map(str, directories)) or "the work folder on the target"


def _workload(request: WorkloadRequest) -> list[tuple[str, str]]:
    figure = request.figure
    better = "higher" if figure.higher_is_better else "lower"
    return [
        ("workload", f"{request.label}: {_chosen(request)}"),
        ("", f"its {figure.name} in {figure.unit} decides; {better} is better"),
    ]


def _chosen(request: WorkloadRequest) -> str:
    """The options that are not their defaults."""
    chosen = _pairs(as_written(request.options, with_defaults=False))
    name = "" if request.label == request.name else f"{request.name} with "
    return name + (f"{chosen}, and defaults" if chosen else "its defaults")


def _changes(study: Study) -> list[tuple[str, str]]:
    settings = [factor for factor in study.factors if factor.kind is FactorKind.SETTING]
    changes = [_change(factor) for factor in settings]
    match study.target:
        case LoopbackTarget():
            changes.append("a loop device and a mount, removed at the end")
        case ScratchTarget(device):
            changes.append(f"ALL DATA ON {device} ARE DESTROYED: it is formatted")
        case HdfsTarget(uri):
            changes.append(f"a folder in {uri}, removed at the end")
        case DirectoryTarget():
            pass
    if study.starts_hadoop:
        changes.append("a Hadoop cluster on 127.0.0.1, ended and removed at the end")
    cautions = [(f.name, catalog.get(f.name).caution) for f in settings if not _is_left(f)]
    return [
        *(("changes", change) for change in changes or ["nothing but files of its own"]),
        *(("caution", f"{name}: {caution}") for name, caution in cautions if caution),
    ]


def _is_left(factor: Factor) -> bool:
    return {level.value for level in factor.levels} == {AS_FOUND}


def _change(factor: Factor) -> str:
    """What a factor changes where, by which means and how often."""
    definition = catalog.get(factor.name)
    place = "the target" if definition.reach.needs_place else definition.reach
    only = f" while {factor.condition}" if factor.condition else ""
    where = f"{factor.name} of {', '.join(factor.on) or place}{only}"
    if _is_left(factor):
        return f"{where}: left as found, and read in each trial"
    match definition.cost:
        case Cost.CHEAP if definition.reach is Reach.CLUSTER:
            return f"{factor.name}, given to the jobs of each trial"
        case Cost.CHEAP:
            return f"{where}, for each trial, and put back after it"
        case Cost.REMOUNT:
            return f"{where}, by a remount for each trial, and put back after it"
        case Cost.RESTART:
            return f"{where}, by a restart of its daemons before each trial"
        case Cost.FORMAT:
            return f"{where}, by a new file system, as rarely as the plan allows"
        case unreachable:
            assert_never(unreachable)


def _effort(study: Study) -> list[tuple[str, str]]:
    if study.awaiting_offer():
        return [("effort", "known when the host has been asked what it offers")]
    configurations = study.configurations()
    in_a_round = len(configurations) * len(study.workloads)
    spec = study.hadoop if study.starts_hadoop else None
    used = sum(needed_bytes(r, c, spec) for r in study.workloads for c in configurations)
    blocks = study.decide.min_blocks, study.decide.max_blocks
    each = f"a trial under each of the {len(configurations)} configurations"
    return [
        ("baseline", study.baseline.label),
        ("blocks", f"{_span(map(str, blocks))} of each workload; a block is {each}"),
        (
            "trials",
            _span(f"{number * in_a_round} (files of {_about(number * used)})" for number in blocks),
        ),
        *_formats(study),
        *_restarts(study),
        ("time", _time(study, blocks)),
    ]


def _time(study: Study, blocks: Sequence[int]) -> str:
    """Of the trials whose time can be told before; which workloads are not among them."""
    speed = ASSUMED_MIB_PER_SECOND * MIB
    expected = [
        (request.label, workload.expected_seconds(speed))
        for request, workload in trials(study.workloads, study.configurations())
    ]
    unknown = ", ".join(dict.fromkeys(label for label, seconds in expected if seconds is None))
    known = sum(seconds for _, seconds in expected if seconds is not None)
    times = _span(format_seconds(number * known) for number in blocks)
    told = f"{times}, if the storage moves {ASSUMED_MIB_PER_SECOND} MiB/s" if known else ""
    beside = f"nobody can tell that of {unknown} before" if unknown else ""
    return "; ".join(filter(None, (told, beside)))


def _span(ends: Iterable[str]) -> str:
    """From the fewest to the most; one of them where they are the same."""
    return " to ".join(dict.fromkeys(ends))


def _formats(study: Study) -> list[tuple[str, str]]:
    """How often a file system is made; nothing where the study varies none."""
    plots = whole_plots(study.configurations())
    if not plots[0][0].whole_plot:
        return []
    each = len(plots) * len(study.workloads)
    fewest, most = each * study.decide.min_blocks, each * study.decide.max_blocks
    anew = (
        f"{len(plots)} beforehand, then {fewest} to {most}: each made anew in every block, with "
        "the data that its reads need; the time does not count what mkfs writes "
        "(about 1/64 of the disk for ext)"
    )
    return [("file systems", anew)]


def _restarts(study: Study) -> list[tuple[str, str]]:
    """How often the cluster's daemons are restarted; nothing where its trials need none."""
    jobs = [each for each in study.workloads if workload_catalog.get(each.name).needs_hadoop]
    if not jobs or not needs_restarts(study.factors):
        return []
    each = len(jobs) * len(study.configurations())
    times = _span(
        str(number * each) for number in (study.decide.min_blocks, study.decide.max_blocks)
    )
    anew = "all daemons before each trial on the cluster, and before its data are made"
    return [("restarts", f"{times}: {anew}; the time does not count them")]


def _about(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.1f} GiB" if size_bytes >= GIB else f"{size_bytes / MIB:.0f} MiB"


def _pairs(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())
