from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.report.base import Step
from iostudy.report.topics.next_steps import suggest_next_steps
from iostudy.results.comparisons import compare_configurations
from iostudy.results.continuation import estimate_continuation
from iostudy.study.mode import WINDOWS, find_mode
from iostudy.study.requests import build_request
from iostudy.study.sections import DecisionMode, Validity
from iostudy.study.targets.section import DirectoryTarget, ScratchTarget
from iostudy.workloads import catalog
from tests.report.factory import factor, rows, study, study_row

HERE = DirectoryTarget(Path("/data"))
KYBER = {("file-writes", "kyber"): 0.2}
DIVIDED = {("file-writes", "kyber"): 0.2, ("file-reads", "kyber"): -0.2}


def steps_for(study_file=None, folder="results/a", text="", **options) -> tuple[Step, ...]:
    studied = study_file or replace(study(), target=HERE)
    options = {"blocks": 20, "noise": 0.004, "effects": {}} | options
    trials = rows(studied, **options)
    compared = compare_configurations(studied, trials)
    return suggest_next_steps(
        studied,
        replace(study_row(studied), text=text),
        compared,
        folder,
        estimate_continuation(studied, compared, trials, ()),
    )


def test_a_winner_is_kept_by_the_command_that_keeps_it() -> None:
    see, keep = steps_for(effects=KYBER)
    assert see.command == "iostudy persist results/a"
    assert keep.command == "iostudy persist results/a --install"


def test_a_bound_is_never_proposed() -> None:
    better = {("file-writes", "kyber"): 0.2, ("file-reads", "bfq"): 0.1}
    experiment = replace(study(), target=HERE)
    assert "persist" in steps_for(experiment, effects=KYBER)[1].text.lower()
    bounded = replace(experiment, bounds=("kyber",))
    (only,) = steps_for(bounded, effects=KYBER)
    assert only.text == "Keep scheduler=none: nothing was shown to be better."
    assert steps_for(bounded, effects=better)[0].command == "iostudy persist results/a"


def test_no_value_reaches_a_shell() -> None:
    see, *_ = steps_for(effects=KYBER, folder="a; rm -rf $HOME `x`")
    assert shlex.split(see.command) == ["iostudy", "persist", "a; rm -rf $HOME `x`"]


def test_next_step_after_a_loop_back_study_names_the_real_disk() -> None:
    (only,) = steps_for(study(), effects=KYBER)
    assert only.text.endswith("as root: iostudy persist results/a --on DISK --install")
    assert not only.command  # which would fail before a disk is named
    experiment = study(factor("sysctl.vm.dirty_ratio", "20", "5"))
    see, keep = steps_for(experiment, effects={("file-writes", "5"): 0.2})
    assert "--on" not in see.command + keep.command


def test_options_of_new_file_systems_are_in_no_file() -> None:
    experiment = study(factor("filesystem.type", "ext4", "xfs"))
    (only,) = steps_for(experiment, effects={("file-writes", "xfs"): 0.2})
    assert "destroys all data on DEVICE" in only.text
    assert only.command == "mkfs.xfs -q -f -K DEVICE"
    scratch = replace(experiment, target=ScratchTarget(Path("/dev/sdz"), "ext4"))
    (only,) = steps_for(scratch, effects={("file-writes", "xfs"): 0.2})
    assert only.command == "mkfs.xfs -q -f -K /dev/sdz"


def test_options_of_a_winner_are_left_to_the_users_own_programs() -> None:
    experiment = study(factor("workload.direct", "true", "false"))
    (only,) = steps_for(experiment, effects={("file-writes", "false"): 0.2})
    assert only.text.startswith("Set direct to false in your own programs")


def test_options_shared_with_the_baseline_are_omitted() -> None:
    experiment = study(
        factor("workload.direct", "true", "false"), factor("workload.files", "2", "4")
    )
    (only,) = steps_for(experiment, effects={("file-writes", "direct=false, files=2"): 0.2})
    assert only.text.startswith("Set direct to false in your own programs")


def test_open_study_is_resumed() -> None:
    (only,) = steps_for(blocks=6, noise=0.05)
    assert only.command == "iostudy run results/a --resume"


def test_equivalent_configurations_need_no_change() -> None:
    (only,) = steps_for()
    assert only == Step(text="Keep scheduler=none: nothing was shown to be better.")


def test_mixed_winner_is_left_to_the_user() -> None:
    (only,) = steps_for(effects=DIVIDED)
    assert only.command == "iostudy persist results/a --configuration LABEL"


@pytest.mark.parametrize(
    ("noise", "said"),
    [(0.04, "decide: {blocks: [5, "), (0.3, "longer runs")],
)
def test_a_study_that_has_spent_its_risk_suggests_a_new_one(noise: float, said: str) -> None:
    *_, last = steps_for(replace(study(), target=HERE).without_continuation(), noise=noise)
    assert said in last.text


def test_an_undecided_study_is_continued_by_a_command_with_its_time() -> None:
    first, *_ = steps_for(noise=0.04)
    found = re.fullmatch(r"iostudy run results/a --resume --more (\d+)blocks", first.command)
    assert found
    assert 1 <= int(found[1]) <= 140
    assert re.search(rf"{found[1]} further blocks.* in about \d", first.text)
    assert "Its risk stays 5 %" in first.text


def test_no_continuation_is_suggested_where_eight_times_the_blocks_would_not_do() -> None:
    *_, last = steps_for(noise=0.3)
    assert "More blocks alone are unlikely" in last.text


def test_undecided_windows_need_more_time() -> None:
    options = {"files": 2, "size": 256 << 20, "direct": True}
    writes = {**options, "operation": "write", "overwrite": True}
    requests = tuple(
        build_request("io", catalog.get("io").options.model_validate(given), label)
        for label, given in (("file-writes", writes), ("file-reads", options))
    )
    decide = replace(study().decide, mode=DecisionMode.SWITCHBACK, time=60.0)
    trials = study().without_continuation()
    windows = replace(trials, target=HERE, decide=decide, workloads=requests, validity=Validity())
    windows = replace(windows, has_windows=True, bias=0.001)
    assert find_mode(windows) is WINDOWS
    *_, last = steps_for(windows, noise=0.04)
    (seconds,) = re.findall(r"decide: \{time: (\d+)s\}", last.text)
    assert 60 < int(seconds) < 600


def test_one_configuration_alone_needs_another() -> None:
    experiment = study(factor("block.scheduler", "none"))
    assert "second level" in steps_for(experiment)[0].text
