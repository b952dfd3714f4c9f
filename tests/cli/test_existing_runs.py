"""``iostudy compare`` of runs that exist already."""

from __future__ import annotations

import json

import numpy as np
import pytest

from iostudy.cli.existing_runs import read_csv_runs, read_fio_runs
from iostudy.errors import UsageError
from iostudy.report.documents.existing_runs import (
    FigureRuns,
    RunsComparison,
    build_runs_comparison,
    build_runs_document,
)
from iostudy.report.render import json_, markdown
from iostudy.workloads.definition import Figure
from tests.json_schema import assert_conforms


def report_of(iops: float, p99_us: float, *, plain: bool = False, bs: str = "4k") -> str:
    """A report of one job of random reads of a second, as `fio --output-format=json+` has it."""
    clat = {"max": 2 * p99_us * 1000, "percentile": {"99.000000": p99_us * 1000}}
    if not plain:
        clat["bins"] = {str(round(p99_us * 1000)): round(iops)}
    read = {
        "io_bytes": round(iops * 4096),
        "total_ios": round(iops),
        "runtime": 1000,
        "bw_bytes": iops * 4096,
        "iops": iops,
        "clat_ns": clat,
        "lat_ns": {"mean": 1000.0 * p99_us},
    }
    job = {
        "jobname": "reader",
        "groupid": 0,
        "error": 0,
        "usr_cpu": 1.0,
        "sys_cpu": 1.0,
        "job options": {"bs": bs},
        "read": read,
    }
    return json.dumps({"fio version": "fio-3.33", "jobs": [job]})


def write_runs(program, folder, change=1.0, count=6, **more):
    draw = np.random.default_rng(len(folder))
    (program.folder / folder).mkdir()
    for number in range(count):
        iops = 1000 * change * np.exp(0.01 * draw.standard_normal())
        text = report_of(iops, 500 / change, **more)
        (program.folder / folder / f"{number}.json").write_text(text)


def compare(program, *more):
    return program("compare", "--fio", "before/*.json", "after/*.json", *more)


@pytest.mark.parametrize("plain", [False, True])
def test_runs_of_fio_have_verdicts_and_say_what_these_leave_out(program, plain):
    write_runs(program, "before")
    write_runs(program, "after", 0.8, plain=plain, bs="8k")
    done = compare(program, "--figure", "iops, read_latency_p99", "--figure", "iops")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert text.count("worse by ≥ margin") == 2
    assert "not paired" in text
    assert "bs: 4k and 8k" in text
    assert "Higher is better for iops; lower is better for read_latency_p99." in text
    assert "a risk of 5 % for 2 verdicts together." in text
    failed = compare(program, "--figure", "iops", "--fail-on", "worse")
    assert failed.returncode == 1
    document = json.loads(compare(program, "--format", "json").stdout)
    assert_conforms(document, json_.build_schema(RunsComparison))
    (bandwidth,) = document["compared"]
    assert bandwidth["interval"]["low"] < -0.2 < bandwidth["interval"]["high"] < -0.15


def test_single_runs_get_no_interval(program):
    write_runs(program, "before")
    write_runs(program, "after", 0.5, count=1)
    done = compare(program)
    assert "[too wide]" in done.stdout
    assert "inconclusive" in done.stdout
    assert "A single run has no interval" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("runs", "single", "equal"),
    [
        ([([10.0, 10.0], [9.0, 9.0])], False, True),
        ([([10.0], [9.0, 9.0])], True, False),
        ([([10.0], [9.0]), ([10.0, 10.0], [9.0, 9.0])], True, True),
        ([([10.0, 10.1], [9.0, 9.1])], False, False),
    ],
)
def test_what_would_give_an_interval_is_said_of_each_case(runs, *, single, equal):
    rate = Figure(name="iops", unit="op/s", documentation="", higher_is_better=True)
    figures = [FigureRuns(rate, first, second) for first, second in runs]
    comparison = build_runs_comparison(("before", "after"), figures, 0.03, 0.05)
    text = markdown.render_document(build_runs_document(comparison))
    text = " ".join(text.split())
    assert ("A single run has no interval" in text) == single
    assert ("A few equal values have no interval and decide nothing: give more" in text) == equal


