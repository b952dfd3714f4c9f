"""``iostudy workloads``: the catalogue of workloads."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from iostudy import plugins
from iostudy.cli.arguments import Json
from iostudy.cli.console import (
    print_command,
    print_json,
    print_line,
    print_list,
    print_table,
    print_text,
    say,
)
from iostudy.study.names import require_known
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.option_text import (
    example_command,
    example_figures,
    example_options,
    list_options,
    study_lines,
)


def workloads(
    name: Annotated[
        str | None, typer.Argument(help="The workload to describe.", show_default="a line for each")
    ] = None,
    json: Json = False,
) -> None:
    """List the workloads, or describe one.

    A description has options, figures, what is not modelled, and an example.
    """
    definitions = (
        [catalog.get(workload) for workload in catalog.names()]
        if name is None
        else [require_workload(name)]
    )
    if json:
        print_json([_as_json(definition) for definition in definitions])
    elif name is None:
        print_list([(definition.name, definition.summary) for definition in definitions])
        say("`iostudy workloads NAME` describes one")
    else:
        _print_definition(definitions[0])


def require_workload(name: str) -> WorkloadDefinition:
    """Return the workload that the command line names; UsageError if there is none."""
    where = "the command line"
    plugins.require_plugin_of(name, where)
    see = "`iostudy workloads` lists them"
    return catalog.get(require_known("workload", name, catalog.names(), where=where, see=see))


def _print_definition(definition: WorkloadDefinition) -> None:
    print_line(definition.name, style="bold")
    explanation = [
        ("", "models", definition.models),
        ("", "not modelled", definition.not_modelled),
        ("", "source", definition.source),
    ]
    print_table(("", "", ""), explanation)
    options = [
        (f"  {name}", default, f"{meaning} ({allowed})")
        for name, default, allowed, meaning in list_options(definition)
    ]
    print_table(("  option", "default", "meaning"), options)
    print_table(("  figure", "unit", "meaning"), _rows(example_figures(definition)))
    part_figures = definition.part_figures(example_options(definition))
    if part_figures:
        print_table(("  figure of a part", "unit", "meaning"), _rows(part_figures))
    print_table(("", ""), [("", "its first figure decides, unless a study names another")])
    print_text("".join(f"    {line}\n" for line in study_lines(definition).splitlines()))
    print_command(example_command(definition))


def _rows(figures: tuple[Figure, ...]) -> list[tuple[str, str, str]]:
    better = {True: "higher is better", False: "lower is better"}
    return [
        (f"  {f.name}", f.unit, f"{f.documentation} ({better[f.higher_is_better]})")
        for f in figures
    ]


def _as_json(definition: WorkloadDefinition) -> dict[str, Any]:
    figures = example_figures(definition)
    return {
        "name": definition.name,
        "models": definition.models,
        "leaves_out": definition.not_modelled,
        "source": definition.source,
        "options": definition.options.model_json_schema(),
        "verdict_figure": figures[0].name,
        "example": dict(definition.example),
        "example_study": study_lines(definition),
        "example_command": example_command(definition),
        "figures": [asdict(figure) for figure in figures],
        "part_figures": [
            asdict(figure) for figure in definition.part_figures(example_options(definition))
        ],
    }
