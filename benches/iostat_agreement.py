"""Every figure compared with a concurrent ``iostat -dxk 1``, over a mixed load, as root.

Both read the same counters of the kernel, but at different moments; under load each would cover
another second, and to allow for that would hide mistakes of some percent. So the load stands still
(SIGSTOP) for the last part of each second, in which iostat's report falls due. Once its requests
have been served, the counters rest: iostat's are ours, read while it still slept, and again when it
had printed. A report in which they moved in between, or that came too early, is not counted.

What is left is time. iostat counts it in whole hundredths of a second, which it does not print; but
its largest rate over the counter that it was taken from gives them exactly. Over those hundredths
every figure has to be iostat's to half of its last digit; they have to be those of our own clock to
what scheduling explains, and the last column has the figures by that clock.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from iostudy._native import Reader
from iostudy.telemetry.iostat import EXTENDED_FIGURES, compute_device_figures
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import Figures

REPORTS = 60
DISK_BYTES = 256 << 20
LOADED_SECONDS = 0.6
"""Of each second; the rest is for requests to be served, and for iostat to be late."""
_END = "\n\t\t\t\t\t]\n"
"""What iostat writes behind the last device of a report."""
HALF_A_DIGIT = 0.005 + 1e-9
_RATES = ("rkB/s", "wkB/s", "dkB/s")
_BATCHES = "--bs=4k --iodepth=32 --iodepth_batch=16 --iodepth_batch_complete_min=16"
"""Of sequential requests that are submitted together, the block layer makes fewer."""
_LOAD = {
    "random-reads": (0, "--rw=randread --bs=4k --iodepth=8 --rate_iops=5000"),
    "merged-reads": (0, f"--rw=read {_BATCHES} --rate_iops=20000"),
    "merged-writes": (1, f"--rw=write {_BATCHES} --rate_iops=20000"),
    "discards": (1, "--rw=randtrim --bs=64k --rate_iops=200"),
    "flushes": (1, "--rw=randwrite --bs=8k --fsync=8 --rate_iops=800"),
}


@dataclass(frozen=True)
class Comparison:
    """A device's figures in one report of iostat: over its ``seconds``, and by our clock."""

    iostat: Figures
    ours: Figures
    by_clock: Figures
    seconds: float
    clock_seconds: float


def main() -> None:
    """Compare, and print a row for each figure."""
    reports = int(sys.argv[1]) if len(sys.argv) > 1 else REPORTS
    compared = list(compare(reports))
    if not compared:
        raise SystemExit("in no report the counters were at rest; try again on a quieter machine")
    off = [1000 * abs(interval.seconds - interval.clock_seconds) for interval in compared]
    print(f"{len(compared)} lines of iostat -dxk 1 (two devices, {reports} reports)")
    print(f"intervals: ours and iostat's differ by up to {max(off):.1f} ms (iostat's unit: 10 ms)")
    print(
        f"{'figure':9} {'not 0':>6} {'within rounding':>16} {'largest':>12} "
        f"{'largest deviation':>18} {'by our own clock':>17}"
    )
    for figure in EXTENDED_FIGURES:
        print(_row(figure, compared))


def compare(reports: int) -> Iterator[Comparison]:
    """Each device in each report of iostat that can be compared."""
    with ExitStack() as stack:
        devices = [stack.enter_context(_loop_device()) for _ in range(2)]
        load = stack.enter_context(_load(devices))
        _stop_load(load, devices)
        iostat = stack.enter_context(_Iostat(devices, reports + 1))
        reader = Reader(devices, [])
        iostat.report()  # the average since boot
        reader.sample()
        ended_at_rest = True
        for _ in range(reports):
            _run_load(load, devices)
            reader.sample()
            in_time = iostat.sleeps()
            printed = iostat.report()
            reader.sample()
            samples = Samples.from_native(reader.take())
            began_at_rest, ended_at_rest = ended_at_rest, in_time and _stood_still(samples)
            if began_at_rest and ended_at_rest:
                yield from (_compare_device(device, printed[device], samples) for device in devices)


def _compare_device(device: str, printed: Figures, samples: Samples) -> Comparison:
    clock = float(samples.seconds[-1])
    by_clock = compute_device_figures(_ends(samples, clock))[device]
    rate = max(_RATES, key=lambda rate: printed[rate])
    hundredths = (
        round(100 * by_clock[rate] * clock / printed[rate]) if printed[rate] else 100 * clock
    )
    ours = compute_device_figures(_ends(samples, hundredths / 100))[device]
    return Comparison(printed, ours, by_clock, hundredths / 100, clock)


