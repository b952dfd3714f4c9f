"""Builds the study file of an A/A study: the baseline compared with itself.

It is a study like any other, so that all that holds for studies holds for it: what is measured is
the noise that the study's own comparisons will have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iostudy.study.combinations import Configuration, Factor, FactorKind
from iostudy.study.model import Study
from iostudy.study.plan import whole_plots
from iostudy.study.source import plain, read, write
from iostudy.study.study_file import service_keys
from iostudy.units import format_exact_percent

BASELINE, AGAIN = "baseline", "the same again"
_KEPT = ("workloads", "load", "validity", "telemetry", "prepare")


def build_aa_study(study: Study, folder: str, blocks: int) -> str:
    """The text of the study file; the same for the same study, folder and blocks.

    ``study`` is what its user can run, with the levels that the host offers. ``folder`` is the
    output folder, which replaces a disk that only root can make.
    """
    written = plain(read(study.text, study.name).values)
    decide = study.decide
    return write(
        {
            "question": f"How far apart are two runs of the baseline of {study.name}?",
            "target": study.target.rewritten(written["target"], folder),
            **{key: written[key] for key in (*_KEPT, *service_keys()) if key in written},
            "factors": _factors(study),
            "decide": {
                "margin": format_exact_percent(decide.margin),
                "risk": format_exact_percent(decide.risk),
                "blocks": [blocks, blocks],
            },
        }
    )


def _factors(study: Study) -> dict[str, Any]:
    """Every factor at the baseline's level, one of them under two labels."""
    baseline = study.baseline
    values = {f: value for f in study.factors if (value := _value(f, baseline)) is not None}
    twice = _doubled(study, list(values))
    return {f.name: _written(f, value, twice=f is twice) for f, value in values.items()}


def _value(factor: Factor, configuration: Configuration) -> str | None:
    """None where the factor is not active in the configuration."""
    match factor.kind:
        case FactorKind.SETTING:
            return configuration.settings.get(factor.name)
        case FactorKind.WORKLOAD_OPTION:
            return configuration.options.get(factor.option)
        case FactorKind.DIRECTORY:
            return configuration.directory


def _doubled(study: Study, factors: Sequence[Factor]) -> Factor:
    """One that is hard to change where some comparison of the study is between two whole plots.

    Such a comparison has the noise of making them too, see docs/method/design.md.
    """
    across = len(whole_plots(study.configurations())) > 1
    return next((f for f in factors if f.hard_to_change is across), factors[0])


def _written(factor: Factor, value: str, *, twice: bool) -> Any:
    levels = {BASELINE: value, AGAIN: value} if twice else {value: value}
    return {"levels": levels, "on": list(factor.on)} if factor.on else levels