def test_jobs_that_are_mixed_within_a_set_are_listed(program):
    write_runs(program, "before")
    write_runs(program, "after")
    other = report_of(1000, 500, bs="64k").replace("reader", "writer")
    (program.folder / "before" / "0.json").write_text(other)
    text = " ".join(compare(program).stdout.split())
    assert "bs: 4k or 64k and 4k" in text
    assert "job: reader or writer and reader" in text


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffname,value\r\nbuild,10\r\nbuild,11\r\n",
        "\ufeffbuild,10\nbuild,11\n",
        "build,10\rbuild,11\r",
    ],
)
def test_lines_are_those_of_any_system(tmp_path, text):
    for name in ("before.csv", "after.csv"):
        (tmp_path / name).write_bytes(text.encode())
    places = (str(tmp_path / "before.csv"), str(tmp_path / "after.csv"))
    (runs,), differences = read_csv_runs(places, (), higher_is_better=True)
    assert runs.figure.higher_is_better
    assert (runs.figure.name, runs.first, runs.second) == ("build", [10, 11], [10, 11])
    assert not differences
    for name in ("before.csv", "after.csv"):
        (tmp_path / name).write_text("p99_latency,10\nwall,1\nmisses,1\n")
    (latency,), _ = read_csv_runs(places, ("p99_latency",))
    assert not latency.figure.higher_is_better
    for figures in ((), ("misses",)):
        with pytest.raises(UsageError, match=r"(?s)less of (wall|misses) is.*--lower-is-better"):
            read_csv_runs(places, figures)


@pytest.mark.parametrize(
    "line", ["build;1,5", ",5", "build,", "build,nan", "build,inf", "build,0", "build,1,5"]
)
def test_a_line_that_is_no_name_and_number_is_an_error(tmp_path, line):
    (tmp_path / "runs.csv").write_text(f"build,1\n{line}\n")
    with pytest.raises(UsageError, match="line 2"):
        read_csv_runs((str(tmp_path / "runs.csv"),) * 2, (), higher_is_better=True)


def test_an_open_quotation_mark_is_an_error(tmp_path):
    (tmp_path / "runs.csv").write_text('"' + "build,1\n" * 20_001)
    with pytest.raises(UsageError, match="quotation marks"):
        read_csv_runs((str(tmp_path / "runs.csv"),) * 2, (), higher_is_better=True)


def test_a_run_that_did_nothing_is_an_error(tmp_path):
    for name in ("before.json", "after.json"):
        (tmp_path / name).write_text(report_of(0, 500))
    places = (str(tmp_path / "before.json"), str(tmp_path / "after.json"))
    with pytest.raises(UsageError, match="a figure iops above 0"):
        read_fio_runs(places, ("iops",))


def test_lines_of_name_and_value_are_compared(program):
    (program.folder / "before.csv").write_text("name,value\nbuild,10.0\nbuild,10.1\nother,1\n")
    (program.folder / "after.csv").write_text("build,8.0\nbuild,8.1\n")
    command = ("compare", "--csv", "before.csv", "after.csv", "--lower-is-better")
    done = program(*command)
    assert done.returncode == 0, done.stderr
    assert "better by ≥ margin" in done.stdout
    assert "Lower is better for build." in done.stdout
    assert "other: in before.csv alone" in done.stdout
    assert "equivalent" in program(*command, "--margin", "30%").stdout
    (program.folder / "after.csv").write_text("build,8.0\nbuild,8.1\nother,1\nother,1\n")
    assert (
        "Lower is better for other and build."
        in program(*command, "--figure", "other,build").stdout
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("--fio", "nowhere/*", "after/*"), "no such file"),
        (("--fio", "before.csv", "before.csv"), "no whole JSON document"),
        (("--csv", "before.csv", "nowhere"), "nowhere"),
        (("--csv", "bad.csv", "before.csv"), "bad.csv, line 2"),
        (("--csv", "before.csv", "before.csv", "--figure", "x"), "values of x in both files"),
        (("--csv", "before.csv", "before.csv", "--margin", "0%"), "a percentage above 0%"),
        (("--csv", "--fio", "before.csv", "before.csv"), "--fio or --csv"),
        (("before", "after", "--margin", "3%"), "--fio or --csv"),
    ],
)
def test_what_cannot_be_compared_is_an_error(program, command, message):
    (program.folder / "before.csv").write_text("build,1\n")
    (program.folder / "bad.csv").write_text("build,1\nbuild,-3\n")
    done = program("compare", *command)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_report_names_the_figures_that_it_has(program):
    write_runs(program, "before")
    write_runs(program, "after")
    done = compare(program, "--figure", "write_latency_p99")
    assert done.returncode == 2
    assert "read_latency_p99" in done.stderr
