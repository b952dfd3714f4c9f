"""``iostudy bench``: one workload, once, with telemetry."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from iostudy.cli.console import print_json, print_table, say
from iostudy.errors import UsageError
from iostudy.node.local import LocalNode
from iostudy.node.protocol import TrialResult
from iostudy.study.collector import keys_of, reason
from iostudy.study.model import Configuration, DirectoryTarget
from iostudy.study.names import UnknownNameError, known
from iostudy.study.plan import draw_seed
from iostudy.study.requests import request
from iostudy.units import format_rounded_size, format_significant
from iostudy.workloads import catalog
from iostudy.workloads.definition import WorkloadDefinition, as_written


def bench(
    workload: Annotated[str, typer.Argument(help="One of `iostudy workloads`.")],
    target: Annotated[Path, typer.Option(help="The directory to work in.")] = Path(),
    option: Annotated[
        list[str] | None, typer.Option("-o", metavar="KEY=VALUE", help="An option of the workload.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Run one workload once in a directory and print its figures. It compares nothing."""
    see = "`iostudy workloads` describes them all"
    known("workload", workload, catalog.names(), where="the command line", see=see)
    definition = catalog.get(workload)
    options = _options(definition, option or [])
    asked = request(workload, options)
    alone = Configuration("as it is", {}, {})
    with LocalNode(DirectoryTarget(target), target) as node:
        refused = node.preflight([asked], [alone])
        assert not refused, "nothing is changed, so nothing can be refused"
        with node.block(asked, draw_seed()) as session:
            result = session.trial(alone)
    if json:
        print_json(_as_json(definition, options, result))
    else:
        _show(definition, options, result)


def _options(definition: WorkloadDefinition, given: list[str]) -> BaseModel:
    values = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise _refused("options as KEY=VALUE", f"{text} has no value", f"write -o {key}=VALUE")
        values[key] = value
    try:
        return definition.options.model_validate(values)
    except ValidationError as error:
        found = "; ".join(_told(detail, definition) for detail in error.errors())
        allowed = ", ".join(definition.options.model_fields)
        remedy = f"the options are {allowed}; `iostudy workloads` describes them"
        raise _refused(f"options of {definition.name}", found, remedy) from error


def _told(detail: ErrorDetails, definition: WorkloadDefinition) -> str:
    key = ".".join(map(str, detail["loc"])) or "together"
    if detail["type"] != "extra_forbidden":
        return f"{key}: {reason(detail)}"
    *way, last = detail["loc"]
    unknown = UnknownNameError("option", str(last), keys_of(definition.options, way))
    meant = f", did you mean {unknown.suggestion}?" if unknown.suggestion else ""
    return f"{key}: {unknown}{meant}"


def _show(definition: WorkloadDefinition, options: BaseModel, result: TrialResult) -> None:
    # Here and not above: what tells telemetry loads statistics, most of a second of them.
    from iostudy.report.telemetry import shown_name, shown_value
    from iostudy.report.wording import significant

    figures = [
        (figure.name, *_reading(result.figures[figure.name], figure.unit), figure.documentation)
        for figure in definition.figures(options)
        if figure.name in result.figures
    ]
    print_table(("figure", "value", "unit", "meaning"), figures)
    telemetry = result.telemetry.devices.get(result.device, {})
    readings = [(shown_name(n), significant(shown_value(n, v))) for n, v in telemetry.items()]
    print_table((result.device or "no device", ""), readings)
    for note in result.notes:
        say(f"note: {note}")
    say("one run, which says nothing about differences; `iostudy run` compares")


def _reading(value: float, unit: str) -> tuple[str, str]:
    """Three digits and the unit; bytes in the binary unit that suits them."""
    if unit != "B":
        return format_significant(value), unit
    rounded, _, binary = format_rounded_size(round(value)).partition(" ")
    return rounded, binary


def _as_json(
    definition: WorkloadDefinition, options: BaseModel, result: TrialResult
) -> dict[str, Any]:
    return {
        "workload": definition.name,
        "options": as_written(options),
        "figures": {
            figure.name: {"value": result.figures[figure.name], "unit": figure.unit}
            for figure in definition.figures(options)
            if figure.name in result.figures
        },
        "device": result.device,
        "devices": dict(result.telemetry.devices),
        "machine": dict(result.telemetry.machine),
        "phases_seconds": dict(result.phases),
        "notes": list(result.notes),
    }


def _refused(wanted: str, found: str, remedy: str) -> UsageError:
    return UsageError(wanted, found=found, where="the command line", remedy=remedy)
