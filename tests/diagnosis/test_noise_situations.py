"""Causes of noise that are built on this machine are named as themselves."""

from __future__ import annotations

import random

import pytest

from iostudy.results.noise_causes import NoiseCause
from tests.diagnosis.noise_situations import SITUATIONS, find_causes

pytestmark = [pytest.mark.root, pytest.mark.slow]

# Other programs and other guests of the host may be at work; they are causes as well.
OTHERS = {NoiseCause.STEAL, NoiseCause.FOREIGN_CPU, NoiseCause.FOREIGN_IO}


@pytest.mark.usefixtures("state_dir")
@pytest.mark.parametrize("build", SITUATIONS, ids=lambda build: build.__name__)
def test_the_cause_is_named_and_no_other(build):
    expected, found = SITUATIONS[build], find_causes(build(random.Random(1)))
    assert expected in found, found
    assert found.keys() <= {expected, *OTHERS}, found
