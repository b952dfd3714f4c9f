"""Leave out of a study the levels and configurations that a host refuses."""

from __future__ import annotations

from collections.abc import Mapping

from iostudy.errors import IostudyError, SettingError
from iostudy.node.protocol import Node
from iostudy.study.combinations import (
    FactorKind,
    NamedConfiguration,
    active_levels,
    build_configuration,
)
from iostudy.study.mode import find_mode, has_comparison
from iostudy.study.model import Study
from iostudy.study.sections import Refusal


def without_refused(study: Study, node: Node, *, resumed: bool) -> Study:
    """Leave out what the host refuses, if the study allows it and a comparison remains.

    Otherwise raise the first refusal. A resumed study leaves out nothing further.
    """
    refused = node.preflight(study.workloads, study.configurations())
    if not refused:
        return study
    first = next(iter(refused.values()))
    if resumed or study.refusal is Refusal.STOP or study.baseline.label in refused:
        raise first
    # Combinations of factors are left out as a whole: without a level they are other ones.
    are_reducible = study.chosen or not find_mode(study).compares_configurations
    if study.refusal is Refusal.LEAVE_OUT and are_reducible:
        reduced = study.without_levels(_find_refused_levels(study, node, refused))
        if reduced.refused_levels and has_comparison(reduced):
            study = reduced
            refused = node.preflight(study.workloads, study.configurations())
    kept = study.without({label: _format_reason(error) for label, error in refused.items()})
    if has_comparison(kept):
        return kept
    raise SettingError(
        f"a comparison with {study.baseline.label}: {first.wanted}",
        found=f"this host refuses every other configuration: {first.found}",
        where=first.where,
        remedy=first.remedy,
    )


def _find_refused_levels(
    study: Study, node: Node, refused: Mapping[str, IostudyError]
) -> dict[str, dict[str, str]]:
    """Try each level of the host that no accepted configuration has, alone in the baseline."""
    chosen = study.combinations()
    of_host = {own.name for own in study.factors if own.kind is not FactorKind.WORKLOAD_OPTION}
    accepted = {
        (name, level.label)
        for label in chosen.keys() - refused.keys()
        for name, level in chosen[label].items()
    }
    suspects = {
        (name, level.label)
        for label in refused
        for name, level in chosen[label].items()
        if name in of_host
    } - accepted
    baseline = {name: level.label for name, level in chosen[study.baseline.label].items()}
    alone = {f"{name}={level}": (name, level) for name, level in sorted(suspects)}
    tried = [
        build_configuration(
            label,
            active_levels(NamedConfiguration(label, {**baseline, name: level}), study.factors),
            study.factors,
        )
        for label, (name, level) in alone.items()
    ]
    found: dict[str, dict[str, str]] = {}
    for label, error in node.preflight(study.workloads, tried).items():
        name, level = alone[label]
        found.setdefault(name, {})[level] = _format_reason(error)
    return found


def _format_reason(error: IostudyError) -> str:
    return f"{error.wanted}: {error.found}"
