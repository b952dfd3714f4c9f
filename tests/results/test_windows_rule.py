"""The decision rule of a study of windows: its bias is in every interval, and takes risk."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from iostudy.analysis.switchback.window_plan import RISK_SHARE
from iostudy.ledger.rows import BlockRow
from iostudy.results.comparisons import compare_configurations, decision_rule
from iostudy.study.parser import parse
from tests.study.test_mode import IO, TEXT

BIAS = 0.01


def study(mode, bias=0.0):
    text = TEXT.replace("MODE", mode).replace("WORKLOAD", "{" + IO + "}")
    return replace(parse(text, where="study.yaml", name="study"), bias=bias)


def rows(noise=0.05, gain=0.0):
    draw = random.Random(1)
    return [
        BlockRow("io", block, label, {"iops": 1000 * math.exp(draw.gauss(own, noise))})
        for block in range(1, 21)
        for label, own in (("none", 0.0), ("mq-deadline", 0.0), ("noop", gain))
    ]


def ends(own):
    interval = own.comparison.interval
    return interval.low, interval.high


def test_each_interval_is_wider_by_the_bias_on_both_sides():
    plain, biased = (
        compare_configurations(study("switchback", bias), rows()) for bias in (0.0, BIAS)
    )
    assert len(plain) == 2
    for without, own in zip(map(ends, plain), map(ends, biased), strict=True):
        assert own == pytest.approx((without[0] - BIAS, without[1] + BIAS))


def test_windows_leave_a_share_of_the_risk_to_the_test_of_their_settling():
    risk = study("trials").decide.risk
    assert decision_rule(study("trials")).risk == risk
    assert decision_rule(study("switchback")).risk == pytest.approx((1 - RISK_SHARE) * risk)


def test_auto_shares_the_risk_only_with_windows():
    text = TEXT.replace("MODE", "auto").replace("WORKLOAD", "{iozone: {}}")
    of_trials = parse(text, where="study.yaml", name="study")
    assert decision_rule(of_trials).risk == of_trials.decide.risk
    assert decision_rule(study("auto")).risk < of_trials.decide.risk
