"""CPU time and memory of the sampler, compared with concurrent iostat and dool.

As root, with 40 loop devices on sparse files, each written to between any two samples. The recorder
samples all devices at 10 Hz, as in a trial; ``iostat -x 1`` and dool once a second: as it comes it
prints the sum of all disks, with ``--full`` each of them, as the others do. CPU is that of the
sampler's thread and of the other programs', by the scheduler, once all have started. What the
kernel takes to print the three files that each sample needs is measured on its own: no program that
reads them so often can cost less.
"""

from __future__ import annotations

import math
import mmap
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benches.ratio import format_ratio
from iostudy.telemetry.recorder import DEFAULT_HZ, ProcRecorder

DEVICES = 40
STARTING_SECONDS = 3
ROUNDS, ROUND_SECONDS = 6, 11
CORE_GOAL, MEMORY_GOAL_MIB = 0.2, 20
GOALS = {"iostat": 1, "dool": 10, "dool --full": 10}
EACH_SAMPLE = ("/proc/diskstats", "/proc/stat", "/proc/vmstat")
_BARE_SAMPLES = 100
_MOST_BYTES = 64 << 10
_IMAGE_BYTES = 8 << 20
_BLOCK = 4096


def main() -> None:
    """Measure for a minute, and print how it compares."""
    dool = [str(Path(sys.executable).parent / "dool"), "--nocolor"]
    peers = {"iostat": ["iostat", "-x"], "dool": dool, "dool --full": [*dool, "--full"]}
    if os.geteuid() != 0:
        sys.exit("sampler_cost needs root: it makes loop devices")
    if missing := [name for name, (program, *_) in peers.items() if not shutil.which(program)]:
        sys.exit(f"sampler_cost needs {', '.join(missing)} (apt-get install sysstat; make test)")
    with _disks(DEVICES) as disks:
        ours, theirs, added_mib = _measure(disks, peers)
        bare = 100 * DEFAULT_HZ * _read_only_seconds(disks)
    share = 100 * DEFAULT_HZ / statistics.geometric_mean(ours)
    print(f"{DEVICES} devices at {DEFAULT_HZ:g} Hz for {ROUNDS * ROUND_SECONDS} s:")
    print(f"  {share:.3f} % of one core (goal: under {CORE_GOAL} %)")
    print(f"  {bare:.3f} % is what the kernel takes to tell {', '.join(EACH_SAMPLE)}")
    print(f"  {added_mib:.1f} MiB of memory (goal: under {MEMORY_GOAL_MIB} MiB)")
    print("samples per second of CPU:")
    for name, goal in GOALS.items():
        print(f"  {format_ratio(name, theirs[name], ours, goal)}")


def _measure(
    disks: Sequence[int], peers: Mapping[str, Sequence[str]]
) -> tuple[list[float], dict[str, list[float]], float]:
    """Samples per second of CPU in each round, ours and those of each peer; and MiB added."""
    with ExitStack() as running:
        threads = {name: _main_thread(_run(running, command)) for name, command in peers.items()}
        _write_to_disks(disks, until=time.monotonic() + STARTING_SECONDS)
        before, others = _memory_mib(), _threads()
        recorder = ProcRecorder(None, [os.getpid()])
        recorder.start()
        (ours,) = _threads() - others
        rounds = [_round(disks, {"ours": ours, **threads}) for _ in range(ROUNDS)]
        added = _memory_mib() - before
        recorder.stop()
    per_second = dict.fromkeys(peers, 1.0) | {"ours": DEFAULT_HZ}
    rates = {name: [rate / one[name] for one in rounds] for name, rate in per_second.items()}
    return rates.pop("ours"), rates, added


def _round(disks: Sequence[int], threads: Mapping[str, Path]) -> dict[str, float]:
    """CPU seconds that each thread took in a second."""
    before = {name: _cpu_seconds(thread) for name, thread in threads.items()}
    began = time.monotonic()
    _write_to_disks(disks, until=began + ROUND_SECONDS)
    seconds = time.monotonic() - began
    return {n: (_cpu_seconds(thread) - before[n]) / seconds for n, thread in threads.items()}


def _read_only_seconds(disks: Sequence[int]) -> float:
    """CPU seconds to read the files of a sample once, in the rhythm of the recorder."""
    with ExitStack() as opened:
        files = [opened.enter_context(Path(path).open("rb")) for path in EACH_SAMPLE]
        taken = 0
        for _ in range(_BARE_SAMPLES):
            _write_to_disks(disks, until=time.monotonic() + 1 / DEFAULT_HZ)
            before = time.thread_time_ns()
            for file in files:
                os.pread(file.fileno(), _MOST_BYTES, 0)
            taken += time.thread_time_ns() - before
    return taken / _BARE_SAMPLES / 1e9


def _run(running: ExitStack, command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start it with a sample a second, to be ended with the others."""
    process = subprocess.Popen([*command, "1"], stdout=subprocess.DEVNULL)
    running.callback(process.wait)
    running.callback(process.kill)
    return process


def _main_thread(process: subprocess.Popen[bytes]) -> Path:
    return Path(f"/proc/{process.pid}/task/{process.pid}")


def _threads() -> set[Path]:
    """The folders of all threads of this process."""
    return set(Path(f"/proc/{os.getpid()}/task").iterdir())


def _cpu_seconds(thread: Path) -> float:
    return int((thread / "schedstat").read_text().split()[0]) / 1e9


def _memory_mib() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return math.nan


def _write_to_disks(disks: Sequence[int], until: float) -> None:
    """Write a block to each disk between any two samples, so that all counters move."""
    with mmap.mmap(-1, _BLOCK) as block:
        while (left := until - time.monotonic()) > 0:
            for disk in disks:
                os.pwrite(disk, block, 0)
            time.sleep(min(left, 0.5 / DEFAULT_HZ))


@contextmanager
def _disks(count: int) -> Iterator[list[int]]:
    """Loop devices on sparse files, open for direct writes, and gone afterwards."""
    with ExitStack() as made:
        folder = made.enter_context(tempfile.TemporaryDirectory(prefix="bench-", dir=Path.cwd()))
        disks = []
        for number in range(count):
            image = Path(folder) / str(number)
            image.touch()
            os.truncate(image, _IMAGE_BYTES)
            command = ["losetup", "--find", "--show", str(image)]
            device = subprocess.check_output(command, text=True).strip()
            made.callback(subprocess.run, ["losetup", "--detach", device], check=True)
            disks.append(os.open(device, os.O_WRONLY | os.O_DIRECT))
            made.callback(os.close, disks[-1])
        yield disks


if __name__ == "__main__":
    main()
