from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy._native import EngineError, FileJob, VerificationError
from iostudy.job import JobSpec
from tests.native.jobs import DEFAULTS, job

MIB = 1 << 20


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("record_bytes", [4096, 12288, MIB])
def test_written_files_are_read_back(tmp_path: Path, *, direct: bool, record_bytes: int) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    sizes = {"file_bytes": 2 * MIB, "record_bytes": record_bytes}
    written = job(paths, direct=direct, sync="fsync", **sizes).run()
    read = job(paths, operation="read", direct=direct, **sizes).run()
    records = 2 * -(-2 * MIB // record_bytes)
    for result, tally in ((written, written.write), (read, read.read)):
        assert result.bytes == tally.bytes == 4 * MIB
        assert tally.latencies.count == records
        assert len(result.thread_seconds) == 2
        assert 0 < max(result.thread_seconds) <= result.wall_seconds
    assert written.sync.count == 2
    assert read.write.bytes == read.sync.count == 0
    assert [path.stat().st_size for path in paths] == [2 * MIB, 2 * MIB]


def test_latencies_add_up(tmp_path: Path) -> None:
    result = job([tmp_path / "a"], record_bytes=4096).run()
    latencies = result.write.latencies
    buckets = latencies.histogram_us()
    assert sum(count for _, count in buckets) == latencies.count
    assert buckets == sorted(buckets)
    median, most, longest = latencies.percentiles_us([50, 99, 100])
    assert 0 < median <= most <= longest
    assert longest == pytest.approx(latencies.max_us, rel=0.01)
    # Records fill the file's time, but for open and close.
    spent = sum(upper * count for upper, count in buckets) / 1e6
    assert spent <= result.thread_seconds[0] * 1.01


def test_a_name_need_not_be_text(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xfe"
    job([name]).run()
    job([Path(os.fsdecode(name))], operation="read").run()
    with pytest.raises(EngineError) as caught:
        job([name + b"-missing"], operation="read").run()
    assert os.fsencode(caught.value.filename) == name + b"-missing"


@pytest.mark.parametrize("offset", [0, 15, 4096, 100 * 4096 + 3])
def test_a_corrupt_file_is_found_at_the_right_offset(tmp_path: Path, offset: int) -> None:
    path = tmp_path / "a"
    job([path]).run()
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(VerificationError, match=rf"{path} .* at byte {offset}$"):
        job([path], operation="read").run()


def test_a_file_cut_short_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a"
    job([path]).run()
    os.truncate(path, 5000)
    with pytest.raises(VerificationError, match=rf"{path} ends at byte 5000"):
        job([path], operation="read").run()


def test_an_error_has_errno_words_and_file(tmp_path: Path) -> None:
    path = tmp_path / "missing"
    with pytest.raises(EngineError) as caught:
        job([path], operation="read").run()
    error = caught.value
    expected = (errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    assert (error.errno, error.strerror, error.filename) == expected
    assert isinstance(error, OSError)


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tiny", tmp_path], check=True)
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.root
def test_a_full_file_system_is_named_with_the_byte(tiny: Path) -> None:
    with pytest.raises(EngineError) as caught:
        job([tiny / "a"], file_bytes=4 * MIB).run()
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tiny / "a")
    assert caught.value.__notes__ == [f"pwrite at byte {MIB}"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"file_bytes": 0}, "file_bytes is 0"),
        ({"record_bytes": 0}, "record_bytes is 0"),
        ({"file_bytes": 2**63}, "more than 2\\^63"),
        ({"file_bytes": 2**63 - 1, "begin_bytes": 1}, "more than 2\\^63"),
        ({"record_bytes": 2 * MIB}, "more than file_bytes"),
        ({"direct": True, "record_bytes": 512}, "record_bytes is 512; .* multiple of 4096"),
        ({"direct": True, "file_bytes": MIB - 1}, "multiple of 4096"),
        ({"operation": "append"}, "allowed: write, read, mix"),
        ({"operation": "read", "sync": "fsync"}, "sync is for writing only"),
        ({"method": "mmap"}, "allowed: psync, seek, stdio, io_uring"),
        ({"method": "seek", "depth": 2}, "seek has queue depth 1"),
        ({"sqpoll": True}, "psync has queue depth 1; .* for io_uring"),
        ({"method": "io_uring", "depth": 0}, "depth is 0; allowed: 1 to 4096"),
        ({"method": "io_uring", "submit_batch": 2}, "submit_batch is 2; allowed: 1 to depth"),
        ({"method": "io_uring", "iopoll": True}, "needs direct"),
        ({"order": "sideways"}, "allowed: sequential, .*zipf"),
        ({"order": "strided", "step": 0}, "step is 0"),
        ({"order": "zipf", "zipf_exponent": 0.0}, "zipf_exponent is 0; .* more than 0"),
        ({"operation": "mix", "read_percent": 101, "create": False}, "allowed: 0 to 100"),
        ({"operation": "mix", "create": True}, "nothing to read"),
        ({"operation": "mix", "create": False, "method": "stdio"}, "stdio reads or writes"),
        ({"sync": "sync"}, "allowed: fsync, fdatasync"),
        ({"advice": "hurry"}, "allowed: .*willneed"),
        ({"seconds": 1.0, "total_bytes": 1}, "either total_bytes or seconds"),
        ({"total_bytes": 0}, "total_bytes is 0"),
        ({"seconds": -1.0}, "seconds is -1"),
        ({"seconds": 1e18}, "up to 1e9 seconds"),
        ({"rate": 0.0}, "rate is 0"),
        ({"rate": 1.0, "think_seconds": 1.0}, "either a rate or think_seconds"),
        ({"arrival": "poisson"}, "needs a rate"),
        ({"rate": 1.0, "arrival": "bursts"}, "allowed: closed, even, poisson"),
        ({"compressible": 1.5}, "compressible is 1.5; allowed: 0 to 1"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        job([Path("x")], **options)


def test_no_files_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        job([])


def test_a_number_is_no_path() -> None:
    with pytest.raises(TypeError, match=r"Spec\.threads") as caught:
        FileJob(JobSpec(threads=((3,),), **DEFAULTS))  # type: ignore[arg-type]
    assert "str or bytes, not <class 'int'>" in str(caught.value.__cause__)
