"""Tests of study files that command lines of ``try`` stand for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from iostudy.errors import StudyError, UsageError
from iostudy.study.model import Study
from iostudy.study.one_line import OneLine, build_study_text
from iostudy.study.parser import parse
from iostudy.workloads.external.command import CommandOptions
from iostudy.workloads.external.fio import FioOptions


def studied(folder: Path, **line: Any) -> Study:
    text = build_study_text(OneLine(folder, **line), (5, 12))
    return parse(text, where="try", name="try")


def test_commands_are_levels_of_one_workload(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("")
    study = studied(tmp_path, commands=("true -v", "./new 'a b'"))
    (factor,) = study.factors
    assert [level.label for level in factor.levels] == ["true -v", "./new 'a b'"]
    assert factor.levels[1].value == f"{tmp_path}/new 'a b'"
    assert study.workloads[0].figure.name == "exec_time"
    assert study.decide.blocks == (5, 12)
    assert study.decide.margin == study.decide.risk == 0.05


def test_a_long_command_has_a_short_label(tmp_path: Path) -> None:
    study = studied(tmp_path, commands=("true " + "a" * 100, "true " + "b" * 100, "true"))
    labels = [level.label for level in study.factors[0].levels]
    assert [label[:2] for label in labels] == ["1:", "2:", "3:"]
    assert max(map(len, labels)) <= 60


def test_values_of_a_setting_are_crossed(tmp_path: Path) -> None:
    varied = ("vm.dirty_ratio=20,5", "workload.reads=[true, false]")
    study = studied(tmp_path, command=("true",), varied=varied, margin="10%")
    assert [f.name for f in study.factors] == ["sysctl.vm.dirty_ratio", "workload.reads"]
    assert len(study.configurations()) == 4
    assert study.decide.margin == 0.1


def test_a_target_is_a_directory_or_a_mapping(tmp_path: Path) -> None:
    commands = ("true", "false")
    assert studied(tmp_path, commands=commands, on="data").describe_target() == f"{tmp_path}/data"
    disk = studied(tmp_path, commands=commands, on="{loopback: {size: 64MiB}}")
    assert disk.describe_target() == "a loop-back disk of 64MiB with ext4"


def test_figures_are_found_in_the_output(tmp_path: Path) -> None:
    figures = ("write_p99=p99: ([0-9.]+) ms,", "iops=json:result.iops")
    study = studied(tmp_path, commands=("true", "false"), figures=figures)
    options = study.workloads[0].options
    assert isinstance(options, CommandOptions)
    p99, iops = options.figures.values()
    assert (p99.regex, p99.unit, p99.higher_is_better) == ("p99: ([0-9.]+) ms,", "ms", False)
    assert (iops.jmespath, iops.unit, iops.higher_is_better) == (
        "result.iops",
        "as printed",
        True,
    )
    assert [each.name for each in study.workloads[0].figures] == ["write_p99", "iops"]


NUMBERS = {
    "p99: 5 ms": "5",
    "p99=1.5ms": "1.5",
    "p99 = -5": "-5",
    "p99: .85": ".85",
    "p99 .....5.2": "5.2",
    "p99 --- 1e3, p50 7": "1e3",
    '"p99":12.5,': "12.5",
    "p99: 512MiB/s": "512",
}
NO_NUMBERS = ["p99: 1,234", "p99: 1:23.4", "p99 0m1.5s", "p99: 12k", "p99: 12.3 M", "p99: 1.2.3"]


def test_a_name_finds_whole_numbers_alone(tmp_path: Path) -> None:
    study = studied(tmp_path, commands=("true", "false"), figures=("p99",))
    options = study.workloads[0].options
    assert isinstance(options, CommandOptions)
    regex = options.figures["p99"].regex
    assert regex is not None
    found = {text: re.findall(regex, text) for text in (*NUMBERS, *NO_NUMBERS)}
    assert found == {t: [NUMBERS[t]] if t in NUMBERS else [] for t in found}


def test_a_wrong_pattern_is_one_problem(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"1 problem\n.*not a regular expression"):
        studied(tmp_path, commands=("true", "false"), figures=("p99=[",))


def test_a_pattern_for_a_figure_of_every_command_is_an_error(tmp_path: Path) -> None:
    figures = ("exec_time=took ([0-9]+)",)
    with pytest.raises(UsageError, match="exec_time cannot be the name"):
        studied(tmp_path, commands=("true", "false"), figures=figures)


@pytest.mark.parametrize("commands", [("true", "false"), ("fio a.fio", "fio b.fio")])
@pytest.mark.parametrize("option", [{"unit": ("ms",)}, {"better": ("higher",)}])
def test_unit_and_direction_are_not_ignored(
    tmp_path: Path, commands: tuple[str, ...], option: dict[str, tuple[str, ...]]
) -> None:
    with pytest.raises(UsageError, match=r"--(unit|better) (once|with)"):
        studied(tmp_path, commands=commands, **option)


def test_every_figure_has_its_unit_and_direction(tmp_path: Path) -> None:
    line = {"commands": ("true", "false"), "figures": ("p99,score",)}
    study = studied(tmp_path, **line, unit=("ms", "points"), better=("lower", "higher"))
    assert [(f.unit, f.higher_is_better) for f in study.workloads[0].figures] == [
        ("ms", False),
        ("points", True),
    ]
    for option in ({"unit": ("ms",)}, {"better": ("lower",)}):
        with pytest.raises(UsageError, match="once for each figure"):
            studied(tmp_path, **line, **option)


@pytest.mark.parametrize(
    ("pattern", "unit"),
    [
        *((r"p99: (\d+) MB/s", "MB/s"), (r"p99: (\d+) s$", "s")),
        *(
            (rf"p99: (\d+) {end}", "as printed")
            for end in ("MB?/s", r"B\w+", "s+core", "s{2}", "s*")
        ),
    ],
)
def test_a_unit_of_a_pattern_is_a_whole_one(tmp_path: Path, pattern: str, unit: str) -> None:
    study = studied(tmp_path, commands=("true", "false"), figures=(f"p99={pattern}",))
    assert study.workloads[0].figure.unit == unit


def test_names_of_figures_may_be_one_list(tmp_path: Path) -> None:
    study = studied(tmp_path, commands=("true", "false"), figures=("exec_time, peak_rss",))
    assert [each.name for each in study.workloads[0].figures] == ["exec_time", "peak_rss"]


def test_direction_of_a_figure_is_never_guessed(tmp_path: Path) -> None:
    for name in ("score", "requests_per_s", "MB_s", "error_rate", "iops_p99"):
        with pytest.raises(UsageError, match="--better"):
            studied(tmp_path, commands=("true", "false"), figures=(name,))
    with pytest.raises(UsageError, match=r"(?s)less of score is better.*once for each"):
        studied(tmp_path, commands=("true", "false"), figures=("iops,score",))
    study = studied(tmp_path, commands=("true", "false"), figures=("score",), better=("higher",))
    assert study.workloads[0].figure.higher_is_better
    for name, is_higher in {"ops_per_s": True, "wall_s": False, "us_per_op": False}.items():
        study = studied(tmp_path, commands=("true", "false"), figures=(name,))
        assert study.workloads[0].figure.higher_is_better is is_higher


@pytest.mark.parametrize("name", ["exec_time", "user_time", "peak_rss"])
def test_figures_of_every_command_need_no_pattern(tmp_path: Path, name: str) -> None:
    study = studied(tmp_path, commands=("true", "false"), figures=(name,))
    assert study.workloads[0].figure.name == name


def test_what_hyperfine_users_expect(tmp_path: Path) -> None:
    study = studied(
        tmp_path, commands=("true", "false"), warmup=2, prepare="touch a", cleanup="rm a"
    )
    options = study.workloads[0].options
    assert isinstance(options, CommandOptions)
    assert options.warmup == 2
    assert (options.prepare, options.cleanup) == (("touch", "a"), ("rm", "a"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rw=randread", "--name=a", "--size=8m", "--output-format=json"),
        ("--name", "a", "--rw", "randread", "--size=8m"),
    ],
)
def test_jobs_of_fio_by_name(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    study = studied(tmp_path, command=("fio", *arguments), varied=("block.scheduler=none,bfq",))
    (request,) = study.workloads
    assert isinstance(request.options, FioOptions)
    assert "rw=randread\n" in request.options.job
    assert "output" not in request.options.job
    assert (request.label, request.figure.name) == ("a", "bandwidth")


def test_a_job_file_of_fio_with_overrides(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nrw=read\nsize=1m\n")
    command = ("fio", "job.fio", "--iodepth=8")
    varied = ("block.scheduler=none,bfq",)
    figures = ("read_latency_p99",)
    study = studied(tmp_path, command=command, varied=varied, figures=figures)
    (request,) = study.workloads
    assert isinstance(request.options, FioOptions)
    assert request.options.job == str(tmp_path / "job.fio")
    assert request.options.override == {"iodepth": "8"}
    assert request.figure.name == "read_latency_p99"


def test_two_job_files_of_fio_are_compared(tmp_path: Path) -> None:
    for name in ("a.fio", "b.fio"):
        (tmp_path / name).write_text("[a]\nrw=read\nsize=1m\n")
    study = studied(tmp_path, commands=("fio a.fio", "fio b.fio"))
    assert [factor.name for factor in study.factors] == ["workload.job"]
    assert study.workloads[0].figure.name == "bandwidth"


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"commands": ("true",)},
        {"command": ("true",)},
        {"commands": ("true", "false"), "command": ("true",)},
        {"command": ("true",), "varied": ("vm.dirty_ratio",)},
        {"command": ("true",), "varied": ("vm.dirty_ratio=20", "vm.swappiness=[60]")},
        {"commands": ("true", "'")},
        {"commands": ("true", "")},
        {"command": ("fio", "no.fio"), "varied": ("vm.swappiness=1,2",)},
        {"command": ("fio", "--name=a", "--client=x"), "varied": ("vm.swappiness=1,2",)},
        {"command": ("true",), "varied": ("vm.swappiness=1,2",), "read": "cat x", "write": "y {}"},
        {"command": ("true",), "varied": ("a.b=1,2",), "read": "cat x"},
        {"commands": ("fio a.fio --bs=4k", "fio a.fio")},
    ],
)
def test_a_line_that_is_no_study(tmp_path: Path, line: dict[str, Any]) -> None:
    (tmp_path / "a.fio").write_text("[a]\n")
    with pytest.raises(UsageError):
        build_study_text(OneLine(tmp_path, **line), (5, 12))
