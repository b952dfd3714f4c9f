from __future__ import annotations

import io

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from iostudy.report import terminal
from iostudy.report.values import Report
from tests.report.factory import report


def shown(told: Report, **options: object) -> str:
    file = io.StringIO()
    console = Console(file=file, width=100, **options)  # type: ignore[arg-type]
    console.print(terminal.render(told))
    return file.getvalue()


def test_a_report_off_a_terminal(snapshot: SnapshotAssertion) -> None:
    assert shown(report(blocks=6)) == snapshot


def test_off_a_terminal_there_is_no_escape_sequence() -> None:
    assert "\x1b" not in shown(report())


def test_colour_only_repeats_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    told = report()
    coloured = shown(told, force_terminal=True, color_system="standard")
    assert "\x1b[31m" in coloured
    assert "▼ worse" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in shown(told, force_terminal=True, color_system="standard")


def test_labels_are_text_and_not_markup() -> None:
    first = report().workloads[0]
    results = (first.results[0].model_copy(update={"configuration": "[red]x[/red]"}),)
    odd = first.model_copy(update={"label": "[bold]w", "results": results})
    told = report().model_copy(update={"workloads": (odd,)})
    assert "[red]x[/red]" in shown(told)
    assert "[bold]w" in shown(told)


@pytest.mark.parametrize("width", [60, 80])
def test_nothing_is_cut_off_in_a_narrow_terminal(width: int) -> None:
    file = io.StringIO()
    Console(file=file, width=width).print(terminal.render(report(blocks=6)))
    assert "…" not in file.getvalue()
    assert "blocks" in file.getvalue()
