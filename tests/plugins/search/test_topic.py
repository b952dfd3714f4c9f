"""Tests of a search in the report: its candidates in every format, and no verdict."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from iostudy.report.base import Span
from iostudy.report.render import markdown
from iostudy.report.section import Section
from iostudy.report.values import Report
from iostudy_search.optimizer.race import RaceStatus
from iostudy_search.report import build_search_report
from iostudy_search.result import read_search
from iostudy_search.topic import (
    CandidateReport,
    ImportanceReport,
    MainEffectPoint,
    MainEffectReport,
    SearchReport,
    describe_outcome,
)
from tests.execution.test_runner import conduct
from tests.plugins.search.test_schedule import SEARCH, ResponseSurfaceNode
from tests.report.factory import report

AHEAD, FIFTH = "read_ahead_kb=8192", "R5's optimum"


def candidate(
    label: str, standing: RaceStatus, change: float | None, **changes: object
) -> CandidateReport:
    fields = {
        "point": {"read_ahead_kb": "8192", "scheduler": "bfq"},
        "blocks": 8,
        "error": 0.021,
        "on": (change, change),
        "eligible": True,
        "refused": "",
        **changes,
    }
    return CandidateReport(label=label, standing=standing, change=change, **fields)  # type: ignore[arg-type]


def curve(parameter: str, values: tuple[str, ...], *, is_range: bool) -> MainEffectReport:
    points = tuple(
        MainEffectPoint(value=value, change=0.01 * at, interval=Span(low=-0.02, high=0.05))
        for at, value in enumerate(values)
    )
    return MainEffectReport(parameter=parameter, points=points, is_range=is_range, log=is_range)


def search(**changes: object) -> SearchReport:
    fields = {
        "ended": True,
        "incumbent": AHEAD,
        "workloads": ("file-writes", "file-reads"),
        "candidates": (
            candidate(FIFTH, RaceStatus.WORSE, -0.08, blocks=2),
            candidate(AHEAD, RaceStatus.FINISHED, 0.11),
            candidate("harmful", RaceStatus.UNFIT, 0.2, blocks=4),
            candidate("unfit", RaceStatus.FINISHED, 0.05, eligible=False),
            candidate("still", RaceStatus.RACING, 0.01, blocks=1, error=None),
            candidate("no", RaceStatus.REFUSED, None, blocks=0, error=None, refused="EINVAL"),
        ),
        "trials": 64,
        "curves": (
            curve("read_ahead_kb", ("1024", "8192", "32768"), is_range=True),
            curve("scheduler", ("none", "bfq"), is_range=False),
        ),
        "importance": (
            ImportanceReport(parameter="scheduler", share=0.1, interval=Span(low=0.0, high=0.4)),
            ImportanceReport(
                parameter="read_ahead_kb", share=0.8, interval=Span(low=0.3, high=0.95)
            ),
            ImportanceReport(parameter=None, share=0.04, interval=Span(low=0.0, high=0.3)),
        ),
        **changes,
    }
    return SearchReport(**fields)  # type: ignore[arg-type]


def of(search_report: SearchReport) -> Report:
    return report().model_copy(update={"search": search_report})


def section(search_report: SearchReport) -> Section:
    return search_report.build_section(factor="", risk=0.05, several=True)


def test_a_study_that_searches_nothing_has_no_such_section() -> None:
    assert report().topics == ()


def test_candidates_are_sorted_by_blocks_with_their_status() -> None:
    table = section(search()).folded[0]
    became = {row[0]: row[1] for row in table.rows}
    assert became == {
        AHEAD: "ahead",
        "unfit": "finished; worse on a workload",
        "harmful": "dropped: worse on a workload",
        FIFTH: "dropped: clearly worse",
        "still": "still racing",
        "no": "refused: EINVAL",
    }
    assert [row[0] for row in table.rows] == list(became)
    assert all(int(a[2]) >= int(b[2]) for a, b in pairwise(table.rows))
    row = next(row for row in table.rows if row[0] == AHEAD)
    assert row[2:] == ("8", "+11.0 %", "2.1 %", "+11.0 %", "+11.0 %")


def test_one_workload_needs_no_column_of_its_own() -> None:
    table = section(search(workloads=("file-reads",))).folded[0]
    assert len(table.heads) == len(table.rows[0]) == 5


@pytest.mark.parametrize("standing", list(RaceStatus))
def test_every_status_has_a_text(standing: RaceStatus) -> None:
    assert describe_outcome(candidate("x", standing, 0.1, refused="why"))


def test_leading_candidate_is_no_verdict() -> None:
    known = " ".join(section(search()).notes)
    assert "5 candidates in 64 trials" in known
    assert "1 candidate could not be run" in known
    assert "2 of the candidates ran all rounds" in known
    assert "not verdicts" in known
    assert "confirmation" in known


def test_search_without_a_leader_announces_no_confirmation() -> None:
    assert "confirmation" not in " ".join(section(search(incumbent=None)).notes)


def test_importance_is_sorted_and_has_intervals() -> None:
    (table,) = section(search()).tables
    assert table.rows == [
        ("read_ahead_kb", "80 %", "30 % to 95 %"),
        ("scheduler", "10 %", "0 % to 40 %"),
        ("interactions", "4 %", "0 % to 30 %"),
    ]


def test_unknown_importance_is_explained() -> None:
    noise = section(search(importance=()))
    assert noise.tables == ()
    assert "do not differ by more than their noise" in noise.notes[-1]
    few = section(search(importance=(), curves=()))
    assert few.charts == ()
    assert "Too few candidates" in few.notes[-1]


def test_a_range_is_a_line_and_names_are_bars_both_with_the_candidates() -> None:
    ranged, named = section(search()).charts
    marks = [[layer["mark"]["type"] for layer in own.spec["layer"]] for own in (ranged, named)]
    assert marks == [["area", "line", "point"], ["rule", "tick", "point"]]
    across = [own.spec["layer"][0]["encoding"]["x"] for own in (ranged, named)]
    assert across[0]["scale"]["type"] == "log"
    assert across[1]["type"] == "nominal"
    line, points = ranged.spec["datasets"].values()
    assert [row["value"] for row in line] == [1024, 8192, 32768]
    assert {row["candidate"] for row in points} == {FIFTH, AHEAD, "harmful", "unfit", "still"}
    assert "highest at 32768" in ranged.alternative


def test_a_candidate_without_the_parameter_is_not_in_its_chart() -> None:
    alone = candidate("other", RaceStatus.FINISHED, 0.1, point={"scheduler": "none"})
    ranged, named = section(search(candidates=(alone,))).charts
    assert [layer["mark"]["type"] for layer in ranged.spec["layer"]] == ["area", "line"]
    _, points = named.spec["datasets"].values()
    assert len(points) == 1


def test_a_report_has_the_section() -> None:
    assert "30 % to 95 %" in markdown.render(of(search()))


def test_search_report_is_built_from_the_ledger(tmp_path: Path) -> None:
    conduct(tmp_path, ResponseSurfaceNode(), text=SEARCH)
    found = read_search(tmp_path)
    assert found is not None
    assert found.outcome is not None
    search_report = build_search_report(found, None).search
    assert search_report is not None
    assert search_report.ended
    assert search_report.incumbent == found.outcome.winner
    assert [own.label for own in search_report.candidates] == [
        own.label for own in found.candidates
    ]
    assert search_report.trials == sum(row.counts for row in found.rows)
    ahead = next(own for own in search_report.candidates if own.label == search_report.incumbent)
    assert ahead.blocks > 0
    assert ahead.change is not None
    assert ahead.change > 0
