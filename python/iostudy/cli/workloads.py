"""``iostudy workloads``: the catalogue of workloads."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from iostudy.cli.console import out, print_json, print_table
from iostudy.workloads import catalog
from iostudy.workloads.definition import WorkloadDefinition


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
    out.print(f"{definition.name}", style="bold", markup=False)
    out.print(f"  models      {definition.models}", markup=False)
    out.print(f"  leaves out  {definition.leaves_out}", markup=False)
    out.print(f"  source      {definition.source}", markup=False)
    options = [
        (f"  {name}", str(field.default), str(field.description))
        for name, field in definition.options.model_fields.items()
    ]
    print_table("", ("  option", "default", "meaning"), options)
    figures = [
        (f"  {figure.name}", figure.unit, figure.documentation) for figure in definition.figures
    ]
    print_table("", ("  figure", "unit", "meaning"), figures)
    out.print()


def _as_json(definition: WorkloadDefinition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "models": definition.models,
        "leaves_out": definition.leaves_out,
        "source": definition.source,
        "options": definition.options.model_json_schema(),
        "verdict_figure": definition.verdict_figure,
        "figures": [
            {
                "name": figure.name,
                "unit": figure.unit,
                "documentation": figure.documentation,
                "higher_is_better": figure.higher_is_better,
            }
            for figure in definition.figures
        ],
    }
