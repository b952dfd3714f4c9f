"""Tests of published figures next to a study's own, in every format."""

from __future__ import annotations

import io
import json
import math
import re
from collections import defaultdict
from dataclasses import replace

import pytest
from rich.console import Console

from iostudy.ledger.rows import TrialRow
from iostudy.report.render import html, json_, markdown, terminal
from iostudy.report.topics.reference import (
    PublicationReport,
    PublishedFigureReport,
    build_publication,
    build_reference_document,
    format_own_change,
    format_own_value,
)
from iostudy.report.values import Report
from iostudy.results.comparisons import compare_configurations
from iostudy.study import reference
from iostudy.study.combinations import NamedConfiguration
from iostudy.study.model import Study
from iostudy.study.reference import Publication
from iostudy.study.requests import build_request as request_of
from iostudy.telemetry.iostat import compute_iostat_figures
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog
from tests.json_schema import assert_conforms
from tests.report.factory import build_report, factor, rows, study, study_row

# The publications are of workloads of plugins.
pytestmark = pytest.mark.all_plugins


def study_of(*workloads: str) -> Study:
    """R1's two configurations, and one of its five changes alone."""
    configurations = (
        NamedConfiguration("before", {}),
        NamedConfiguration("after", {"block.nomerges": "2", "block.rq_affinity": "2"}),
        NamedConfiguration("one alone", {"block.nomerges": "2"}),
    )
    factors = (factor("block.nomerges", "0", "2"), factor("block.rq_affinity", "1", "2"))
    made = study(*factors, workloads=workloads or ("dfsio-write",))
    return replace(made, chosen=configurations, reference="R1")


def trials(of: Study, **options: object) -> list[TrialRow]:
    """With the figures that R1 has, all of them in proportion to the aggregate."""
    found = rows(of, effects={("dfsio-write", "after"): 0.25}, **options)  # type: ignore[arg-type]
    return [replace(row, figures=_figures(row)) for row in found]


def _figures(row: TrialRow) -> dict[str, float]:
    figures = dict(row.figures or {})
    moved = figures["bandwidth"]
    own = moved / 10
    of_dfsio = {"aggregate": moved, "throughput": own, "average_io_rate": own}
    return figures | of_dfsio | {"io_rate_stddev": own / 8}


def report_of(of: Study, found: list[TrialRow]) -> Report:
    return build_report(of, study_row(of), found)


def published(report: Report, figure: str, configuration: str) -> PublishedFigureReport:
    assert report.reference is not None
    (only,) = (
        each
        for each in report.reference.figures
        if (each.figure, each.configuration) == (figure, configuration)
    )
    return only


def test_study_without_a_reference_has_no_table() -> None:
    assert report_of(study(), rows(study())).reference is None


@pytest.mark.parametrize(
    ("figure", "percent"),
    [
        ("throughput", 8.0),
        ("average_io_rate", -2.9),
        ("io_rate_stddev", -64.1),
        ("exec_time", -12.5),
    ],
)
def test_the_published_change(figure: str, percent: float) -> None:
    report = report_of(study_of(), trials(study_of()))
    change = published(report, figure, "after").change
    assert change is not None
    assert round(100 * change, 1) == percent
    assert published(report, figure, "before").change is None


def test_the_own_change_is_that_of_the_verdict() -> None:
    """Throughput is in proportion to the aggregate, whose verdict has the same interval."""
    of = study_of()
    found = trials(of)
    own = published(report_of(of, found), "throughput", "after").own
    comparison = next(
        s for s in compare_configurations(of, found) if s.configuration == "after"
    ).comparison
    assert own is not None and own.change is not None and own.interval is not None
    assert math.isclose(own.change, comparison.change)
    low, high = comparison.change_interval
    assert math.isclose(own.interval.low, low)
    assert math.isclose(own.interval.high, high)
    assert (own.blocks, own.unit) == (8, "MiB/s")


def test_hadoops_own_program_is_compared_with_the_figures() -> None:
    of = study_of("dfsio-write", "hadoop.dfsio-write")
    reference = report_of(of, trials(of)).reference
    assert reference is not None
    twice = [(each.workload, each.own is not None) for each in reference.compared]
    half = len(twice) // 2
    assert twice == [("dfsio-write", True)] * half + [("hadoop.dfsio-write", True)] * half
    assert len(reference.figures) == 2 * len(build_publication("R1").figures)


def test_opens_with_a_log_are_compared_with_opens_without() -> None:
    """R2 publishes its opens as of no log, and a real name-node has one."""
    logs = factor("workload.logs", "log", "log, disk2:log")
    labels = tuple(NamedConfiguration(label, {}) for label in ("1 local disk", "4 local disks"))
    for program in ("nnthroughput", "hadoop.nnthroughput"):
        options = catalog.get(program).options(files=2000)
        of = replace(
            study(logs), chosen=labels, reference="R2", workloads=(request_of(program, options),)
        )
        rates = {"rate": 2e4, "open_rate": 5e5, "create_rate": 1e4, "opens_per_create": 50.0}
        found = [replace(row, figures=rates) for row in rows(of)]
        reference = report_of(of, found).reference
        assert reference is not None
        (opens,) = (
            each.own
            for each in reference.figures
            if (each.figure, each.workload) == ("open_rate", program)
        )
        assert opens is not None
        assert (opens.configuration, opens.change) == ("1 local disk", None)
        assert math.isclose(opens.value, 5e5)


