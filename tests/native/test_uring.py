"""Tests of io_uring jobs on kernels that restrict or forbid io_uring."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from iostudy._native import EngineError, JobResult
from tests.native.jobs import job
from tests.native.test_limits import output_of

MIB = 1 << 20
RING = {"method": "io_uring", "depth": 16}

WRITE_AND_READ = """
import json, sys
from iostudy._native import FileJob
from iostudy.job import JobSpec

spec = dict(threads=((sys.argv[1],), (sys.argv[1] + "-2",)), file_bytes=2**20, record_bytes=2**16,
            seed=1, method="io_uring", depth=16)
write = FileJob(JobSpec(operation="write", create=True, **spec)).run()
read = FileJob(JobSpec(operation="read", **spec)).run()
print(json.dumps([write.bytes, read.bytes, write.fallbacks, read.fallbacks]))
"""

FORBIDDEN = """
import ctypes, errno, struct

SET_NO_NEW_PRIVS, SET_SECCOMP, MODE_FILTER = 38, 22, 2
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
IO_URING_SETUP, IO_URING_REGISTER = 425, 427
LOAD_NUMBER, JUMP_AT_LEAST, JUMP_ABOVE, RETURN = 0x20, 0x35, 0x25, 0x06
program = b"".join(struct.pack("HBBI", *step) for step in [
    (LOAD_NUMBER, 0, 0, 0),
    (JUMP_AT_LEAST, 0, 2, IO_URING_SETUP),
    (JUMP_ABOVE, 1, 0, IO_URING_REGISTER),
    (RETURN, 0, 0, REFUSE),
    (RETURN, 0, 0, ALLOW),
])
steps = ctypes.create_string_buffer(program, len(program))
libc = ctypes.CDLL(None, use_errno=True)
filter = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
assert libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
assert libc.prctl(SET_SECCOMP, MODE_FILTER, filter, 0, 0) == 0
"""

LITTLE_LOCKED_MEMORY = """
import json, os, resource
import iostudy._native, iostudy.job  # another user need not be able to read them

resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
os.setuid(54321)  # root may lock what it likes
"""

SHORT_WRITE = """
import resource, sys
from iostudy._native import EngineError, FileJob
from iostudy.job import JobSpec

resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
try:
    FileJob(JobSpec(threads=((sys.argv[1],),), operation="write", create=True, method="io_uring",
                    file_bytes=32768, record_bytes=16384, seed=1)).run()
except EngineError as error:
    print(error.errno, *error.__notes__)
"""

ENDLESS = """
from iostudy._native import FileJob
from iostudy.job import JobSpec

job = FileJob(JobSpec(threads=(("/dev/zero",),) * 2, operation="read", file_bytes=2**62,
                      record_bytes=2**20, seed=1, method="io_uring", depth=64, verify=False))
print("ready", flush=True)
try:
    job.run()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_io_uring_job_has_no_departures(tmp_path: Path) -> None:
    written = ring_or_skip(tmp_path / "a")
    assert written.bytes == MIB
    assert written.fallbacks == []
    read = job([tmp_path / "a"], operation="read", order="random", submit_batch=4, **RING).run()
    assert (read.bytes, read.fallbacks) == (MIB, [])


@pytest.mark.child
def test_without_io_uring_psync_is_used_and_noted_once(tmp_path: Path) -> None:
    *moved, write_notes, read_notes = json.loads(
        output_of(FORBIDDEN + WRITE_AND_READ, str(tmp_path / "a"))
    )
    assert moved == [2 * MIB, 2 * MIB]
    assert write_notes == read_notes
    (note,) = read_notes
    assert "Operation not permitted" in note
    assert note.endswith("psync instead, with depth 1")


@pytest.mark.root
def test_little_locked_memory_disables_registered_buffers(tmp_path: Path) -> None:
    ring_or_skip(tmp_path / "probe")
    # Another user writes here. Folders above tmp_path stay closed, as other tests expect them.
    with tempfile.TemporaryDirectory(prefix="iostudy-uring-") as folder:
        Path(folder).chmod(0o777)
        *moved, write_notes, read_notes = json.loads(
            output_of(LITTLE_LOCKED_MEMORY + WRITE_AND_READ, str(Path(folder) / "a"))
        )
    assert moved == [2 * MIB, 2 * MIB]
    assert write_notes == read_notes
    (note,) = read_notes
    assert "buffers of io_uring are not registered" in note
    assert "Cannot allocate memory" in note


@pytest.mark.child
def test_short_transfer_is_continued(tmp_path: Path) -> None:
    ring_or_skip(tmp_path / "probe")
    said = output_of(SHORT_WRITE, str(tmp_path / "a"))
    assert said == f"{errno.EFBIG} io_uring write at byte 10000\n"


def test_memory_that_no_machine_has_is_an_error(tmp_path: Path) -> None:
    ring_or_skip(tmp_path / "probe")
    for record_bytes in (1 << 50, (1 << 63) - 1):
        sizes = {"file_bytes": (1 << 63) - 1, "record_bytes": record_bytes}
        with pytest.raises(EngineError) as caught:
            job([tmp_path / "a"], **sizes, **RING).run()
        assert caught.value.errno == errno.ENOMEM


@pytest.mark.child
def test_a_signal_ends_it_with_records_under_way() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=300)
        finally:
            process.kill()
    assert output == "interrupted\n"


def ring_or_skip(path: Path) -> JobResult:
    """A file written by io_uring, where there is one."""
    written = job([path], **RING).run()
    if any("psync instead" in note for note in written.fallbacks):
        pytest.skip(written.fallbacks[0])
    return written
