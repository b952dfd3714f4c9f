"""Attribution of I/O and CPU time to real processes on a real disk."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from iostudy import _native
from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.demand import compute_demand
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import CPU_STARVED
from iostudy.telemetry.processes import compute_workload_figures, find_busiest_foreign
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.samples import ProcessUsage, Samples, drop_missing
from tests.telemetry.emulated import (
    Program,
    capped_group,
    favoured_group,
    filled_disk,
    io,
    record,
    spin,
    stacked_loop,
)

MIB = 1 << 20
KB = 1024


@pytest.fixture
def folder(tmp_path):
    """On a disk: what is written to a file system in memory is written to no storage."""
    kind = subprocess.run(
        ["stat", "--file-system", "--format=%T", tmp_path],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    if kind.strip() in ("tmpfs", "ramfs"):
        pytest.skip(f"{tmp_path} is in memory")
    return tmp_path


def dd(path: Path, mib: int) -> list[str]:
    return [
        "dd",
        "if=/dev/zero",
        f"of={path}",
        "bs=1M",
        f"count={mib}",
        "conv=fsync",
        "status=none",
    ]


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def watch(while_doing, roots=(), hz=20):
    recorder = ProcRecorder([], roots or [os.getpid()], hz)
    recorder.start()
    while_doing()
    return recorder.stop()


class ForeignShell:
    """A shell that is no descendant of the workload; it runs the lines that it reads."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def do(self, line: str) -> None:
        self.process.stdin.write(f"{line}; echo done\n".encode())
        self.process.stdin.flush()
        assert self.process.stdout.readline() == b"done\n"


@pytest.fixture
def foreign_shell():
    shell = ForeignShell()
    yield shell
    shell.process.stdin.close()
    shell.process.stdout.close()
    shell.process.wait()


@pytest.mark.child
def test_writes_of_a_short_child_count_for_the_workload(folder):
    telemetry = watch(lambda: subprocess.run(dd(folder / "file", 32), check=True))
    assert 32 * KB <= telemetry.summary.workload["written_kB"] < 33 * KB


@pytest.mark.child
def test_cancelled_writes_are_counted(folder):
    path = str(folder / "file")
    code = f"import os\nopen({path!r}, 'wb').write(bytes({8 * MIB}))\nos.unlink({path!r})"
    for _ in range(50):  # the kernel writes at once what others leave it no room for
        workload = watch(lambda: subprocess.run(python(code), check=True)).summary.workload
        if workload["cancelled_kB"] >= 7 * KB:
            return
    pytest.fail(f"{workload['cancelled_kB']} kB")


@pytest.mark.child
def test_another_process_is_foreign_and_has_its_name(folder, foreign_shell):
    own = subprocess.Popen(["sleep", "60"])
    line = " ".join(dd(folder / "file", 48))
    telemetry = watch(lambda: foreign_shell.do(f"{line}; sleep 1.1 & wait; {line}"), [own.pid])
    own.kill()
    own.wait()
    assert telemetry.summary.workload["written_kB"] == 0
    written = telemetry.samples.columns["foreign.written_bytes"]
    assert written[-1] >= 96 * MIB
    assert sum(each.written_kB for each in telemetry.summary.foreign) >= 96 * KB
    named = {process.pid: process for process in telemetry.summary.foreign}
    shell = named.get(foreign_shell.process.pid)
    if shell is None:
        assert len(named) == 5, "on a busy host five others may do more"
    else:
        assert (shell.name, shell.written_kB >= 48 * KB) == ("sh", True)


def in_a_process_of_its_own(task):
    """This one may have threads and children of other tests, and those of pytest."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(task).result()


def spun():
    """The figures of this process while a thread spins, and its CPU time in percent of a core."""
    stop = threading.Event()

    def spin():
        while not stop.is_set():
            pass

    spinner = threading.Thread(target=spin)
    spinner.start()
    watch(lambda: None)  # what is done once in a process is not the spinner's
    before = time.process_time()
    summary = watch(lambda: time.sleep(3)).summary  # a costly scan has its turn less often
    spent = 100 * (time.process_time() - before) / summary.seconds
    # It was there at both ends, which are looked at whatever a scan costs.
    stop.set()
    spinner.join()
    return summary, spent


@pytest.mark.child
def test_a_thread_that_spins_is_the_busiest_and_runs():
    summary, spent = in_a_process_of_its_own(spun)
    figures = summary.workload
    assert figures["%cpu"] == pytest.approx(spent, abs=6)
    # The rest is other threads of that process.
    assert 0.75 * figures["%cpu"] <= figures["%thread"] <= figures["%cpu"] + 8
    assert figures["running"] == pytest.approx(1, abs=0.5)
    assert figures["threads"] >= 2


NAN = float("nan")
AT = (0.0, 0.1, 1.0, 2.0, 2.5)


def looked(**columns):
    """Samples at AT, with the workload's threads looked at in some of them."""
    named = {
        f"workload.{name}": np.array([known.get(place, NAN) for place in range(len(AT))])
        for name, known in columns.items()
    }
    for name in ("cpu_us", "read_bytes", "written_bytes", "cancelled_bytes"):
        named[f"workload.{name}"] = np.array([0.0, NAN, NAN, NAN, 2e6])
    return compute_workload_figures(Samples(np.array(AT), named))


