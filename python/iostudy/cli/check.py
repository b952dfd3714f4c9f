"""``iostudy check``: validate a study and print its plan."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from iostudy.cli.arguments import Json, StudyName, StudyOut, UnsafeFolders
from iostudy.cli.console import print_json, print_line, print_table
from iostudy.cli.mode_text import (
    assumed_speed,
    estimate_block_seconds,
    find_mode_text,
    format_pairs,
)
from iostudy.cli.output_folder import find_output_folder, load_study
from iostudy.cli.plan_lines import describe_cautions, describe_changes, describe_plan, wrap_plan
from iostudy.folders import require_safe_folder
from iostudy.host.mounts import Mount, find_mount
from iostudy.node.expected import (
    check_block_latency,
    check_target,
    find_lock_warnings,
    require_programs,
    with_expected_levels,
)
from iostudy.node.free_space import estimate_volume
from iostudy.node.targets.driver import find_driver
from iostudy.report.base import Value, declare_schema
from iostudy.storage_kind import find_storage_kind
from iostudy.study.mode import describe_mode, find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.privileges import list_root_requirements
from iostudy.study.requests import find_unsynced_latencies
from iostudy.study.sections import DecisionMode, Validity
from iostudy.study.targets.target import Target
from iostudy.telemetry.rate import DEFAULT_HZ
from iostudy.units import MIB, format_percent
from iostudy.workloads.option_text import format_options


def check(
    study: StudyName,
    out: StudyOut = None,
    unsafe_folders: UnsafeFolders = False,
    full: Annotated[bool, typer.Option("--full", help="Print the whole plan.")] = False,
    json: Json = False,
) -> None:
    """Validate a study; print its plan, changes and time.

    The command changes nothing. Warnings name levels that this host lacks, ignores or changes.
    """
    root = os.geteuid() == 0
    loaded = load_study(study)
    planned = with_expected_levels(loaded if root else loaded.without_root())
    folder = find_output_folder(planned.name, out, resume=False)
    busy, owner = check_host(planned, folder, root=root, unsafe_folders=unsafe_folders)
    further = find_unsynced_latencies(planned)
    warnings = (*busy, *find_driver(planned.target).find_warnings(planned), *further)
    notes = (*planned.notes, *owner)
    needs = () if root else tuple(list_root_requirements(planned))
    if json:
        print_json(build_document(planned, notes, warnings, needs))
        return
    remarks = (*(f"warning: {text}" for text in warnings), *(f"note: {text}" for text in notes))
    lacking = [("needs root", f"to {need}") for need in needs]
    if full:
        print_line(planned.question)
        for remark in remarks:
            print_line(remark)
        effort = [("effort", "known once the host reports the levels that it offers")]
        if not planned.awaiting_offer():
            effort = find_mode_text(planned).describe_effort(planned)
        print_table(
            ("", ""),
            [
                *_describe_study(planned),
                *describe_changes(planned),
                *describe_cautions(planned),
                *lacking,
                *effort,
            ],
        )
        return
    for line in wrap_plan([*describe_plan(planned), *lacking], (planned.question, *remarks)):
        print_line(line)


def check_host(
    study: Study, folder: Path, *, root: bool, unsafe_folders: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Refuse what `run` would refuse on this host; return warnings and notes."""
    require_programs(study)
    if not study.target.predicts:
        require_safe_folder(folder, insist=unsafe_folders)
    busy: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    if root or not study.target.destroyed:
        # Only root can see whether devices are free; the plan says that root is needed.
        owner = check_target(study, Path(), unsafe_folders=unsafe_folders)
        busy = find_lock_warnings(study)
    if root:
        check_block_latency(study)
    return busy, owner


def _describe_study(study: Study) -> list[tuple[str, str]]:
    text = find_mode_text(study)
    hz = study.telemetry.hz
    curves = groupby(study.workloads, key=lambda request: request.listed_as)
    varied_options = {factor.option for factor in study.factors}
    workloads = [
        line for _, loads in curves for line in _describe_workload(list(loads), varied_options)
    ]
    spec = study.service_spec if study.starts_service else None
    parts = spec.describe_parts() if spec else ()
    return [
        ("target", study.describe_target()),
        *_describe_mounts(study.target),
        *[("" if index else "cluster", part) for index, part in enumerate(parts)],
        *text.describe_varied(study),
        *workloads,
        ("margin", f"{format_percent(study.decide.margin)}: smaller differences do not matter"),
        ("risk", f"{format_percent(study.decide.risk)} of any wrong verdict in the whole study"),
        *(("weight", f"{label}: {weight:g}") for label, weight in study.decide.weights.items()),
        *_describe_goal(study),
        *(
            [("compares", describe_mode(study))]
            if study.decide.mode is not DecisionMode.TRIALS
            else []
        ),
        *_describe_validity(study.validity),
        *([("telemetry", f"{hz:g} samples a second")] if hz != DEFAULT_HZ else []),
        *([("limit", limit)] if (limit := study.limit.describe()) else []),
        *((name, section.describe()) for name, section in study.command_sections.items()),
    ]


