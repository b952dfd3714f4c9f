"""Causes of noise that are built on this machine are named as themselves."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from iostudy.host.inventory import detect_free_page_reporting
from iostudy.results.noise_causes import NoiseCause
from tests.diagnosis.noise_situations import SITUATIONS, find_causes, memory_of_the_host

pytestmark = [pytest.mark.root, pytest.mark.slow]

# Other programs and other guests of the host may be at work; they are causes as well.
OTHERS = {NoiseCause.STEAL, NoiseCause.FOREIGN_CPU, NoiseCause.FOREIGN_IO}

# Programs that keep the processors busy are a cause of their own, and hide the one that is built.
IDLE = 0.5


def measure_idle_share() -> float:
    """Return the idle share of the CPU time of one second."""
    before = read_cpu_times()
    time.sleep(1)
    spent = [now - then for now, then in zip(read_cpu_times(), before, strict=True)]
    return (spent[3] + spent[4]) / sum(spent)


def read_cpu_times() -> list[int]:
    """Return the times of all processors, of which the fourth is idle and the fifth iowait."""
    return [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]


@pytest.mark.usefixtures("state_dir")
@pytest.mark.parametrize("build", SITUATIONS, ids=lambda build: build.__name__)
def test_the_cause_is_named_and_no_other(build):
    if build is memory_of_the_host and not detect_free_page_reporting():
        pytest.skip("needs a virtual machine with free page reporting")
    idle = measure_idle_share()
    if idle < IDLE:
        pytest.skip(f"needs a machine with {IDLE:.0%} idle CPU time; this one has {idle:.0%}")
    expected, found = SITUATIONS[build], find_causes(build(random.Random(1)))
    assert expected in found, found
    assert found.keys() <= {expected, *OTHERS}, found
