"""``iostudy workloads``: the catalogue of workloads."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from iostudy.cli.console import print_json, print_line, print_table
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure, WorkloadDefinition, as_written


def workloads(
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List every workload with its options, figures, units and source."""
    definitions = [catalog.get(name) for name in catalog.names()]
    if json:
        print_json([_as_json(definition) for definition in definitions])
        return
    for definition in definitions:
        _show(definition)


def _show(definition: WorkloadDefinition) -> None:
    print_line(definition.name, style="bold")
    explanation = [
        ("", "models", definition.models),
        ("", "leaves out", definition.leaves_out),
        ("", "source", definition.source),
    ]
    print_table(("", "", ""), explanation)
    # A workload with a required option has no whole set of defaults; what has one is told.
    defaults = as_written(definition.options.model_construct())
    options = [
        (f"  {name}", defaults.get(name, ""), str(field.description))
        for name, field in definition.options.model_fields.items()
    ]
    print_table(("  option", "default", "meaning"), options)
    figures = [
        (f"  {figure.name}", figure.unit, figure.documentation) for figure in _figures(definition)
    ]
    print_table(("  figure", "unit", "meaning"), figures)
    print_line()


def _as_json(definition: WorkloadDefinition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "models": definition.models,
        "leaves_out": definition.leaves_out,
        "source": definition.source,
        "options": definition.options.model_json_schema(),
        "verdict_figure": _figures(definition)[0].name,
        "example": dict(definition.example),
        "figures": [
            {
                "name": figure.name,
                "unit": figure.unit,
                "documentation": figure.documentation,
                "higher_is_better": figure.higher_is_better,
            }
            for figure in _figures(definition)
        ],
    }


def _figures(definition: WorkloadDefinition) -> tuple[Figure, ...]:
    """Those of its example."""
    return definition.figures(definition.options.model_validate(definition.example))
