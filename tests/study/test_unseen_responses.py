"""Responses to a switch that windows do not show, as settings declare them."""

from __future__ import annotations

import pytest

from iostudy.settings import catalog
from iostudy.study.parser import parse
from iostudy.study.switchback import list_unseen_responses

TEXT = """
question: Which?
target: /tmp
factors: {FACTORS}
workloads: [{io: {operation: read, size: 64MiB, direct: true, duration: 1s}}]
"""


def unseen(factors):
    study = parse(TEXT.replace("FACTORS", factors), where="study.yaml", name="study")
    return {own.label for own in study.configurations() if list_unseen_responses(own)}


@pytest.mark.parametrize(
    ("factors", "labels"),
    [
        ("block.scheduler: [none, kyber, mq-deadline, bfq]", {"bfq"}),
        ("block.scheduler: [none, as-found]", {"as-found"}),
        ("block.nr_requests: [64, 128]", set()),
        (
            'block.scheduler: [none, bfq], block.bfq.low_latency: ["0", "1"]',
            {"scheduler=bfq, low_latency=1"},
        ),
    ],
)
def test_configurations_with_an_unseen_response(factors, labels):
    assert unseen(factors) == labels


def test_the_reason_names_setting_and_duration():
    study = parse(
        TEXT.replace("FACTORS", "block.scheduler: [none, bfq]"), where="study.yaml", name="study"
    )
    (reason,) = list_unseen_responses(study.configurations()[1])
    assert reason.startswith("block.scheduler: while low_latency is 1")
    assert "3 to 25 s or 59 MiB" in reason


def test_settings_show_the_reason():
    switching = catalog.get("block.scheduler").switching
    assert str(switching).endswith(f"whole trials confirm verdicts: {switching.unseen.reason}")
    assert "whole trials" not in str(catalog.get("block.bfq.slice_idle").switching)
    assert "whole trials" in str(catalog.get("block.bfq.low_latency").switching)
