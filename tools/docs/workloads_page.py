"""The page ``docs/workloads.md``, from the definitions of the workloads."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.option_text import (
    example_command,
    example_figures,
    example_options,
    list_options,
    study_lines,
)

_HEAD = """# Workloads

Everything that a study can run on a target, and `iostudy bench WORKLOAD` runs once; `trace` runs
in [simulated studies](simulator.md) only. Options have
the same form in a study file and, as `-o KEY=VALUE`, on the command line. A list or a mapping is
YAML in both. A list of names or paths may also be a text with commas. `iostudy workloads` lists
the names, `iostudy workloads NAME` describes one.

Sizes take B, KiB, MiB, GiB, TiB or k, M, G, T (powers of 1024), or kB, MB, GB, TB (of 1000); counts
take k, M and G (of 1000); times take us, ms, s, min, h and d, and are in seconds without one. The
first figure of a workload is the one that verdicts use, unless the study names another by
`figure:`. Figures can follow from the options; those of the example are listed. A workload in a
steady state repeats itself while a study changes settings
([windows](method/windows.md#windows-of-a-steady-run)); its options decide whether it has one."""


def page() -> str:
    """The whole page."""
    definitions = map(catalog.get, catalog.names())
    return "\n\n".join((_HEAD, *(part for each in definitions for part in _workload(each)))) + "\n"


def _workload(definition: WorkloadDefinition) -> Iterator[str]:
    yield f"## {definition.name}"
    facts = {
        "Models": definition.models,
        "Leaves out": definition.not_modelled,
        "Steady state": _steady_state(definition),
        "Source": definition.source,
    }
    yield "\n".join(_wrapped(f"- {name}: {_escaped(text)}") for name, text in facts.items())
    yield f"```yaml\n{study_lines(definition)}\n```"
    yield f"```sh\n{example_command(definition)}\n```"
    yield _table(("option", "default", "allowed", "meaning"), list_options(definition))
    yield _table(("figure", "unit", "better", "meaning"), _figures(example_figures(definition)))
    parts = definition.part_figures(example_options(definition))
    if parts:
        yield _table(("figure of a part", "unit", "better", "meaning"), _figures(parts))


def _steady_state(definition: WorkloadDefinition) -> str:
    if definition.steady_when:
        return definition.steady_when
    return f"never; {definition.make(example_options(definition)).unsteady_reason()}"


def _figures(figures: Sequence[Figure]) -> list[tuple[str, str, str, str]]:
    return [
        (each.name, each.unit, "higher" if each.higher_is_better else "lower", each.documentation)
        for each in figures
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Names and values of the first two columns as code."""
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row in rows:
        cells = [_code(cell) if place < 2 else _escaped(cell) for place, cell in enumerate(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, width=100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "\\<").replace("|", "\\|")