def test_thread_figures_need_scans_during_the_run():
    figures = looked(
        busiest_thread_us={0: 0.0, 4: 0.0},
        threads={0: 3.0, 4: 3.0},
        running_threads={0: 1.0, 4: 0.0},
        waiting_threads={0: 0.0, 4: 0.0},
    )
    assert set(figures) == {"%cpu", "read_kB", "written_kB", "cancelled_kB"}
    assert figures["%cpu"] == pytest.approx(80)


def test_thread_states_are_means_of_the_inner_scans():
    figures = looked(
        busiest_thread_us={0: 0.0, 2: 0.9e6, 3: 1.9e6, 4: 1.9e6},
        threads={0: 3.0, 2: 9.0, 3: 9.0, 4: 3.0},
        running_threads={0: 0.0, 2: 1.0, 3: 0.0, 4: 0.0},
        waiting_threads={0: 0.0, 2: 0.0, 3: 7.0, 4: 0.0},
        allowed_cores={0: 200.0, 2: 4.0, 3: 4.0},
    )
    assert figures["allowed_cores"] == 4
    assert figures["%thread"] == pytest.approx(95)  # its thread has ended before the last one
    assert figures["threads"] == 9
    # The one stands for the time from 0.5 s to 1.5 s, the other one for that until 2.25 s.
    assert figures["running"] == pytest.approx(1 / 1.75)
    assert figures["waiting"] == pytest.approx(7 * 0.75 / 1.75)


def test_the_busiest_thread_is_that_of_all_intervals_that_ended_before_the_run_did():
    threads = {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}
    none = {0: 0.0, 4: 0.0}
    figures = looked(
        busiest_thread_us={0: 0.0, 2: 0.9e6, 3: 1.9e6},
        threads=threads,
        running_threads=none,
        waiting_threads=none,
    )
    assert figures["%thread"] == pytest.approx(95)


def test_a_stop_lasts_from_the_scan_before_it():
    stopped = {0: 0.0, 1: 0.0, 2: 1.0, 3: 2.0, 4: 0.0}
    threads = {0: 3.0, 4: 3.0}
    assert looked(threads=threads, stopped_threads=stopped)["stopped_s"] == pytest.approx(1.9)
    assert looked(threads=threads, stopped_threads={0: 0.0, 4: 0.0})["stopped_s"] == 0


def spin_in_a_group():
    with favoured_group() as group:
        return record([], [spin(group)], roots=[os.getpid()])


@pytest.mark.root
def test_sampling_thread_does_not_count_as_demand():
    """The root of a study's workload is iostudy itself, in which that thread runs."""
    demand = compute_demand(
        in_a_process_of_its_own(spin_in_a_group), DiagnosisContext(concurrency=1)
    )
    assert demand is not None
    assert demand.running == pytest.approx(1, abs=0.5)
    assert demand.starved_share < CPU_STARVED


@pytest.mark.root
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor anyway")
def test_a_workload_with_one_allowed_processor_is_limited_by_it():
    here = str(min(os.sched_getaffinity(0)))
    with favoured_group() as group:
        pair = [
            Program(["taskset", "--cpu-list", here, *spin().command], [group]) for _ in range(2)
        ]
        summary = record([], pair, seconds=2.0)
    assert summary.workload["allowed_cores"] == 1
    diagnosis = diagnose(summary, DiagnosisContext())
    assert diagnosis.limit is Bottleneck.CPU, diagnosis.sentence
    assert "the one core that it may use" in diagnosis.sentence


