"""The workloads of a study: which of them, under which label, and which figure decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.errors import UsageError, raise_together
from iostudy.results.comparisons import collect_figures, compare_configurations
from iostudy.study.combinations import Configuration
from iostudy.study.names import UnknownNameError
from iostudy.study.requests import (
    apply_configuration,
    build_request,
    find_unmet_needs,
    find_unsynced_latencies,
)
from iostudy.workloads import catalog
from iostudy.workloads.native import io
from iostudy.workloads.workload import NO_TARGET
from tests.report.factory import rows
from tests.study.files import GOOD, only_problem, problems, read

READ = "file-reads"
ITEM = f"- io: {{label: {READ}}}"
DEFAULTS = catalog.get("io").options()


def with_read(options: str) -> str:
    return GOOD.replace(ITEM, f"- io: {options}")


def test_the_first_figure_decides_unless_another_is_named():
    assert build_request("io", DEFAULTS).figure.name == "bandwidth"
    assert build_request("io", DEFAULTS, figure="read_latency_p99").figure.unit == "us"
    with pytest.raises(UnknownNameError, match="unknown figure"):
        build_request("io", DEFAULTS, figure="latency")


def test_a_study_names_its_figure_and_its_label():
    study = read(with_read("{figure: exec_time, label: a scan}"))
    write, scan = study.workloads
    assert (write.label, write.figure.name) == ("file-writes", "bandwidth")
    assert (scan.label, scan.name, scan.figure.name) == ("a scan", "io", "exec_time")
    assert not scan.figure.higher_is_better


def test_of_several_figures_the_first_decides():
    request = read(with_read("{figure: [read_latency_p99, bandwidth]}")).workloads[-1]
    assert [figure.name for figure in request.figures] == ["read_latency_p99", "bandwidth"]
    assert request.figure.name == "read_latency_p99"


@pytest.mark.parametrize("figures", ["[]", "[bandwidth, bandwidth]"])
def test_figures_are_different_ones(figures):
    problem = only_problem(ITEM, f"- io: {{label: file-reads, figure: {figures}}}")
    assert problem.message.startswith("name one figure, or several different ones")


@pytest.mark.all_plugins
def test_a_screening_decides_by_one_figure():
    two = (
        "- io: {label: file-reads, figure: [read_latency_p99, bandwidth]}\ndesign: plackett-burman"
    )
    messages = [problem.message for problem in problems(GOOD.replace(ITEM, two))]
    assert "a screening decides by one figure: name one for file-reads" in messages


def test_an_unknown_figure_suggests_the_nearest_at_its_line():
    problem = only_problem(ITEM, "- io: {label: file-reads, figure: read_latency_p9}")
    assert problem.line == 7
    assert problem.path == "workloads.1.io.figure"
    assert problem.found == "read_latency_p9"
    assert problem.suggestion == "read_latency_p99"
    assert "bandwidth" in problem.allowed


@pytest.mark.parametrize("figure", ["[a]", "7", "{a: b}"])
def test_a_figure_is_a_name(figure):
    problem = only_problem(ITEM, f"- io: {{label: file-reads, figure: {figure}}}")
    assert problem.message == "unknown figure"


def test_a_label_with_its_problem_does_not_hide_those_of_the_options():
    found = problems(with_read("{label: '', files: 0}"))
    assert {problem.path.rpartition(".")[2] for problem in found} == {"label", "files"}


def test_the_same_workload_twice_needs_labels():
    problem = only_problem(ITEM, f"{ITEM}\n  {ITEM}")
    assert "label" in problem.message
    twice = f"{ITEM}\n  - io: {{label: again, figure: exec_time}}"
    study = read(GOOD.replace(ITEM, twice))
    assert [w.figure.name for w in study.workloads] == ["bandwidth", "bandwidth", "exec_time"]


def test_verdicts_are_of_the_figure_that_is_named():
    by_rate = read(GOOD)
    by_time = read(with_read(f"{{label: {READ}, figure: exec_time}}"))
    trials = rows(by_rate, blocks=6, effects={(READ, "bfq"): -0.2})
    value = collect_figures(by_time, trials)[READ, "none"][1]
    assert value == next(
        row.figures["exec_time"]
        for row in trials
        if row.figures and (row.workload, row.configuration, row.block) == (READ, "none", 1)
    )
    rate, time = (compare_configurations(study, trials)[-1] for study in (by_rate, by_time))
    assert rate.comparison.verdict is time.comparison.verdict
    assert rate.comparison.change < 0 < time.comparison.change
    assert time.figure.unit == "s"


def test_a_figure_that_some_configuration_does_not_have_is_a_problem(monkeypatch):
    definition = replace(io.IO, figures=lambda o: io.IO.figures(o)[1 if o.direct else 0 :])
    monkeypatch.setitem(catalog._ALL, "io", definition)
    factors = "[none, bfq]\n  workload.direct: [false, true]"
    _, problem = problems(GOOD.replace("[none, bfq]", factors))
    assert "file-reads cannot run with direct=true: it then has no bandwidth" in problem.message


def test_a_workload_that_lacks_something_is_refused_once_for_all_its_options(monkeypatch):
    checked = []

    class UnavailableWorkload(io.Io):
        def check(self):
            checked.append(self.options.direct)
            if self.options.direct:
                raise UsageError("fio", found="there is none", where="PATH", remedy="install it")

    definition = replace(io.IO, make=UnavailableWorkload)
    monkeypatch.setitem(catalog._ALL, "io", definition)
    factors = "[none, bfq]\n  workload.direct: [false, true]"
    study = read(GOOD.replace("[none, bfq]", factors))
    with pytest.raises(UsageError, match="install it"):
        raise_together(find_unmet_needs(study.workloads, study.configurations(), NO_TARGET))
    assert checked == [False, True] * 2


def test_levels_of_a_configuration_take_the_place_of_options():
    factors = "[none, bfq]\n  workload.record_size: [64KiB, 4KiB]"
    study = read(GOOD.replace("[none, bfq]", factors))
    sizes = {apply_configuration(study.workloads[0], c).record_size for c in study.configurations()}
    assert sizes == {64 << 10, 4 << 10}


def test_options_that_do_not_vary_stay_as_they_are():
    """Times among them, which are numbers inside and need their unit to be read."""
    study = read(
        GOOD.replace("[none, bfq]", "[none, bfq]\n  workload.jobs: [2, 4]").replace(
            ITEM, "- io: {label: a scan, duration: 40min, record_size: 1MiB}"
        )
    )
    found = [apply_configuration(study.workloads[1], each) for each in study.configurations()]
    assert {options.jobs for options in found} == {2, 4}
    assert {(options.duration, options.record_size) for options in found} == {(2400.0, 1 << 20)}


def test_options_in_any_unit_go_with_a_varied_one():
    options = catalog.get("io").options.model_validate({"think": "300us", "compressible": "30%"})
    varied = apply_configuration(
        build_request("io", options), Configuration("many", {}, {"jobs": 4})
    )
    assert (varied.think, varied.compressible, varied.jobs) == (3e-4, 0.3, 4)


BUILDS = """\
question: Is the new build faster?
target: .
factors:
  workload.run: {old: [dd, bs=1M, count, 64, 1.10, +10], new: ./new -v}
