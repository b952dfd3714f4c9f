"""``iostudy check --json``: its document, in the form that ``check.schema.json`` describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from iostudy.cli.expected_time import assumed_speed, estimate_block_seconds
from iostudy.node.data_volume import estimate_volume
from iostudy.report.base import Value
from iostudy.study.mode import WINDOWS, describe_mode, find_mode
from iostudy.study.model import Study
from iostudy.units import MIB
from iostudy.workloads.option_text import format_options


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

    schema_name: Literal["iostudy.check/1"] = Field(
        default="iostudy.check/1", serialization_alias="schema"
    )
    """Name and version of this form."""
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
        mode=describe_mode(study) if find_mode(study) is WINDOWS else "whole trials",
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
