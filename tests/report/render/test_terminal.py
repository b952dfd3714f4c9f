from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from iostudy.report.render import terminal
from iostudy.report.topics.measurements import build_measurement_sections
from iostudy.report.topics.verdicts import format_blocks, format_change, format_verdict
from iostudy.report.values import Report
from tests.report.factory import report, two_factors
from tests.report.parted import JOBS, cells, parted_report


def shown(report: Report, **options: object) -> str:
    file = io.StringIO()
    console = Console(file=file, width=100, **options)  # type: ignore[arg-type]
    console.print(terminal.render(report))
    return file.getvalue()


def test_a_report_off_a_terminal(snapshot: SnapshotAssertion) -> None:
    assert shown(report(blocks=6)) == snapshot


def test_off_a_terminal_there_is_no_escape_sequence() -> None:
    assert "\x1b" not in shown(report())


def test_labels_are_text_and_not_markup() -> None:
    first = report().workloads[0]
    results = (first.results[0].model_copy(update={"configuration": "[red]x[/red]"}),)
    odd = first.model_copy(update={"label": "[bold]w", "results": results})
    found = report().model_copy(update={"workloads": (odd,)})
    assert "[red]x[/red]" in shown(found)
    assert "[bold]w" in shown(found)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("make", [partial(report, blocks=6), two_factors])
def test_nothing_is_cut_off_in_a_narrow_terminal(make: Callable[[], Report], width: int) -> None:
    example = make()
    file = io.StringIO()
    Console(file=file, width=width).print(terminal.render(example))
    text = file.getvalue()
    assert "…" not in text
    assert all(len(line) <= width for line in text.splitlines())
    for workload in example.workloads:
        for result in workload.results:
            assert all(level in text for level in result.configuration.split(", "))


@pytest.mark.parametrize("make", [partial(report, blocks=6), two_factors])
def test_the_table_of_verdicts_is_complete(make: Callable[[], Report]) -> None:
    example = make()
    file = io.StringIO()
    Console(file=file, width=160).print(terminal.render(example))
    text = file.getvalue()
    for workload in example.workloads:
        for result in workload.results:
            assert format_blocks(result) in text
            assert result.baseline or format_change(result) in text
            assert format_verdict(result) in text


def test_the_estimate_of_needed_blocks_is_explained_where_it_occurs() -> None:
    output = shown(report(blocks=6))
    assert (
        output.count("Blocks: 6 of ≈20 means 6 run, and about 20 needed for a final verdict") == 1
    )
    assert " means 20 run" not in shown(report(blocks=20))


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("labels", [JOBS, cells()])
def test_no_number_of_a_table_is_folded(labels: list[dict[str, str]], width: int) -> None:
    file = io.StringIO()
    report = parted_report(labels)
    Console(file=file, width=width).print(terminal.render(report))
    words = set(file.getvalue().split())
    assert all(len(line) <= width for line in file.getvalue().splitlines())
    for section in build_measurement_sections(report.workloads[0], report):
        for table in section.tables:
            # A narrow terminal shows the first columns.
            own = slice(table.names, None if width == 200 else table.names + 1)
            numbers = {word for row in table.rows for cell in row[own] for word in cell.split()}
            assert numbers <= words


def test_the_summary_has_the_verdicts_and_the_answer_alone() -> None:
    file = io.StringIO()
    Console(file=file, width=100).print(terminal.render(parted_report(JOBS)))
    assert "On file-reads" in file.getvalue()
    assert "latency" not in file.getvalue()


def test_escape_sequences_in_foreign_text_are_escaped() -> None:
    hostile = "\x1b[31mred\u202eder"
    first = report().workloads[0]
    results = tuple(r.model_copy(update={"configuration": hostile}) for r in first.results)
    odd = first.model_copy(update={"label": hostile, "results": results})
    texts = {"workloads": (odd,), "headline": hostile, "notes": (hostile,), "answer": (hostile,)}
    output = shown(report().model_copy(update=texts))
    assert "\x1b" not in output
    assert "\u202e" not in output
    assert "\\x1b[31mred" in output
