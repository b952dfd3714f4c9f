"""Programs are run to their end, or ended whole; what they say is kept, within bounds."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.errors import UsageError, WorkloadError, WorkloadStoppedError
from iostudy.units import MIB
from iostudy.workloads.external import program as module
from iostudy.workloads.external.program import Program, run

pytestmark = pytest.mark.child

LONG = "3333"


@pytest.fixture
def make(tmp_path):
    def program(*arguments, limit=20.0, **environment):
        return Program(arguments, tmp_path, limit, environment)

    return program


def running(marker):
    """The processes, other than zombies, that have the marker among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                arguments = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if str(marker).encode() in arguments:
                found.append(int(entry.name))
    return found


@pytest.fixture
def marker(tmp_path):
    """An argument of `sleep` that no other process has, and none has when the test is over."""
    seconds = f"{LONG}.{tmp_path.stat().st_ino}"
    yield seconds
    assert not running(seconds)


def eventually(condition, seconds=10.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_program_result_has_output_and_usage(make, tmp_path):
    text = (
        "import os,sys; print(os.getcwd(), os.environ['COLOUR']); print('aside', file=sys.stderr)"
    )
    ended = run(make(sys.executable, "-c", text + "; x = b'1' * 100_000_000", COLOUR="red"))
    ended.require_success()
    assert ended.stdout.text == f"{tmp_path} red\n"
    assert ended.stderr.text == "aside\n"
    assert 0 < ended.user_seconds + ended.system_seconds <= ended.wall_seconds * 4
    assert 100_000_000 < ended.peak_rss_bytes < 200_000_000
    assert ended.left_running == 0


def test_peak_memory_is_the_programs_own_and_not_that_of_iostudy(make):
    ballast = bytearray(os.urandom(MIB)) * 64
    assert run(make("true")).peak_rss_bytes < 32 * MIB < len(ballast)


def test_arguments_reach_the_program_as_they_are(make, tmp_path):
    evil = ["$(touch a)", "; touch b", "`touch c`", "*", "a b\n'\"", "\udcff", "${HOME}"]
    show = "import os,sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
    ended = run(make(sys.executable, "-c", show, *evil))
    assert ended.stdout.text == b"\0".join(map(os.fsencode, evil)).decode(errors="replace")
    assert not list(tmp_path.iterdir())


def test_exit_code_is_reported_with_the_last_lines(make):
    ended = run(make("sh", "-c", "for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 7"))
    with pytest.raises(WorkloadError, match=r"code 7; it printed: line 3 .* line 7\n") as caught:
        ended.require_success()
    assert "line 2" not in caught.value.found


def test_signal_is_reported_by_name(make):
    ended = run(make("sh", "-c", "kill -SEGV $$"))
    with pytest.raises(
        WorkloadError, match=r"signal 11 \(Segmentation fault\); it printed nothing"
    ):
        ended.require_success()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("no-such-program",), "No such file or directory"),
        (("/etc/passwd",), "Permission denied"),
        (("true", "x" * (1 << 21)), "Argument list too long"),
    ],
)
def test_start_failure_is_reported(make, arguments, found):
    with pytest.raises(WorkloadError, match=found):
        run(make(*arguments))


def test_missing_working_directory_is_reported(tmp_path):
    with pytest.raises(WorkloadError, match=r"No such file.*gone"):
        run(Program(("true",), tmp_path / "gone", 5.0))


def test_a_missing_program_is_refused_beforehand(make):
    make("true").require_installed("install it")
    with pytest.raises(UsageError, match=r"not in the PATH\n  remedy: install it"):
        make("no-such-program").require_installed("install it")
    with pytest.raises(UsageError, match="not in the PATH"):
        make("true", PATH="/nowhere").require_installed("install it")
    with pytest.raises(UsageError, match="no such program"):
        make("/no/such/program").require_installed("install it")


