"""Hot-plugged and replaced devices during a real recording."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.samples import drop_missing
from tests.device.test_cgroup import bytes_per_second
from tests.fixtures_loop import MIB, new_loop, replace_loop

pytestmark = pytest.mark.root


def test_another_file_in_the_same_device_is_the_same_device(loop, tmp_path):
    other = tmp_path / "other"
    other.touch()
    os.truncate(other, 32 * MIB)
    backing = Path(f"/sys/block/{loop}/loop/backing_file").read_text().strip()
    recorder = ProcRecorder([loop], hz=100)
    recorder.start()
    bytes_per_second(loop, writes=8)
    _attach(loop, other)
    bytes_per_second(loop, writes=8)
    _attach(loop, backing)
    summary = recorder.stop().summary
    assert summary.devices[loop]["kB_wrtn"] == pytest.approx(16 * 1024)


def test_a_device_that_another_of_its_name_replaces_counts_for_itself(loop):
    bytes_per_second(loop, writes=8)
    recorder = ProcRecorder([loop], hz=100)
    recorder.start()
    time.sleep(0.1)
    replace_loop(loop)
    time.sleep(0.1)
    bytes_per_second(loop, writes=4)
    telemetry = recorder.stop()
    # The kernel begins anew: less than what the former one had counted before the recording.
    written = telemetry.samples.keyed("disk")[loop]["sectors_written"]
    assert np.diff(drop_missing(written)).min() < 0
    assert telemetry.summary.devices[loop]["kB_wrtn"] == pytest.approx(4 * 1024)


def test_a_device_added_during_a_recording_has_figures_from_then_on():
    recorder = ProcRecorder(None, hz=100)
    recorder.start()
    time.sleep(0.2)
    with new_loop() as late:
        time.sleep(0.1)
        bytes_per_second(late, writes=8)
        time.sleep(0.1)
        telemetry = recorder.stop()
    assert telemetry.summary.devices[late]["kB_wrtn"] == pytest.approx(8 * 1024)
    samples = telemetry.samples.keyed("disk")[late]["reads"]
    assert len(samples) == len(telemetry.samples.seconds)


def _attach(loop, file):
    subprocess.run(["losetup", "--detach", f"/dev/{loop}"], check=True)
    subprocess.run(["losetup", "--direct-io=on", f"/dev/{loop}", str(file)], check=True)