workloads: [command]
"""


def test_a_factor_gives_an_option_that_the_workload_leaves_out():
    study = read(BUILDS)
    (request,) = study.workloads
    runs = [apply_configuration(request, each).run for each in study.configurations()]
    assert [each.label for each in study.configurations()] == ["old", "new"]
    assert runs == ["dd bs=1M count 64 1.10 +10", "./new -v"]
    assert request.options.run == ("dd", "bs=1M", "count", "64", "1.10", "+10")


def test_mappings_are_levels_of_options_that_take_one():
    levels = "workload.environment: {few: {THREADS: 1}, many: {THREADS: 16, MODE: a b}}"
    study = read(
        BUILDS.replace(
            "workload.run: {old: [dd, bs=1M, count, 64, 1.10, +10], new: ./new -v}", levels
        ).replace("[command]", "[{command: {run: x}}]")
    )
    (request,) = study.workloads
    given = [apply_configuration(request, each).environment for each in study.configurations()]
    assert given == [{"THREADS": "1"}, {"THREADS": "16", "MODE": "a b"}]


def test_a_level_with_parts_needs_a_label():
    (problem,) = problems(
        BUILDS.replace("{old: [dd, bs=1M, count, 64, 1.10, +10], new: ./new -v}", "[[a], [b]]")
    )
    assert "needs a label" in problem.message


def test_a_program_that_is_neither_text_nor_list_is_one_problem():
    wrong = BUILDS.replace(
        "workload.run: {old: [dd, bs=1M, count, 64, 1.10, +10], new: ./new -v}",
        "workload.limit: [1s, 2s]",
    )
    for run, found in (
        ("5", "a text, or as a list"),
        ("{a: 1}", "a text, or"),
        ("[a, null]", "null is not a text"),
    ):
        (problem,) = problems(wrong.replace("[command]", f"[{{command: {{run: {run}}}}}]"))
        assert problem.path.endswith("command.run")
        assert found in problem.message


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ("operation: write, sync: fsync, figure: write_latency_p99", True),
        ("operation: write, sync: fsync, figure: [write_latency_p99, sync_latency_p99]", False),
        ("operation: write, sync: fsync, figure: iops", False),
        ("operation: write, figure: write_latency_p99", False),
    ],
)
def test_a_latency_without_the_syncs_of_durable_writes_is_warned_of(options, warned):
    study = read(GOOD.replace(ITEM, f"- io: {{{options}}}"))
    warnings = list(find_unsynced_latencies(study))
    assert len(warnings) == warned
    assert all("figure: [sync_latency_p99, iops]" in text for text in warnings)
