"""Tests of the report on a command that has ended."""

from __future__ import annotations

import pytest

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis, Finding
from iostudy.diagnosis.evidence import Confidence, Evidence
from iostudy_watch.command import CommandReport
from tests.cli.test_signal_wakeups import WAKEUPS, run_program
from tests.plugins.watch.of_devices import STACK, UTILS, reading

SPUN = Evidence("%thread", "", 99.0, "%", "the busiest thread ran 99 % of the time")
CORE = Finding(Bottleneck.CORE, "", 99.0, Confidence.HIGH, (SPUN,))
BUSY = Evidence("busy", "sda", 6.0, "%", "6 % of the time")


def test_the_summary_ends_with_the_limit_and_what_cannot_help():
    limited = Diagnosis((CORE,), busy=BUSY)
    output = CommandReport(("gzip", "-9"), 0, reading(STACK, UTILS), "sda", (), limited).text()
    assert output.splitlines()[0] == "gzip -9: 1.00 s, exit code 0"
    assert output.splitlines()[-2:] == [f"{each}." for each in limited.sentences]
    assert limited.no_help


@pytest.mark.child
def test_a_signal_to_another_thread_reaches_the_command_at_once():
    command = "('sh', '-c', \"trap 'exit 5' TERM; for i in $(seq 6000); do sleep 0.01; done\")"
    watch = f"print(run({command}, DeviceSelection(()), 10.0, [signal.SIGTERM]).exit_code)"
    imported = (
        "from iostudy_watch.command import run; from iostudy_watch.live import DeviceSelection"
    )
    assert run_program(f"{imported}; {WAKEUPS}", watch) == "5"
