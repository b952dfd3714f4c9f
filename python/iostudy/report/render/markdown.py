"""Markdown renderer (CommonMark with GitHub's tables), for tickets and repositories."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from dataclasses import replace

from iostudy.report.answer import Answer
from iostudy.report.formatting import format_time
from iostudy.report.section import DIFFERENCE_TITLE, Document, Section, TextTable
from iostudy.report.topics import registry
from iostudy.report.topics.trials import describe_trial
from iostudy.report.topics.verdicts import build_verdict_table, explain_marks, list_verdicts
from iostudy.report.values import Report, WorkloadReport
from iostudy.visible import visible

_LAYOUT = "\n\r\t"
"""Control characters allowed in a text that is shown line by line."""
_SPECIAL = re.compile(r"([\\`*<>|#~&$]|(?<!\w)_|_(?!\w)|\](?=[(\[:]))")


def render(report: Report) -> str:
    """``report.md``: the answer first, then what it rests on."""
    steps = (f"{_text(step.text)}{_command(step.command)}" for step in report.next_steps)
    reproduce = (
        "".join(
            _code(part) if index % 2 else _SPECIAL.sub(r"\\\1", visible(part))
            for index, part in enumerate(step.split("`"))
        )
        for step in report.reproduce
    )
    inventory = _fenced(json.dumps(report.circumstances, indent=2), "json")
    parts = (
        f"# {_text(report.question)}",
        f"**{_text(report.headline)}**",
        _list(*report.answer),
        f"## Next steps\n\n{_numbered(steps)}",
        _list(*report.notes),
        *(_section(section, "##") for section in registry.build_summary_sections(report)),
        _text(explain_marks(list_verdicts(report.workloads))),
        *(_workload(workload, report) for workload in report.workloads),
        *(_section(section, "##") for section in registry.build_closing_sections(report)),
        f"## Method\n\n{_text(report.method.text)}",
        f"## Host\n\n{_shut('Inventory', inventory)}",
        f"## Study file\n\n{_fenced(report.study_text, 'yaml')}",
        f"## Reproduce\n\n{_numbered(reproduce)}",
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
        *(_table_of(build_verdict_table(table, answer.noun)) for table in answer.tables),
        _text(explain_marks(answer.tables)),
        f"Why: {_text('; '.join(answer.reasons))}." if answer.reasons else "",
        _numbered(steps),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def render_document(document: Document) -> str:
    """Render a document other than a report as Markdown."""
    parts = [
        f"# {_text(document.title)}",
        *map(_text, document.notes),
        *(_section(section, "##") for section in document.sections),
    ]
    if document.difference:
        parts += [f"## {DIFFERENCE_TITLE}", _fenced(document.difference, "diff")]
    return "\n\n".join(parts) + "\n"


def _numbered(items: Iterable[str]) -> str:
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))


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
        *map(_table_of, tables),
        *(
            _shut(table.title or section.title, _table_of(replace(table, title="")))
            for table in section.folded
        ),
    )
    return "\n\n".join(parts)


def _workload(workload: WorkloadReport, report: Report) -> str:
    remarks = (
        f"- trial {trial.number} ({_text(f'{trial.configuration}, block {trial.block}')}): "
        f"{_text(describe_trial(trial))}"
        for trial in report.trials
        if trial.workload == workload.label and describe_trial(trial)
    )
    tables = (build_verdict_table(verdicts, report.noun) for verdicts in list_verdicts([workload]))
    parts = (
        f"## {_text(workload.label)}",
        *map(_table_of, tables),
        "\n".join(remarks),
        *(_section(part, "###") for part in registry.build_workload_sections(workload, report)),
    )
    return "\n\n".join(part for part in parts if part)


def _table_of(table: TextTable) -> str:
    """Return the title and the table; numbers are on the right."""
    rule = ["---:" if table.is_number(place) else "---" for place in range(len(table.heads))]
    rows = [map(_text, table.heads), rule, *(map(_text, row) for row in table.rows)]
    title = f"{_text(table.title)}:\n\n" if table.title else ""
    return title + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _list(*items: str) -> str:
    return "\n".join(f"- {_text(item)}" for item in items)


def _text(text: str) -> str:
    """Text of others as text: nothing in it is markup, or ends a line."""
    return _SPECIAL.sub(r"\\\1", _one_line(text))


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
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
