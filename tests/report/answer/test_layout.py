"""Tests of the answer's value and of its layout on one screen."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from iostudy.analysis.series import Flag
from iostudy.analysis.verdict import Verdict
from iostudy.report.answer import COLUMNS, LINES, Answer, build_answer, lay_out
from iostudy.report.base import Span, Step
from iostudy.report.render import markdown
from iostudy.report.topics.verdicts import FigureVerdicts, Result, choose_verdict_symbol
from iostudy.report.values import Report
from iostudy.workloads.definition import Figure
from tests.report.factory import (
    build_report,
    factor,
    report,
    result,
    rows,
    study,
    study_row,
    two_factors,
)

FORBIDDEN = re.compile("covariate|foreign|futile|washout")
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=60)
FRACTION = st.floats(-0.9, 30, allow_nan=False)
COMMAND = "iostudy run results/x --resume"


def test_nothing_is_said_about_runs_before_there_are_any() -> None:
    texts = [line.plain for line in lay_out(build_answer(report(blocks=0), None))]
    assert not any("slow or failed runs" in text for text in texts)


def test_a_difference_without_a_verdict_waits_for_blocks_and_orders() -> None:
    plan = study(factor("block.scheduler", "none", "bfq"), workloads=["file-writes"])
    trials = [replace(row, position=1 + (row.configuration == "bfq")) for row in rows(plan)]
    answer = build_answer(build_report(plan, study_row(plan), trials), None)
    assert answer.tables[0].results[1].verdict is Verdict.INCONCLUSIVE
    first = "each of two configurations first in 2 of them"
    assert answer.reasons[0] == f"a verdict needs at least 5 blocks, and {first}"
    assert "about 12 blocks are needed" in answer.sentence
    assert not any("too much to tell" in reason for reason in answer.reasons)


def test_a_configuration_with_failed_runs_is_shown_before_all_smaller_differences() -> None:
    changed = {f"c{number}": -0.01 * number for number in range(1, 20)}
    whole = build_answer(report(blocks=6), None)
    (table, *_) = whole.tables
    table = replace(
        table,
        results=[
            table.results[0],
            *(result(label, Verdict.WORSE, change=change) for label, change in changed.items()),
            result("failed", Verdict.WORSE, change=None),
        ],
    )
    shown = [line.plain for line in lay_out(replace(whole, tables=[table]))]
    labels = [line.split()[0] for line in shown if line.startswith("  c")]
    assert any(line.startswith("  failed ") for line in shown)
    assert 1 < len(labels) < len(changed)
    assert labels[-1] == "c19"


def is_free(line: str) -> bool:
    """Whether a line is a command or a path, which is never folded."""
    return line.startswith(("  $ ", "report  "))


@st.composite
def results(draw: st.DrawFn, *, baseline: bool) -> Result:
    if baseline:
        value = draw(st.floats(1e-9, 1e12))
        return Result(configuration=draw(TEXT), baseline=True, blocks=9, value=value)
    low, change, high = sorted(draw(st.lists(FRACTION, min_size=3, max_size=3)))
    return Result(
        configuration=draw(TEXT),
        baseline=False,
        blocks=draw(st.integers(0, 1000)),
        value=draw(st.none() | st.floats(1e-9, 1e12)),
        change=change,
        interval=Span(low=low, high=high),
        verdict=draw(st.sampled_from(Verdict)),
        fragile=draw(st.booleans()),
        flags=draw(st.sampled_from([(), (Flag.DRIFT,)])),
    )


@st.composite
def tables(draw: st.DrawFn, configurations: int) -> FigureVerdicts:
    own = [draw(results(baseline=place == 0)) for place in range(configurations)]
    unit = draw(st.sampled_from(["MiB/s", "op/s", "s", "as printed"]))
    figure = Figure(name="f", unit=unit, documentation="", higher_is_better=True)
    return FigureVerdicts(draw(TEXT), draw(TEXT), figure, own)


@st.composite
def answers(draw: st.DrawFn, most: int = 4, workloads: int = 3) -> Answer:
    count = draw(st.integers(1, most))
    steps = st.builds(Step, text=st.text(max_size=300), command=st.sampled_from(["", COMMAND]))
    return Answer(
        question=draw(st.text(min_size=1, max_size=300)),
        sentence=draw(st.text(min_size=1, max_size=600)),
        noun="scheduler",
        is_decided=draw(st.booleans()),
        seconds=draw(st.floats(0, 1e6)),
        margin=draw(st.floats(0.001, 0.9)),
        tables=[draw(tables(count)) for _ in range(draw(st.integers(1, workloads)))],
        reasons=draw(st.lists(st.text(max_size=200), max_size=4)),
        next_steps=draw(st.lists(steps, max_size=4)),
        report="results/x/report.html",
    )


@given(answers(), st.integers(40, COLUMNS))
def test_four_configurations_and_three_workloads_fit_one_screen(answer: Answer, width: int) -> None:
    lines = lay_out(answer, width)
    assert len(lines) <= LINES
    assert all(line.cell_len <= width or is_free(line.plain) for line in lines)
    assert lines[-1].plain == "report  results/x/report.html"
    shown = "\n".join(line.plain for line in lines)
    if "! an assumption fails" in shown:
        assert shown.count("!") > 1
    rows = [row for table in answer.tables for row in table.results[1:] if row.blocks]
    signs = Counter[str]()
    for row in rows:
        assert row.verdict is not None
        flag = " !" if row.flags or row.fragile else ""
        signs[f"  {choose_verdict_symbol(row.verdict)} {row.verdict}{flag}"] += 1
    assert all(shown.count(sign) >= count for sign, count in signs.items())
    if any(row.flags or row.fragile for row in rows):
        assert "! an assumption fails: see the report" in shown


@given(answers(most=9, workloads=6), st.integers(40, 200))
def test_any_answer_fits_one_screen(answer: Answer, width: int) -> None:
    lines = lay_out(answer, width)
    assert len(lines) <= LINES
    assert all(line.cell_len <= min(width, COLUMNS) or is_free(line.plain) for line in lines)


@pytest.mark.parametrize(
    "build", [lambda: report(blocks=6), lambda: report(blocks=20), two_factors]
)
def test_real_reports_in_plain_words(build: Callable[[], Report]) -> None:
    found = build()
    answer = build_answer(found, Path("results/x"))
    text = "\n".join(line.plain for line in lay_out(answer))
    assert not FORBIDDEN.search(text)
    assert "…" not in text
    for workload in found.workloads:
        for row in workload.results:
            assert row.configuration in text


def test_an_open_answer_says_why_and_how_to_continue() -> None:
    answer = build_answer(report(blocks=5), Path("results/x"))
    assert not answer.is_decided
    text = "\n".join(line.plain for line in lay_out(answer))
    assert "why: pairs of runs of file-writes vary by" in text
    assert "--resume" in text
    narrow = [line.plain for line in lay_out(answer, 40)]
    verdicts = [str(row.verdict) for table in answer.tables for row in table.results[1:]]
    assert sum(line.endswith(tuple(verdicts)) for line in narrow) == len(verdicts)
    assert not any(line.startswith("%") for line in narrow)


def test_a_decided_answer_gives_no_reason() -> None:
    answer = build_answer(report(blocks=20), Path("results/x"))
    assert answer.is_decided
    assert not answer.reasons


def test_commands_name_the_folder_as_the_user_did(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    found = report(blocks=6)
    command = f"iostudy run {tmp_path}/x --resume"
    found = found.model_copy(update={"next_steps": (Step(text="Resume:", command=command),)})
    answer = build_answer(found, Path("x"))
    assert answer.next_steps[0].command == "iostudy run x --resume"


def test_the_same_answer_as_markdown() -> None:
    answer = build_answer(report(blocks=20), Path("results/x"))
    text = markdown.render_answer(answer)
    assert text.count("| none |") == len(answer.tables)
    assert "| ▼ worse" in text
    assert answer.tables[0].results[1].configuration in text
    marked = answer.tables[0].results[1].model_copy(update={"fragile": True})
    table = replace(answer.tables[0], results=(answer.tables[0].results[0], marked))
    text = markdown.render_answer(replace(answer, tables=(table,)))
    assert "(fragile)" in text
    assert "Fragile: Student's t has another verdict." in text


def test_colour_only_repeats_what_is_written(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = {}
    for colour in (True, False):
        file = io.StringIO()
        console = Console(
            file=file, width=80, force_terminal=colour, color_system="standard" if colour else None
        )
        console.print(build_answer(report(blocks=20), None))
        shown[colour] = file.getvalue()
    assert "\x1b[31m" in shown[True]
    assert "▼ worse" in shown[False]
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown[True]) == shown[False]
