"""Situations built on this machine have the expected diagnosis."""

from __future__ import annotations

import pytest

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.evidence import Confidence
from tests.diagnosis.bystanders import judge_trials
from tests.diagnosis.situations import (
    SITUATIONS,
    one_slow_disk,
    quota,
    rate_capped,
)

pytestmark = pytest.mark.root

# The kernel, not the machine's spare time, makes these what they are: also a busy machine has them.
STEADY = {rate_capped, one_slow_disk, quota}


@pytest.mark.usefixtures("state_dir")
@pytest.mark.parametrize(
    "build",
    [pytest.param(each, marks=[] if each in STEADY else pytest.mark.slow) for each in SITUATIONS],
    ids=lambda build: build.__name__,
)
def test_the_expected_bottleneck_is_found(build):
    """Before it only what others did meanwhile: processes here, and guests of the same host.

    After it also what follows from it.
    """
    expected, diagnosis = SITUATIONS[build], build().diagnosis
    limits = [finding.limit for finding in diagnosis.findings] or [Bottleneck.UNCLEAR]
    others = {Bottleneck.FOREIGN, Bottleneck.CPU, Bottleneck.STEAL} - {expected}
    sentences = "\n".join((diagnosis.sentence, *diagnosis.further_sentences))
    if expected is Bottleneck.UNCLEAR:
        assert set(limits) <= {expected, *others}, sentences
    else:
        assert expected in limits, sentences
        place = limits.index(expected)
        assert set(limits[:place]) <= others, sentences
        cause, *after = diagnosis.findings[place:]
        sure = {each.limit for each in after if each.confidence is not Confidence.LOW}
        assert sure <= {expected, *others, *cause.explains}, sentences


@pytest.mark.slow
@pytest.mark.usefixtures("state_dir")
def test_no_bystander_is_blamed():
    """The CPU time of others may be named with low confidence: on a busy machine they take it."""
    for trial in judge_trials(2):
        for finding in trial.diagnosis.findings:
            is_unsure = finding.confidence is Confidence.LOW
            assert is_unsure or finding.limit is not Bottleneck.FOREIGN, finding.sentence
