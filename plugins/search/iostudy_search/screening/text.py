"""Text about the design and the runs of a screening."""

from __future__ import annotations

from iostudy.cli.mode_text import (
    Lines,
    ModeText,
    describe_blocks,
    describe_factors,
    describe_planned,
    describe_planned_time,
)
from iostudy.study.model import Study
from iostudy_search.screening.design import require_screening


def _describe_screening(study: Study) -> Lines:
    return [*_describe_design(study), *describe_planned(study)]


def _describe_design(study: Study) -> Lines:
    """Describe the design, its aliases and its runs."""
    # Imported here: the report's values take most of a second to load.
    from iostudy_search.screening.topic import find_aliases

    design = require_screening(study)
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


TEXT = ModeText(describe_factors, _describe_screening, describe_planned_time, describe_blocks)
