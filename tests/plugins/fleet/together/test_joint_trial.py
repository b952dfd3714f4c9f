"""One result of the results of all nodes."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from pydantic import ValidationError

from iostudy.node.protocol import Span, TrialResult
from iostudy.telemetry.covariates import Covariate, compute_covariates
from iostudy.units import MIB
from iostudy_fleet.clock_offset import ClockOffset
from iostudy_fleet.together.joint_run import read_node_parts
from iostudy_fleet.together.joint_trial import join_trials
from iostudy_fleet.together.node import read_value
from iostudy_fleet.together.trial_messages import NodeTrial

OFFSETS = {"a": 0.0, "b": 3600.0}


def make_result(node: str, began: float, ended: float, **machine: float) -> NodeTrial:
    offset = OFFSETS[node]
    return NodeTrial(
        figures={"aggregate": 1.0, "throughput": 1.0, "bytes": 100.0 * MIB},
        settings={"block.scheduler@sda": "bfq", "vm.swappiness": "1"},
        machine=machine,
        phases={"run": ended - began},
        notes=("dropped",),
        latencies={"read": ((1.0, 5), (2.0, 1))},
        departures=(),
        span=Span(began + offset, ended + offset),
    )


def join(a: NodeTrial, b: NodeTrial) -> TrialResult:
    own = {node: ClockOffset(offset, 0.001) for node, offset in OFFSETS.items()}
    offsets = {node: (each, each) for node, each in own.items()}
    return join_trials({"a": a, "b": b}, offsets, margin=0.05)


def test_figures_are_of_all_bytes_from_the_first_start_to_the_last_end():
    joint = join(make_result("a", 10.0, 14.0), make_result("b", 10.5, 15.0))
    assert joint.figures == pytest.approx(
        {"aggregate": 200 / 5.0, "exec_time": 5.0, "bytes": 200.0 * MIB}
    )
    parts = read_node_parts(joint.parts)
    assert [(own.node, own.error) for own in parts] == [("a", 0.001), ("b", 0.001)]
    assert [own.start_after for own in parts] == pytest.approx([0.0, 0.5])
    assert [own.seconds for own in parts] == pytest.approx([4.0, 4.5])
    assert joint.phases == pytest.approx({"run": 4.5})


@pytest.mark.parametrize("cores", [0.0, -1.0])
def test_a_machine_without_processors_is_no_answer(cores: float):
    answer = asdict(make_result("a", 0.0, 1.0, cores=cores))
    with pytest.raises(ValidationError, match="a machine without processors"):
        read_value("trial", answer)


def test_settings_name_their_node_and_latencies_are_added():
    joint = join(make_result("a", 0.0, 1.0), make_result("b", 0.0, 1.0))
    assert joint.settings["block.scheduler@sda@a"] == "bfq"
    assert joint.settings["vm.swappiness@b"] == "1"
    assert joint.latencies == {"read": ((1.0, 10), (2.0, 2))}
    assert joint.notes == ("dropped",)
    assert joint.devices == ()


def test_the_most_disturbed_node_decides_whether_a_trial_is_valid():
    calm = {"%steal": 0.0, "cores": 64.0, "foreign_%cpu": 64.0, "suspended_s": 0.0}
    a = make_result("a", 0.0, 1.0, **calm, longest_gap_s=0.1)
    b = make_result("b", 0.0, 1.0, **{**calm, "cores": 2.0, "%steal": 9.0}, longest_gap_s=7.0)
    joint = join(a, replace(b, departures=("late drive",)))
    machine = joint.telemetry.summary.machine
    assert machine["longest_gap_s"] == 7.0
    shares = compute_covariates(joint.telemetry.summary)
    assert shares[Covariate.STEAL] == pytest.approx(0.09)
    assert shares[Covariate.FOREIGN_CPU] == pytest.approx(0.32)
    assert joint.departures == ("b: late drive",)