def _describe_mounts(target: Target) -> list[tuple[str, str]]:
    """Return a line for each compared directory with its mount; not for a missing directory."""
    requests = target.mount_requests
    return [
        (
            f"on {name}",
            f"{requests[name].describe()}, which the study mounts at {requests[name].point}"
            if name in requests
            else _describe_mount(find_mount(path)),
        )
        for name, path in target.compared.items()
        if path.is_dir()
    ]


def _describe_mount(mount: Mount) -> str:
    kind = find_storage_kind(mount.filesystem, mount.source)
    options = ",".join(dict.fromkeys((*mount.options, *mount.super_options)))
    return f"{mount.filesystem} of {mount.source} at {mount.point} ({kind}): {options}"


def _describe_goal(study: Study) -> list[tuple[str, str]]:
    """Describe what `recommend` requires, where the study file declares it."""
    lines, decide = list[tuple[str, str]](), study.decide
    if decide.goal is not None:
        goal = f"better on {' or '.join(study.goal.better)}"
        if study.goal.not_worse:
            goal += f", and not worse on {' and '.join(study.goal.not_worse)}"
        lines.append(("goal", goal))
    if decide.rare is not None:
        rare = f"slow runs of both must be rarer than {format_percent(decide.rare)}"
        lines.append(("rare", f"{rare} for equivalent and not worse"))
    return lines


def _describe_validity(validity: Validity) -> list[tuple[str, str]]:
    """List the disturbances that exclude a trial, and those that are only reported."""
    limits = ", ".join(f"{name} {format_percent(limit)}" for name, limit in validity.limits.items())
    covariates = ", ".join(validity.covariates)
    return [
        *([("limits", f"{limits}: a trial beyond one does not count")] if limits else []),
        *([("covariates", f"{covariates}: reported, no trial is excluded")] if covariates else []),
    ]


def _describe_workload(
    levels: Sequence[WorkloadRequest], varied: Collection[str]
) -> list[tuple[str, str]]:
    """Describe one workload with all levels of its load, if it has one; ``varied`` are options."""
    request = levels[0]
    figure = request.figure
    better = "higher" if figure.higher_is_better else "lower"
    loads = [level.load for level in levels if level.load]
    text = f"{', '.join(load.text for load in loads)}; compared at each, and a curve over all"
    given = format_options(request.options, with_defaults=False)
    others = {*varied, request.load.option if request.load else ""}
    options = {name: value for name, value in given.items() if name not in others}
    return [
        ("workload", f"{request.listed_as}: {_describe_options(request, options)}"),
        *(("", text) for text in _list_script_lines(options)),
        *(("load", f"{load.option} of {text}") for load in loads[:1]),
        ("", f"its {figure.name} in {figure.unit} decides; {better} is better"),
        *(
            ("", f"its {guard.name} in {guard.unit} must not get worse by the margin")
            for guard in request.figures[1:]
        ),
    ]


def _describe_options(request: WorkloadRequest, options: Mapping[str, str]) -> str:
    """Format the options that differ from their defaults; of a script its length."""
    scripts = {
        name: f"(script of {len(lines)} lines)"
        for name, value in options.items()
        if len(lines := value.splitlines()) > 1
    }
    chosen = format_pairs({**options, **scripts})
    name = "" if request.listed_as == request.name else f"{request.name} with "
    return name + (f"{chosen}, and defaults" if chosen else "its defaults")


