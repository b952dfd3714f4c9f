"""``docs/workloads.md`` and the pages below it, from the definitions of the workloads."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from iostudy.plugins import installed
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
the names, `iostudy workloads NAME` describes one. Those of a [plugin](plugins.md) need its package.

Sizes take B, KiB, MiB, GiB, TiB or k, M, G, T (powers of 1024), or kB, MB, GB, TB (of 1000); counts
take k, M and G (of 1000); times take us, ms, s, min, h and d, and are in seconds without one. The
first figure of a workload is the one that verdicts use, unless the study names another by
`figure:`. Figures can follow from the options; those of the example are listed. A workload in a
steady state repeats itself while a study changes settings
([windows](method/windows.md#windows-of-a-steady-run)); its options decide whether it has one."""

_PAGES = {
    "dfsio": "Files, as TestDFSIO reads and writes them",
    "patterns": "Patterns of I/O",
    "records": "Sorting and counting records",
    "metadata": "Small files, edit logs and short jobs",
    "events": "Jobs that read events",
    "programs": "Programs, mixtures and traces",
    "hadoop": "Hadoop's own programs",
}
_PAGE_OF = {
    "io": "patterns", "iozone": "patterns",
    "teragen": "records", "terasort": "records", "teravalidate": "records", "wordcount": "records",
    "nnbench": "metadata", "nnthroughput": "metadata", "mrbench": "metadata",
    "events": "events", "root-events": "events",
    "command": "programs", "fio": "programs", "mix": "programs", "trace": "programs",
}  # fmt: skip
_LATENCY = re.compile(r"(median|[\d.]+th percentile|longest) (latency .*)")
_FIGURE_HEADS = ("figure", "unit", "better", "meaning")
_OPTION_HEADS = ("option", "default", "allowed", "meaning")
_Row = tuple[str, ...]


def pages() -> Mapping[str, Callable[[], str]]:
    """Return the paths of all pages with what writes each."""
    by_page = {f"docs/workloads/{name}.md": partial(_write_page, name) for name in _PAGES}
    return {"docs/workloads.md": _write_index, **by_page}


def _write_index() -> str:
    plugin_of = {name: plugin.name for plugin in installed() for name in plugin.workloads}
    rows = [
        (
            f"[`{definition.name}`](workloads/{_find_page(definition.name)}.md#{_anchor(definition.name)})",
            definition.summary,
            plugin_of.get(definition.name, ""),
        )
        for definition in map(catalog.get, catalog.names())
    ]
    return f"{_HEAD}\n\n{_table(('workload', 'what it models', 'plugin'), rows)}\n"


def _find_page(name: str) -> str:
    whole = (page for page in ("dfsio", "hadoop") if name.startswith(page))
    if page := next(whole, "") or _PAGE_OF.get(name, ""):
        return page
    raise ValueError(f"{__file__}: _PAGE_OF has no page for the workload {name}")


def _anchor(name: str) -> str:
    return name.replace(".", "")


def _write_page(page: str) -> str:
    definitions = [catalog.get(name) for name in catalog.names() if _find_page(name) == page]
    content = _Page(definitions)
    return "\n\n".join((f"# {_PAGES[page]}", *content.write())) + "\n"


class _Page:
    """Workloads, of which each text and each table stands once."""

    def __init__(self, definitions: Sequence[WorkloadDefinition]) -> None:
        self._definitions = definitions
        figures = [set(_figures(example_figures(definition))) for definition in definitions]
        self._common = set.intersection(*figures) if len(figures) > 1 else set()
        self._first: dict[str, str] = {}

    def write(self) -> Iterator[str]:
        if self._common:
            first = _figures(example_figures(self._definitions[0]))
            yield "Figures of each of these workloads, next to its own:"
            yield _code_table(_FIGURE_HEADS, [row for row in first if row in self._common])
        for one in self._definitions:
            yield from self._workload(one)

    def _workload(self, definition: WorkloadDefinition) -> Iterator[str]:
        name = definition.name
        yield f"## {name}"
        facts = {
            "Models": definition.models,
            "Leaves out": definition.not_modelled,
            "Steady state": _steady_state(definition),
            "Source": definition.source,
        }
        lines = (f"- {head}: {self._once(name, _escaped(text))}" for head, text in facts.items())
        yield "\n".join(map(_wrapped, lines))
        yield f"```yaml\n{study_lines(definition)}\n```"
        yield f"```sh\n{example_command(definition)}\n```"
        yield self._once(name, _code_table(_OPTION_HEADS, list_options(definition)), "Options: ")
        figures = _figures(example_figures(definition))
        if others := [row for row in figures if row not in self._common]:
            yield self._once(name, _code_table(_FIGURE_HEADS, others), "Figures: ")
        if parts := definition.part_figures(example_options(definition)):
            heads = ("figure of a part", *_FIGURE_HEADS[1:])
            yield self._once(name, _code_table(heads, _figures(parts)), "Figures of parts: ")

    def _once(self, name: str, text: str, head: str = "") -> str:
        """Return a long text where it is new, else the workload that has it first."""
        first = self._first.setdefault(text, name)
        if first == name or len(text) < 100:
            return text
        return f"{head}as [`{first}`](#{_anchor(first)})"


def _steady_state(definition: WorkloadDefinition) -> str:
    if definition.steady_when:
        return definition.steady_when
    return f"never; {definition.make(example_options(definition)).unsteady_reason()}"


def _figures(figures: Sequence[Figure]) -> list[_Row]:
    """Rows of figures; those that differ in their name or percentile alone are one row."""
    rows: dict[_Row, list[tuple[str, str]]] = {}
    for figure in figures:
        better = "higher" if figure.higher_is_better else "lower"
        match = _LATENCY.fullmatch(figure.documentation)
        which, meaning = match.groups() if match else ("", figure.documentation)
        rows.setdefault((figure.unit, better, meaning), []).append((figure.name, which))
    return [
        (
            "`, `".join(name for name, _ in names),
            unit,
            better,
            f"{', '.join(which for _, which in names)} {meaning}".strip(" ,"),
        )
        for (unit, better, meaning), names in rows.items()
    ]


def _code_table(heads: Sequence[str], rows: Sequence[_Row]) -> str:
    """Names and values of the first two columns as code."""
    return _table(heads, [(*map(_code, row[:2]), *map(_escaped, row[2:])) for row in rows])


def _table(heads: Sequence[str], rows: Sequence[_Row]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return "\n".join((*lines, *(f"| {' | '.join(row)} |" for row in rows)))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, width=100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "\\<").replace("|", "\\|")