def test_figures_of_iostat_are_those_of_the_device() -> None:
    labels = (NamedConfiguration("RAID10 of 36 disks", {}),)
    options = catalog.get("iozone").options()
    of = replace(
        study(factor("block.nomerges", "0", "2")),
        chosen=labels,
        reference="R3",
        workloads=(request_of("iozone", options),),
    )
    moved = {"writes": 600.0, "sectors_written": 4096.0, "io_ms": 500.0}
    device = compute_iostat_figures(defaultdict(float, moved), 1.0)
    found = [
        replace(
            row,
            figures={"mean_rate": 100.0},
            summary=TelemetrySummary(1.0, {row.device: device}, {}),
        )
        for row in rows(of)
    ]
    reference = report_of(of, found).reference
    assert reference is not None
    own = {each.figure: each.own for each in reference.figures if each.own is not None}
    assert {name: (each.value, each.unit) for name, each in own.items()} == {
        "w/s": (pytest.approx(600), "requests/s"),
        "wMB/s": (pytest.approx(2), "MB/s"),
        "%util": (pytest.approx(50), "%"),
    }


def test_events_are_those_of_the_published_time() -> None:
    options = catalog.get("events").options(jobs=20)
    of = replace(
        study(factor("block.nomerges", "0", "2")),
        chosen=(NamedConfiguration("HDFS", {}),),
        reference="R5",
        workloads=(request_of("events", options),),
    )
    figures = {"event_rate": 10.0, "events": 400.0, "read_rate": 5.0}
    reference = report_of(of, [replace(row, figures=figures) for row in rows(of)]).reference
    assert reference is not None
    own = {each.figure: each.own for each in reference.figures if each.own is not None}
    assert own["events"] is not None
    assert (own["events"].value, own["events"].unit) == (pytest.approx(24000), "events")


def test_a_lower_figure_has_a_lower_change_whichever_is_better() -> None:
    of = study_of()
    own = published(report_of(of, trials(of)), "exec_time", "after").own
    assert own is not None and own.change is not None
    assert -0.22 < own.change < -0.18


def test_only_trials_that_count_and_have_the_figure() -> None:
    of = study_of()
    found = trials(of, blocks=3)
    spoilt = [
        replace(row, counts=False, figures={"throughput": 1e9}) if row.block == 3 else row
        for row in found
    ]
    own = published(report_of(of, spoilt), "throughput", "after").own
    assert own is not None and own.blocks == 2
    without = [replace(row, figures={**(row.figures or {}), "throughput": 0.0}) for row in found]
    assert published(report_of(of, without), "throughput", "after").own is None


def test_one_block_has_a_change_and_no_interval() -> None:
    of = study_of()
    own = published(report_of(of, trials(of, blocks=1)), "throughput", "after").own
    assert own is not None
    assert own.change is not None
    assert own.interval is None


@pytest.mark.parametrize(
    "of",
    [
        study_of("dfsio-read"),
        replace(
            study_of(),
            chosen=(NamedConfiguration("a", {}), NamedConfiguration("b", {"block.nomerges": "2"})),
        ),
    ],
)
def test_a_study_of_something_else_has_the_published_figures_alone(of: Study) -> None:
    report = report_of(of, trials(of))
    assert all(each.own is None for each in report.reference.figures)  # type: ignore[union-attr]
    for form, text in forms_of(report).items():
        plain = " ".join(re.sub(r"<[^>]+>", "", text).split())
        assert (
            "has figures of before and after on dfsio-write. This study has no finished block"
            in plain
        ), form
        assert "0.85347" in text, form


def test_in_a_terminal_the_answer_comes_first() -> None:
    text = forms_of(report_of(study_of(), trials(study_of())))["terminal"]
    assert text.index("On dfsio-write, compared") < text.index("Comparison with R1")


def test_a_published_workload_that_the_study_has_not_is_left_out() -> None:
    report = report_of(study_of(), trials(study_of()))
    assert report.reference is not None
    others = tuple(
        each.model_copy(update={"workload": "sort-local", "own": None})
        for each in report.reference.figures
    )
    both = {"figures": (*report.reference.figures, *others)}
    wider = report.model_copy(update={"reference": report.reference.model_copy(update=both)})
    for form, text in forms_of(wider).items():
        assert text == forms_of(report)[form]


def forms_of(report: Report) -> dict[str, str]:
    file = io.StringIO()
    Console(file=file, width=80).print(terminal.render(report))
    return {
        "terminal": file.getvalue(),
        "markdown": markdown.render(report).partition("## Study file")[0],
        "html": html.render(report).partition('<script type="application/gzip"')[0],
    }


