"""Tests of studies with a simulated target: what they may vary and run."""

from __future__ import annotations

import re

import pytest

from iostudy.study.privileges import list_root_requirements
from iostudy_lab.study.target import SimulatedTarget
from tests.study.files import problems, read

TARGET = "{drive: {model: ultrastar-7k8, size: 8GiB, simulated: true}}"


def text(
    target: str = TARGET, factors: str = "", workload: str = "dfsio-read", more: str = ""
) -> str:
    factors = factors or "{block.scheduler: [noop, anticipatory, cfq, bfq]}"
    return (
        f"question: Which?\ntarget: {target}\nfactors: {factors}\nworkloads: [{workload}]\n{more}"
    )


def test_gone_schedulers_and_their_tunables_are_simulated_without_root():
    factors = "{block.scheduler: [cfq], block.cfq.quantum: [as-found, 1], block.nr_requests: [64]}"
    study = read(text(factors=factors))
    assert study.target == SimulatedTarget("ultrastar-7k8", 8 << 30)
    assert study.target.predicts
    assert study.target.command == "simulate"
    assert list_root_requirements(study) == ()
    assert study.describe_target() == "a simulated drive ultrastar-7k8 of 8GiB"


def test_cfq_of_2_6_32_has_the_tunables_of_cfq():
    factors = "{block.scheduler: [cfq, cfq-2.6.32], block.cfq.slice_idle: [as-found, 0]}"
    labels = [own.label for own in read(text(factors=factors)).configurations()]
    assert len(labels) == 4


def test_a_scheduler_of_simulations_is_refused_elsewhere():
    found = problems(
        text("{drive: {model: ultrastar-7k8, size: 8GiB}}", "{block.scheduler: [cfq-2.6.32, bfq]}")
    )
    assert any("only a simulated drive has cfq-2.6.32; use cfq" in str(each) for each in found)


def test_several_simulated_hosts_have_a_drive_each():
    study = read(text("{drive: {model: ultrastar-7k8, size: 8GiB, simulated: true, hosts: 300}}"))
    assert study.target == SimulatedTarget("ultrastar-7k8", 8 << 30, hosts=300)
    assert study.describe_target() == "300 hosts, each with a simulated drive ultrastar-7k8 of 8GiB"
    found = problems(text("{drive: {model: ultrastar-7k8, size: 8GiB, hosts: 2}}"))
    assert any("add simulated: true" in str(each) for each in found)


def test_a_modelled_drive_is_no_simulated_one():
    study = read(text("{drive: {model: ultrastar-7k8, size: 8GiB}}"))
    assert not study.target.predicts
    assert study.target.command == "run"


@pytest.mark.parametrize(
    ("study", "reason"),
    [
        (text(factors="{sysctl.vm.swappiness: [1, 60]}"), "a simulation knows the tunables"),
        (text(workload="iozone"), "iozone has no simulation"),
        (text(workload="terasort: {spill: /tmp}"), "spill: .* has no simulation; leave it out"),
        (
            text(workload="mix: {workloads: {a: dfsio-read, b: {io: {rate: 9, duration: 1s}}}}"),
            "b: rate: 9.* has no simulation",
        ),
        (text(workload="io: {rate: 100, duration: 1s}"), "rate: .* has no simulation"),
        (text(more="telemetry: {block_latency: true}"), "no request to trace"),
        (text(more="decide: {mode: switchback}"), "runs whole trials"),
        (
            text(factors="{block.scheduler: {levels: [noop, cfq], on: /dev/sda}}"),
            "a simulated target is one drive",
        ),
        (
            text("{drive: {model: ultrastar-7k8, size: 8GiB, count: 2, simulated: true}}"),
            "a simulated target is one drive",
        ),
        (
            text(more="without_root: {factors: {workload.files: [1, 2]}}"),
            "a simulation needs no root",
        ),
    ],
)
def test_what_a_simulation_does_not_know_is_refused(study: str, reason: str):
    assert any(re.search(reason, str(problem)) for problem in problems(study))
