"""Markdown renderer (CommonMark with GitHub's tables), for tickets and repositories."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence

from iostudy.report.answer import Answer
from iostudy.report.formatting import format_against, format_time
from iostudy.report.section import Document, Section, TextTable
from iostudy.report.topics import registry
from iostudy.report.topics.configurations import LEVEL_HEADS, list_levels
from iostudy.report.topics.reference import (
    ReferenceReport,
    format_own_change,
    format_own_value,
    format_published_change,
    format_published_name,
    format_published_value,
    introduce_reference,
)
from iostudy.report.topics.trials import describe_trial
from iostudy.report.topics.verdicts import (
    FigureVerdicts,
    Result,
    format_blocks,
    format_change,
    format_first_blocks_legend,
    format_slow_runs,
    format_value,
    format_verdict,
    list_verdicts,
)
from iostudy.report.values import Report, WorkloadReport
from iostudy.visible import visible

_LAYOUT = "\n\r\t"
"""Control characters allowed in a text that is shown line by line."""
_SPECIAL = re.compile(r"([\\`*<>|#~&$]|(?<!\w)_|_(?!\w)|\](?=[(\[:]))")


def render(report: Report) -> str:
    """``report.md``: the answer first, then what it rests on."""
    steps = (f"{_text(step.text)}{_command(step.command)}" for step in report.next_steps)
    inventory = _fenced(json.dumps(report.circumstances, indent=2), "json")
    parts = (
        f"# {_text(report.question)}",
        f"**{_text(report.headline)}**",
        _list(*report.answer),
        f"## Next steps\n\n{_numbered(steps)}",
        _list(*report.notes),
        *(_section(section, "##") for section in registry.build_summary_sections(report)),
        *(_workload(workload, report) for workload in report.workloads),
        _reference(report.reference) if report.reference else "",
        _configurations(report),
        f"## Method\n\n{_text(report.method.text)}",
        f"## Host\n\n{_shut('Inventory', inventory)}",
        f"## Study file\n\n{_fenced(report.study_text, 'yaml')}",
        f"## Reproduce\n\n{_numbered(map(_with_code, report.reproduce))}",
        (
            f"{_text(report.name)}, started {format_time(report.started_at)}, iostudy "
            f"{_text(report.iostudy_version)}, seed {report.method.seed}."
        ),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def render_answer(answer: Answer) -> str:
    """The answer for an issue, a pull request, or a step in continuous integration."""
    steps = (f"{_text(step.text)}{_command(step.command)}" for step in answer.next_steps)
    parts = (
        f"## {_text(answer.question)}",
        f"**{_text(answer.sentence)}**",
        *(_answer_table(table, answer) for table in answer.tables),
        f"Why: {_text('; '.join(answer.reasons))}." if answer.reasons else "",
        _numbered(steps),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _answer_table(table: FigureVerdicts, answer: Answer) -> str:
    figure, baseline = table.figure, table.results[0].configuration
    heads = (
        f"{table.name}: {answer.noun}",
        f"{figure.name}, {figure.unit}",
        format_against(baseline),
        "verdict",
    )
    return _table(heads, [_verdict_row(result)[:4] for result in table.results], "lrrl")


def render_document(document: Document) -> str:
    """Render a document other than a report as Markdown."""
    listing = document.listing
    parts = [
        f"# {_text(document.title)}",
        *map(_text, document.notes),
        *(_section(section, "##") for section in document.sections),
    ]
    if listing:
        parts += [f"## {_text(listing.title)}", _fenced(listing.text, listing.language)]
    return "\n\n".join(parts) + "\n"


def _numbered(items: Iterable[str]) -> str:
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))


def _with_code(text: str) -> str:
    """Return text with code between backticks."""
    return "".join(
        _code(part) if index % 2 else _escaped(visible(part))
        for index, part in enumerate(text.split("`"))
    )


def _command(command: str) -> str:
    return f" {_code(command)}" if command else ""


def _code(text: str) -> str:
    """Return inline code, between more backticks than it contains."""
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks}{_one_line(text)}{ticks}"


def _section(section: Section, heading: str) -> str:
    """Its tables and what is known; charts are left to the page."""
    tables = (*section.leading_tables, *section.tables)
    parts = (
        f"{heading} {_text(section.title)}",
        *map(_text, section.notes),
        *((f"{_text(own.title)}:\n\n" if own.title else "") + _table_of(own) for own in tables),
        *(_shut(own.title or section.title, _table_of(own)) for own in section.folded),
    )
    return "\n\n".join(parts)


def _workload(workload: WorkloadReport, report: Report) -> str:
    remarks = (
        f"- trial {trial.number} ({_text(f'{trial.configuration}, block {trial.block}')}): "
        f"{_text(describe_trial(trial))}"
        for trial in report.trials
        if trial.workload == workload.label and describe_trial(trial)
    )
    parts = (
        f"## {_text(workload.label)}",
        *(_verdicts(table, report) for table in list_verdicts([workload])),
        _text(format_first_blocks_legend(workload, report.workloads)),
        "\n".join(remarks),
        *(_section(own, "###") for own in registry.build_workload_sections(workload, report)),
    )
    return "\n\n".join(part for part in parts if part)


def _table_of(table: TextTable) -> str:
    places = range(len(table.heads))
    alignment = "".join("r" if table.is_number(place) else "l" for place in places)
    return _table(table.heads, table.rows, alignment)


def _verdicts(table: FigureVerdicts, report: Report) -> str:
    figure = table.figure
    heads = (
        report.noun,
        f"{figure.name}, {figure.unit}",
        format_against(report.baseline),
        "verdict",
        "blocks",
        "slow runs",
    )
    return _table(heads, [_verdict_row(result) for result in table.results], "lrrlrr")


def _verdict_row(result: Result) -> tuple[str, ...]:
    return (
        result.configuration,
        format_value(result),
        "" if result.baseline else format_change(result),
        format_verdict(result),
        format_blocks(result),
        format_slow_runs(result),
    )


def _reference(reference: ReferenceReport) -> str:
    title = f"## Comparison with {_text(reference.name)}"
    heads = ("figure", "configuration", "published", "change", "own", "own change")
    rows = [
        (
            format_published_name(published),
            published.called,
            format_published_value(published),
            format_published_change(published),
            format_own_value(published),
            format_own_change(published),
        )
        for published in reference.shown
    ]
    return "\n\n".join(
        (
            title,
            _text(introduce_reference(reference)),
            _table(heads, rows, "llrrrr"),
            _list(*reference.circumstances, *reference.caveats),
            "Open questions:",
            _list(*reference.open_questions),
        )
    )


def _configurations(report: Report) -> str:
    heads = (report.noun, *LEVEL_HEADS)
    rows = [(own.label, *row) for own in report.configurations for row in list_levels(own)]
    return f"## Configurations\n\n{_table(heads, rows, 'llll')}" if rows else ""


def _list(*items: str) -> str:
    return "\n".join(f"- {_text(item)}" for item in items)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], alignment: str) -> str:
    """``alignment`` has an l or r for each column."""
    rule = ["---" if side == "l" else "---:" for side in alignment]
    lines = [_line(map(_text, heads)), _line(rule), *(_line(map(_text, row)) for row in rows)]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    """Text of others as text: nothing in it is markup, or ends a line."""
    return _escaped(_one_line(text))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def _shut(summary: str, markdown: str) -> str:
    """Render a folded block (``details``)."""
    return (
        f"<details><summary>{html.escape(_one_line(summary))}</summary>\n\n{markdown}\n\n</details>"
    )


def _fenced(text: str, language: str) -> str:
    """Return a code block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{visible(text.rstrip(), keep=_LAYOUT)}\n{fence}"


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