def test_huge_output_is_kept_within_bounds(make, monkeypatch):
    monkeypatch.setattr(module, "KEPT_BYTES", 1000)
    ended = run(make("sh", "-c", "head -c 30000000 /dev/zero | tr '\\0' x; echo END"))
    assert ended.stdout.text.endswith("xEND\n")
    assert len(ended.stdout.text) == 1000
    assert ended.stdout.lost_bytes == 30_000_004 - 1000


def test_output_takes_bounded_memory_and_time(make):
    """Also the message of a failure, of whose output every line is short."""
    code = "import sys; [sys.stdout.write('y\\n' * 50_000) for _ in range(2000)]; sys.exit(3)"
    with trace_peak_memory() as peak:
        ended = run(make(sys.executable, "-c", code, limit=60.0))
        with pytest.raises(WorkloadError, match="exit code 3; it printed: y / y / y / y / y"):
            ended.require_success()
    assert ended.stdout.lost_bytes == 200_000_000 - module.KEPT_BYTES
    # The ring, which the kernel gives memory as it fills, is not counted; what it keeps is, twice.
    assert peak[0] < 2.5 * module.KEPT_BYTES


def test_the_rings_of_a_run_take_no_memory_before_they_fill(make):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    run(make("true"))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    assert (after - before) * resource.getpagesize() < module.KEPT_BYTES


@contextmanager
def trace_peak_memory():
    """The peak of what Python allocates, in bytes, after the context."""
    found: list[int] = []
    tracemalloc.start()
    try:
        yield found
        found.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def test_a_time_limit_ends_the_whole_group_and_says_the_last_words(make, marker):
    program = make("sh", "-c", f"echo so far; sleep {marker} & sleep {marker}", limit=2.0)
    with pytest.raises(WorkloadError, match=r"within 2\.0 s\n.*it had printed: so far"):
        run(program)


def test_a_program_may_clean_up_before_it_is_killed(make, tmp_path):
    script = "trap 'touch cleaned; exit' TERM; touch began; while :; do sleep 0.01; done"
    with pytest.raises(WorkloadStoppedError):
        run(make("sh", "-c", script), lambda _: not (tmp_path / "began").exists())
    assert (tmp_path / "cleaned").exists()


def test_a_program_that_ignores_sigterm_is_killed(make, marker):
    script = f"trap '' TERM; sleep {marker}; sleep {marker}"
    with pytest.raises(WorkloadError, match="still running"):
        run(make("sh", "-c", script, limit=0.2))


def test_daemons_are_found_and_ended(make, marker):
    ended = run(make("sh", "-c", f"setsid sh -c 'sleep {marker} & sleep {marker} &' & sleep 0.3"))
    assert ended.left_running == 2


def test_stop_is_checked_while_the_program_is_silent(make, marker):
    calls = []

    def tick(_):
        calls.append(time.monotonic())
        return len(calls) < 4

    with pytest.raises(WorkloadStoppedError, match="it was stopped"):
        run(make("sleep", marker), tick)
    assert calls[-1] - calls[0] < 3


def test_a_signal_ends_the_program(make, marker):
    """As Ctrl-C does: an exception comes out of nowhere, and nothing is left."""
    ran = False

    def tick(_):
        nonlocal ran
        ran = ran or bool(running(marker))
        if ran:
            signal.raise_signal(signal.SIGINT)
        return True

    with pytest.raises(KeyboardInterrupt):
        run(make("sh", "-c", f"sleep {marker} & wait"), tick)


@pytest.mark.parametrize("last_words", [signal.SIGKILL, signal.SIGTERM])
def test_the_program_ends_with_iostudy_however_that_ends(tmp_path, marker, last_words):
    text = (
        "from pathlib import Path; from iostudy.workloads.external.program import Program, run; "
        f"run(Program(('sh', '-c', 'sleep {marker} & setsid sleep {marker}'), Path('/'), 99.0))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(module.__file__).parents[3])}
    with subprocess.Popen([sys.executable, "-c", text], env=environment) as iostudy:
        eventually(lambda: len(running(marker)) == 2)
        iostudy.send_signal(last_words)
    eventually(lambda: not running(marker))