def _list_script_lines(options: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of every option that has several, each with the name of its option."""
    for name, value in options.items():
        lines = value.splitlines()
        if len(lines) > 1:
            yield from (f"{name}: {line}" for line in lines)


class CheckedFactor(Value):
    """A factor; ``levels`` are empty if only a run can read what the host offers."""

    name: str
    """Name of the factor."""
    levels: list[str]
    """Labels of its levels."""
    on: list[str]
    """Disks or mounts of the target that it concerns; empty for all."""


class CheckedWorkload(Value):
    """A workload, with all its options as understood and the figure that decides."""

    label: str
    """Label of the workload."""
    name: str
    """Name of the workload in the catalog."""
    options: dict[str, str]
    """All its options by name, as a study file has them."""
    figure: str
    """Name of the figure that decides."""
    unit: str
    """Unit of the figure."""
    higher_is_better: bool
    """Whether a higher figure is better."""
    guards: list[str]
    """Names of the other figures, which must not get worse."""


class EffortReport(Value):
    """Size of a study; each pair is (minimum, maximum).

    ``written_bytes`` and ``seconds`` exclude the workloads in ``unknown_writes`` and
    ``unknown_seconds``. ``seconds`` assume storage that moves ``assumed_mib_per_second``.
    """

    configurations: list[str]
    """Labels of the configurations, the baseline first."""
    baseline: str
    """Label of the baseline."""
    blocks: tuple[int, int]
    """Blocks of each workload."""
    trials: tuple[int, int]
    """Trials of all workloads."""
    peak_bytes: int
    """Largest space of files at one time, in bytes."""
    written_bytes: tuple[int, int]
    """Bytes written in all."""
    unknown_writes: list[str]
    """Workloads of which the written bytes are unknown."""
    seconds: tuple[float, float]
    """Expected duration in seconds."""
    unknown_seconds: list[str]
    """Workloads of which the duration is unknown."""
    assumed_mib_per_second: float
    """Assumed rate of the storage in MiB/s."""


class CheckReport(Value):
    """A valid study; ``margin`` and ``risk`` are shares of 1."""

    schema_name: Literal["iostudy.check/1"] = declare_schema("iostudy.check/1")
    study: str
    """Name of the study: that of its file."""
    question: str
    """Question of the study file."""
    target: str
    """Description of the target."""
    mode: str
    """Whether whole trials or windows are compared."""
    factors: list[CheckedFactor]
    """Factors in the order of the file."""
    workloads: list[CheckedWorkload]
    """Workloads in the order of the file."""
    margin: float
    """Largest difference that does not matter, as a fraction."""
    risk: float
    """Probability of any wrong verdict, as a fraction."""
    effort: EffortReport | None
    """Size of the study; null for studies of windows and for searches."""
    needs_root: list[str]
    """Changes that need root."""
    notes: list[str]
    """Remarks on the study as it runs for this user."""
    warnings: list[str]
    """Levels that the host lacks, ignores or changes, and latencies that exclude syncs."""


def build_document(
    study: Study, notes: Sequence[str], warnings: Sequence[str], needs_root: Sequence[str]
) -> dict[str, Any]:
    """The document as plain values."""
    report = CheckReport(
        study=study.name,
        question=study.question,
        target=study.describe_target(),
        mode=describe_mode(study) if find_mode(study).measures_windows else "whole trials",
        factors=[
            CheckedFactor(name=f.name, levels=[v.label for v in f.levels], on=list(f.on))
            for f in study.factors
        ],
        workloads=[
            CheckedWorkload(
                label=request.label,
                name=request.name,
                options=format_options(request.options),
                figure=request.figure.name,
                unit=request.figure.unit,
                higher_is_better=request.figure.higher_is_better,
                guards=[guard.name for guard in request.figures[1:]],
            )
            for request in study.workloads
        ],
        margin=study.decide.margin,
        risk=study.decide.risk,
        effort=_build_effort(study),
        needs_root=list(needs_root),
        notes=list(notes),
        warnings=list(warnings),
    )
    return report.model_dump(by_alias=True, mode="json")


def _build_effort(study: Study) -> EffortReport | None:
    if study.awaiting_offer() or not find_mode(study).plans_trials:
        return None
    configurations, volume = study.configurations(), estimate_volume(study)
    seconds, unknown = estimate_block_seconds(study)
    fewest, most = study.decide.min_blocks, study.decide.max_blocks
    trials = len(configurations) * len(study.workloads)
    return EffortReport(
        configurations=[configuration.label for configuration in configurations],
        baseline=study.baseline.label,
        blocks=(fewest, most),
        trials=(fewest * trials, most * trials),
        peak_bytes=volume.peak_bytes,
        written_bytes=(fewest * volume.block_bytes, most * volume.block_bytes),
        unknown_writes=list(volume.unknown),
        seconds=(fewest * seconds, most * seconds),
        unknown_seconds=list(unknown),
        assumed_mib_per_second=assumed_speed(study) / MIB,
    )