def _ends(samples: Samples, seconds: float) -> Samples:
    """The first sample and the last, so many seconds apart."""
    ends = {name: values[[0, -1]] for name, values in samples.columns.items()}
    return Samples(np.array([0.0, seconds]), ends)


def _stood_still(samples: Samples) -> bool:
    """Whether no counter of a device moved between the last two samples, which iostat's lies in."""
    disks = (values for name, values in samples.columns.items() if name.startswith("disk."))
    return all(values[-1] == values[-2] for values in disks)


def _row(figure: str, compared: list[Comparison]) -> str:
    pairs = [
        (interval.iostat[figure], interval.ours[figure], interval.by_clock[figure])
        for interval in compared
    ]
    within = sum(abs(theirs - ours) <= HALF_A_DIGIT for theirs, ours, _ in pairs)
    deviation = max(abs(theirs - ours) for theirs, ours, _ in pairs)
    shares = [abs(clock / theirs - 1) for theirs, _, clock in pairs if theirs >= 1]
    by_clock = f"{100 * max(shares):.2f} %" if shares else "-"
    return (
        f"{figure:9} {sum(theirs > 0 for theirs, *_ in pairs):6} {within:8} of {len(pairs):4} "
        f"{max(theirs for theirs, *_ in pairs):12.2f} {deviation:18.4f} {by_clock:>17}"
    )


def _run_load(load: subprocess.Popen[bytes], devices: list[str]) -> None:
    """Load for a part of a second, then none."""
    load.send_signal(signal.SIGCONT)
    time.sleep(LOADED_SECONDS)
    _stop_load(load, devices)


def _stop_load(load: subprocess.Popen[bytes], devices: list[str]) -> None:
    """Stop the load, and wait until its last requests have been served."""
    load.send_signal(signal.SIGSTOP)
    _wait(lambda: _is_stopped(load))
    _wait(lambda: not any(map(_in_flight, devices)))


def _wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 1
    while not until() and time.monotonic() < deadline:
        time.sleep(0.005)


def _is_stopped(load: subprocess.Popen[bytes]) -> bool:
    threads = Path(f"/proc/{load.pid}/task").glob("*/stat")
    return all(_state(thread) == "T" for thread in threads)


def _state(stat: Path) -> str:
    """proc(5): it stands behind the name, which is in brackets."""
    return stat.read_text().rpartition(")")[2].split()[0]


def _in_flight(device: str) -> int:
    return sum(map(int, Path(f"/sys/block/{device}/inflight").read_text().split()))


@contextmanager
def _loop_device() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        image = Path(folder) / "disk"
        image.touch()
        os.truncate(image, DISK_BYTES)
        command = ["losetup", "--find", "--show", "--direct-io=on", str(image)]
        node = subprocess.check_output(command, text=True).strip()
        try:
            yield Path(node).name
        finally:
            subprocess.run(["losetup", "--detach", node], check=True)


@contextmanager
def _load(devices: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """fio in one process; it is stopped and continued as a whole."""
    command = ["fio", "--thread", "--direct=1", "--ioengine=libaio", "--time_based"]
    command.append("--runtime=1d")
    for name, (index, options) in _LOAD.items():
        command += [f"--name={name}", f"--filename=/dev/{devices[index]}", *options.split()]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


class _Iostat:
    """``iostat -dxk 1`` on some devices, whose reports are taken as soon as they are written."""

    def __init__(self, devices: list[str], reports: int) -> None:
        command = ["iostat", "-dxk", "-o", "JSON", "1", str(reports), *devices]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self._pipe = self._process.stdout.fileno()
        self._text = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()

    def sleeps(self) -> bool:
        """Whether it has not begun with the next report, and so will read later than now."""
        while select.select([self._pipe], [], [], 0)[0] and self._read():
            pass
        return _END not in self._text and _state(Path(f"/proc/{self._process.pid}/stat")) == "S"

    def report(self) -> Mapping[str, Figures]:
        """The next one, of each device."""
        while _END not in self._text:
            if not self._read():
                raise EOFError("iostat has ended before its last report")
        report, _, self._text = self._text.partition(_END)
        lines = (line.strip().rstrip(",") for line in report.splitlines())
        values = [json.loads(line) for line in lines if line.startswith('{"disk_device"')]
        return {value["disk_device"]: _rename_figures(value) for value in values}

    def _read(self) -> bool:
        read = os.read(self._pipe, 1 << 16).decode()
        self._text += read
        return bool(read)


def _rename_figures(values: Mapping[str, float]) -> Figures:
    """JSON has the figures that are percentages without their sign."""
    return {name: values[name.removeprefix("%")] for name in EXTENDED_FIGURES}


if __name__ == "__main__":
    main()