def test_every_form_shows_both_and_says_how_many_runs() -> None:
    report = report_of(study_of(), trials(study_of()))
    forms = forms_of(report)
    own = format_own_change(published(report, "throughput", "after"))
    for form, text in forms.items():
        for wanted in (" R1", "0.85347", "+8.0 %", own.split(" [")[0], "one run before"):
            assert wanted in text, (form, wanted)
        assert "not used for verdicts" in " ".join(text.split()), form
    for form in ("markdown", "html"):
        assert "(1 run)" in forms[form]
        assert "in execution time real?" in forms[form]
        assert "throughput" in forms[form]
    assert "average_io_rate" in forms["terminal"]
    for word in own.split():
        assert word in forms["terminal"]
    assert "Own MiB have 2^20 bytes" in " ".join(forms["terminal"].split())
    assert all(len(line) <= 80 for line in forms["terminal"].splitlines())


def test_json_has_them_in_full() -> None:
    document = json.loads(json_.render(report_of(study_of(), trials(study_of()))))
    figures = document["reference"]["figures"]
    assert figures[0]["value"] == 0.85347
    assert {"change", "own", "runs", "unit"} <= set(figures[1])
    assert figures[1]["own"]["interval"]["low"] < figures[1]["own"]["change"]


def renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A publication of schedulers by the names that they had."""
    figures = [
        {
            "configuration": name,
            "workload": "dfsio-write",
            "figure": "throughput",
            "value": value,
            "unit": "MB/s",
        }
        for name, value in (("noop", 10.0), ("cfq", 12.0), ("deadline", 9.0))
    ]
    made = {
        **reference.get("R1").model_dump(),
        "baseline": "noop",
        "counterparts": {"noop": "none", "cfq": "bfq"},
        "orders": [
            {"where": "here", "order": ["cfq", "noop"]},
            {"where": "there", "order": ["cfq"]},
        ],
        "figures": figures,
    }
    publication = Publication.model_validate(made)
    monkeypatch.setattr(reference, "get", lambda name: publication)


def test_a_configuration_that_is_called_otherwise_today(monkeypatch: pytest.MonkeyPatch) -> None:
    of = replace(study(workloads=["dfsio-write"]), reference="R1")
    found = [
        replace(row, figures=_figures(row))
        for row in rows(of, effects={("dfsio-write", "bfq"): -0.12})
    ]
    renamed(monkeypatch)
    report = report_of(of, found)
    cfq = published(report, "throughput", "cfq")
    assert cfq.own is not None
    assert cfq.own.configuration == "bfq"
    assert cfq.own.change == pytest.approx(-0.12, abs=0.02)
    assert re.fullmatch(
        r"[\d.]+ \[[\d.]+, [\d.]+\] MiB/s = [\d.]+ MB/s \(bfq\)", format_own_value(cfq)
    )
    assert published(report, "throughput", "deadline").own is None


def test_the_name_that_a_study_has_itself_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    schedulers = factor("block.scheduler", "noop", "none", "cfq")
    of = replace(study(schedulers, workloads=["dfsio-write"]), reference="R1")
    found = [replace(row, figures=_figures(row)) for row in rows(of)]
    renamed(monkeypatch)
    noop = published(report_of(of, found), "throughput", "noop")
    assert noop.own is not None
    assert noop.own.configuration == "noop"


def test_published_order_appears_with_its_configurations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    renamed(monkeypatch)
    both = replace(study(workloads=["dfsio-write"]), reference="R1")
    none = replace(study(factor("block.scheduler", "kyber", "none", "x")), reference="R1")
    others, alone = (report_of(of, trials(of)).reference for of in (both, none))
    assert others is not None
    assert alone is not None
    assert [ranked.where for ranked in others.orders] == ["here"]
    assert alone.orders == ()


@pytest.mark.parametrize("name", reference.names())
def test_publication_is_complete_in_every_format(name: str) -> None:
    published, built = reference.get(name), build_publication(name)
    document, file = build_reference_document(built), io.StringIO()
    Console(file=file, width=100).print(terminal.render_document(document))
    plain = markdown.render_document(document).replace("\\", "")
    for text in (" ".join(file.getvalue().split()), " ".join(plain.split())):
        about = (*published.circumstances, *published.caveats, *published.open_questions)
        for statement in (published.title, *about):
            assert " ".join(statement.split()) in text
        assert all(f"{figure.value:g} {figure.unit}" in text for figure in published.figures)
        assert all(" > ".join(ranked.order) in text for ranked in published.orders)
    document_as_json = json.loads(json_.render(PublicationReport(published=built)))
    assert document_as_json["schema"] == "iostudy.reference/1"
    assert_conforms(document_as_json, json_.build_schema(PublicationReport))
    assert len(document_as_json["published"]["figures"]) == len(published.figures)
    assert all(figure["own"] is None for figure in document_as_json["published"]["figures"])
