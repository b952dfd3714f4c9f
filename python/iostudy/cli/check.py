"""``iostudy check``: what a study would do, without doing it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import assert_never

from iostudy.cli import nfs_suggestions
from iostudy.cli.arguments import StudyName
from iostudy.cli.check_search import effort, what
from iostudy.cli.console import print_line, print_table
from iostudy.cli.expected_time import expected_time, span
from iostudy.host.mounts import read_mounts
from iostudy.node.clusters import needs_restarts
from iostudy.node.expected import check_block_latency, check_target, with_expected_levels
from iostudy.node.free_space import needed_bytes
from iostudy.settings import catalog
from iostudy.settings.definition import Cost, Reach
from iostudy.settings.values import AS_FOUND
from iostudy.study import library
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.design import Design
from iostudy.study.model import Study, Validity, WorkloadRequest
from iostudy.study.plan import whole_plots
from iostudy.study.schema import load
from iostudy.study.targets import DirectoryTarget, HdfsTarget, LoopbackTarget, ScratchTarget
from iostudy.study.user import as_user, needs_root
from iostudy.telemetry.rate import DEFAULT_HZ
from iostudy.units import GIB, MIB, format_percent
from iostudy.workloads import catalog as workload_catalog
from iostudy.workloads.written import as_written

_ONE_DISK = "a loop device and a mount"


def check(
    study: StudyName,
) -> None:
    """Validate a study; print its plan, what it changes and how long it takes. Changes nothing."""
    root = os.geteuid() == 0
    asked = with_expected_levels(as_user(load(library.find(study)), root=root))
    if root or not isinstance(asked.target, ScratchTarget):
        # Whether a device is free only root can tell; that the study needs root is told below.
        check_target(asked, Path())
    if root:
        check_block_latency(asked)
    print_line(asked.question)
    for note in (*asked.notes, *nfs_suggestions.told(asked, read_mounts())):
        print_line(f"note: {note}")
    lacking = [] if root else [("needs root", f"to {need}") for need in needs_root(asked)]
    print_table(("", ""), [*_what(asked), *_changes(asked), *lacking, *_effort(asked)])


def _what(study: Study) -> list[tuple[str, str]]:
    levels = [(f.name, ", ".join(v.label for v in f.levels) or "offered") for f in study.factors]
    varied = (
        what(study, study.search) if study.search is not None else [*levels, *_chosen_of(study)]
    )
    curves = groupby(study.workloads, key=lambda request: request.listed_as)
    workloads = [line for _, levels in curves for line in _workload(list(levels))]
    decide = study.decide
    return [
        ("target", study.describe_target()),
        *_cluster(study),
        *varied,
        *workloads,
        ("margin", f"{format_percent(decide.margin)}: smaller differences do not matter"),
        ("risk", f"{format_percent(decide.risk)} of any wrong verdict in the whole study"),
        *(("weight", f"{label}: {weight:g}") for label, weight in decide.weights.items()),
        *_validity(study.validity),
        *_telemetry(study.telemetry_hz),
    ]


def _validity(validity: Validity) -> list[tuple[str, str]]:
    """The disturbances that exclude a trial, and those that the report only shows."""
    limits = ", ".join(f"{name} {format_percent(own)}" for name, own in validity.limits.items())
    covariates = ", ".join(validity.covariates)
    return [
        *([("limits", f"{limits}: a trial beyond one does not count")] if limits else []),
        *([("covariates", f"{covariates}: reported, no trial is excluded")] if covariates else []),
    ]


def _telemetry(hz: float) -> list[tuple[str, str]]:
    """How often the machine is sampled, where the study says so."""
    return [] if hz == DEFAULT_HZ else [("telemetry", f"{hz:g} samples a second")]


def _chosen_of(study: Study) -> list[tuple[str, str]]:
    return [
        ("configuration", f"{c.label}: {_pairs(c.levels) or 'the first level of each'}")
        for c in study.chosen
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


def _workload(levels: Sequence[WorkloadRequest]) -> list[tuple[str, str]]:
    """One workload, at all levels of its load where it has one."""
    request = levels[0]
    figure = request.figure
    better = "higher" if figure.higher_is_better else "lower"
    loads = [each.load for each in levels if each.load]
    each = f"{', '.join(load.text for load in loads)}; compared at each, and a curve over all"
    return [
        ("workload", f"{request.listed_as}: {_chosen(request)}"),
        *(("load", f"{load.option} of {each}") for load in loads[:1]),
        ("", f"its {figure.name} in {figure.unit} decides; {better} is better"),
    ]


def _chosen(request: WorkloadRequest) -> str:
    """The options that are not their defaults, but for the load."""
    written = as_written(request.options, with_defaults=False)
    load = request.load.option if request.load else ""
    chosen = _pairs({name: value for name, value in written.items() if name != load})
    name = "" if request.listed_as == request.name else f"{request.name} with "
    return name + (f"{chosen}, and defaults" if chosen else "its defaults")


def _changes(study: Study) -> list[tuple[str, str]]:
    settings = [factor for factor in study.factors if factor.kind is FactorKind.SETTING]
    changes = [_change(factor) for factor in settings]
    match study.target:
        case LoopbackTarget(beside=beside):
            many = f"{1 + len(beside)} loop devices and mounts"
            changes.append(f"{many if beside else _ONE_DISK}, removed at the end")
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
    if study.search is not None:
        return effort(study, study.search)
    configurations = study.configurations()
    in_a_round = len(configurations) * len(study.workloads)
    spec = study.hadoop if study.starts_hadoop else None
    used = sum(needed_bytes(r, c, spec) for r in study.workloads for c in configurations)
    blocks = study.decide.min_blocks, study.decide.max_blocks
    each = f"a trial under each of the {len(configurations)} configurations"
    at_load = " at each load" if any(own.load for own in study.workloads) else ""
    return [
        *(_design(study, study.design) if study.design else [("baseline", study.baseline.label)]),
        ("blocks", f"{span(map(str, blocks))} of each workload{at_load}; a block is {each}"),
        (
            "trials",
            span(f"{number * in_a_round} (files of {_about(number * used)})" for number in blocks),
        ),
        *_formats(study),
        *_restarts(study),
        ("time", expected_time(study, blocks)),
    ]


def _design(study: Study, design: Design) -> list[tuple[str, str]]:
    """The design, what it cannot tell, and its runs."""
    # Here and not above: the report's values take most of a second to load.
    from iostudy.report.screening import aliases

    mixed = aliases(study, design)
    told = "; ".join(f"{a.level} with {', '.join(a.interactions[:3])}" for a in mixed[:3])
    more = f" (of {len(mixed[0].interactions)}), ..." if mixed else ""
    known = (
        f"effects are mixed with interactions of other factors: {told}{more}"
        if mixed
        else ("no effect is mixed with an interaction of two factors")
    )
    runs = study.configurations()
    return [
        ("design", f"{design.describe()}: {len(runs)} runs; {known}"),
        *((f"run {number}", run.label) for number, run in enumerate(runs, start=1)),
    ]


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
    times = span(
        str(number * each) for number in (study.decide.min_blocks, study.decide.max_blocks)
    )
    anew = "all daemons before each trial on the cluster, and before its data are made"
    return [("restarts", f"{times}: {anew}; the time does not count them")]


def _about(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.1f} GiB" if size_bytes >= GIB else f"{size_bytes / MIB:.0f} MiB"


def _pairs(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())
