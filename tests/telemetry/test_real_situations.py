"""Situations built for real are told rightly, and as nothing else."""

from __future__ import annotations

import pytest

from iostudy.telemetry.limits.diagnosis import Limit
from tests.telemetry.situations import SITUATIONS, asks_for_little, quota, rate_capped

pytestmark = pytest.mark.root

# The kernel, not the machine's spare time, makes these what they are: also a busy machine has them.
STEADY = {rate_capped, quota, asks_for_little}


@pytest.mark.usefixtures("state_dir")
@pytest.mark.parametrize(
    "build",
    [pytest.param(each, marks=[] if each in STEADY else pytest.mark.slow) for each in SITUATIONS],
    ids=lambda build: build.__name__,
)
def test_it_is_told(build):
    """Before it only what others did meanwhile: processes here, and guests of the same host."""
    expected, diagnosis = SITUATIONS[build], build().diagnosis
    told = [finding.limit for finding in diagnosis.findings] or [Limit.UNCLEAR]
    others = {Limit.FOREIGN, Limit.CPU, Limit.STEAL} - {expected}
    sentences = "\n".join((diagnosis.sentence, *diagnosis.also))
    if expected is Limit.UNCLEAR:
        assert set(told) <= {expected, *others}, sentences
    else:
        assert expected in told, sentences
        assert set(told[: told.index(expected)]) <= others, sentences
