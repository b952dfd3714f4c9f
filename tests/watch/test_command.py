"""Tests of the report on a command that has ended."""

from __future__ import annotations

import signal
import threading
import time

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis, Finding
from iostudy.diagnosis.confidence import Confidence
from iostudy.diagnosis.evidence import Evidence
from iostudy.watch.command import CommandReport, run
from iostudy.watch.live import DeviceSelection
from tests.watch.of_devices import STACK, UTILS, reading

SPUN = Evidence("%thread", "", 99.0, "%", "the busiest thread ran 99 % of the time")
CORE = Finding(Bottleneck.CORE, "", 99.0, Confidence.HIGH, (SPUN,))
BUSY = Evidence("busy", "sda", 6.0, "%", "6 % of the time")


def test_the_summary_ends_with_the_limit_and_what_cannot_help():
    limited = Diagnosis((CORE,), busy=BUSY)
    output = CommandReport(("gzip", "-9"), 0, reading(STACK, UTILS), "sda", (), limited).text()
    assert output.splitlines()[0] == "gzip -9: 1.00 s, exit code 0"
    assert output.splitlines()[-2:] == [f"{each}." for each in limited.sentences]
    assert limited.no_help


def test_a_signal_that_another_thread_receives_is_forwarded_at_once():
    # It does not interrupt a system call of the main thread; nor does one just before the call.
    def send_here():
        time.sleep(0.5)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    sender = threading.Thread(target=send_here)
    command = ("sh", "-c", "trap 'exit 5' USR1; for i in $(seq 1000); do sleep 0.01; done")
    sender.start()
    report = run(command, DeviceSelection(()), 10.0, [signal.SIGUSR1])
    sender.join()
    assert report.exit_code == 5