@pytest.mark.root
def test_a_thread_of_the_kernel_that_polls_is_not_the_workloads_busiest():
    polled = {"method": "io_uring", "depth": 4, "sqpoll": True}
    with (
        filled_disk() as below,
        stacked_loop(below) as disk,
        capped_group(below, riops=200) as group,
    ):
        summary = record([disk], [io([disk], "read", group, **polled)], seconds=3.0)
    if summary.workload["%cpu"] < 50:
        pytest.skip("this kernel has no thread that polls")
    assert summary.workload["%thread"] < 50
    assert summary.workload["running"] < 0.9  # 1 with the poller
    diagnosis = diagnose(summary, DiagnosisContext((disk,), concurrency=4))
    assert diagnosis.limit not in (Bottleneck.CORE, Bottleneck.CPU), diagnosis.sentence


@pytest.mark.child
def test_a_daemon_that_its_parent_left_behind_stays_the_workloads(folder):
    """It was observed while its parent was there."""
    target, done = str(folder / "file"), folder / "done"
    code = f"""
import os, time
if os.fork():
    time.sleep(60)
os.setsid()
print(os.getpid(), flush=True)
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(0.01)
with open({target!r}, "wb") as file:
    file.write(bytes({16 * MIB}))
    os.fsync(file.fileno())
os.rename({target!r}, {str(done)!r})
time.sleep(60)
"""
    parent = subprocess.Popen(python(code), stdout=subprocess.PIPE)
    daemon = int(parent.stdout.readline())

    def work():
        parent.kill()
        parent.wait()
        while not done.exists():
            time.sleep(0.01)

    telemetry = watch(work, [parent.pid])
    os.kill(daemon, signal.SIGKILL)
    parent.stdout.close()
    assert telemetry.summary.workload["written_kB"] >= 16 * KB


@pytest.mark.child
def test_processes_that_come_and_are_killed_while_proc_is_read(folder):
    """Sums never go back, and are as the kernel has them of all children together."""
    reader = _native.Reader([], [os.getpid()])
    reader.sample()
    before = os.times()
    until = time.monotonic() + 2
    while time.monotonic() < until:
        children = [
            subprocess.Popen(python("while True: open('/dev/null', 'w').write('x')"))
            for _ in range(3)
        ]
        time.sleep(0.15)
        for child in children:
            child.kill()
            reader.sample()
            child.wait()
    after = os.times()
    counted = [*scans(reader), *next_scans(reader)]
    assert counted == sorted(counted)
    spent = sum(after[:4]) - sum(before[:4])
    assert counted[-1] / 1e6 == pytest.approx(spent, rel=0.1, abs=0.1)


def scans(reader):
    """What the workload had used at each scan since the last call."""
    counted = Samples.from_native(reader.take()).columns.get("workload.cpu_us", np.array([]))
    return drop_missing(counted[1:]).tolist()


def next_scans(reader):
    """Those of the next sample that has any: many processes are scanned less often."""
    for _ in range(600):
        time.sleep(0.1)
        reader.sample()
        if counted := scans(reader):
            return counted
    pytest.fail("not scanned in a minute")


@pytest.mark.child
def test_a_process_that_is_not_there_is_no_workload():
    gone = subprocess.Popen(["true"])
    gone.wait()
    telemetry = watch(lambda: None, [gone.pid])
    assert telemetry.summary.workload == {}
    assert not any(name.startswith("workload.") for name in telemetry.samples.columns)


@pytest.mark.child
def test_a_name_is_whatever_a_program_calls_itself():
    name = "a) R 1 (\x1b["
    code = f"import pathlib\npathlib.Path('/proc/self/comm').write_text({name!r})\nwhile True: pass"
    child = subprocess.Popen(python(code))
    other = subprocess.Popen(["sleep", "60"])
    foreign = watch(lambda: time.sleep(2.2), [other.pid]).samples.processes
    for each in (child, other):
        each.kill()
        each.wait()
    assert "a) R 1 (\N{REPLACEMENT CHARACTER}[" in {
        each.name for each in foreign if each.pid == child.pid
    }


def process(pid, seconds=0.0, written=0, *, of_workload=False):
    return ProcessUsage(pid, f"p{pid}", of_workload, seconds, 0, written)


def test_the_busiest_processes_are_chosen_by_bytes_and_by_cpu_time():
    writers = [process(pid, 0.1, pid * MIB) for pid in range(1, 9)]
    spinner = process(9, 5.0)
    own = process(10, 9.0, 99 * MIB, of_workload=True)
    busiest = find_busiest_foreign([*writers, spinner, own])
    assert [each.pid for each in busiest][:2] == [8, 9]
    assert len(busiest) == 5
