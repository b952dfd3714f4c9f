"""Reads through a mount: every byte, in every order, by many readers, and with damaged replicas."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import signal
import threading
from pathlib import Path

import pytest

from iostudy_hadoop.local.cluster import LocalCluster
from tests.plugins.hadoop import webhdfs
from tests.plugins.hadoop.mount.conftest import BLOCK_BYTES, Mounts, statistics

pytestmark = [pytest.mark.slow, pytest.mark.root, pytest.mark.process]

LENGTH = 5 * BLOCK_BYTES + 12_345
JOBS, READS, READ_BYTES = 80, 12_500, 4096


@pytest.fixture(scope="module")
def content(hdfs: LocalCluster) -> bytes:
    data = random.Random(3).randbytes(LENGTH)
    webhdfs.write(hdfs, "/data/events.root", data)
    webhdfs.write(hdfs, "/data/empty", b"")
    webhdfs.write(hdfs, "/data/ünïcode name", b"x")
    return data


def test_every_byte_is_equal_and_a_sequential_reader_has_one_stream(
    mounts: Mounts, content: bytes
) -> None:
    point, _ = mounts.start()
    assert (point / "data/events.root").read_bytes() == content
    found = statistics(point)
    assert (found["streams"], found["bytes"] >= LENGTH, found["bypassed"]) == (1, True, 0)
    assert (point / "data/empty").read_bytes() == b""


@pytest.mark.parametrize("rdbuffer", ["0", "64KiB", "10MiB"])
def test_random_reads_by_many_readers(mounts: Mounts, content: bytes, rdbuffer: str) -> None:
    point, _ = mounts.start("--rdbuffer", rdbuffer)
    wrong: list[int] = []

    def read(seed: int) -> None:
        draw = random.Random(seed)
        flags = os.O_RDONLY | (os.O_DIRECT if seed % 2 else 0)
        descriptor = os.open(point / "data/events.root", flags)
        for _ in range(50):
            offset, size = draw.randrange(LENGTH), draw.choice([1, 4096, 100_000, 1 << 20])
            if os.pread(descriptor, size, offset) != content[offset : offset + size]:
                wrong.append(offset)
        os.close(descriptor)

    readers = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert wrong == []


def read_and_compare(path: Path, content: bytes, seed: int) -> None:
    draw = random.Random(seed)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    for _ in range(READS):
        offset = draw.randrange(LENGTH // READ_BYTES) * READ_BYTES
        assert os.pread(descriptor, READ_BYTES, offset) == content[offset : offset + READ_BYTES]
    os.close(descriptor)


def test_80_jobs_read_a_million_times(mounts: Mounts, content: bytes) -> None:
    point, _ = mounts.start("--rdbuffer", "64KiB")
    file = point / "data/events.root"
    context = multiprocessing.get_context("fork")
    jobs = [
        context.Process(target=read_and_compare, args=(file, content, seed)) for seed in range(JOBS)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0] * JOBS
    assert statistics(point)["requests"] >= JOBS * READS


@pytest.mark.parametrize("rdbuffer", ["64KiB", "128KiB"])
def test_the_kernels_reads_bypass_a_small_buffer(
    mounts: Mounts, content: bytes, rdbuffer: str
) -> None:
    point, _ = mounts.start("--rdbuffer", rdbuffer)
    assert (point / "data/events.root").read_bytes() == content
    found = statistics(point)
    assert found["bypassed"] > 0.9 * found["requests"]
    assert found["streams"] == 1


def test_the_largest_request_is_limited(mounts: Mounts, content: bytes) -> None:
    point, _ = mounts.start("--max-read", "16KiB")
    assert (point / "data/events.root").read_bytes() == content
    found = statistics(point)
    assert found["requests"] >= LENGTH / 16_384


def test_names_and_attributes(mounts: Mounts, content: bytes) -> None:
    point, _ = mounts.start(path="/data")
    assert sorted(each.name for each in point.iterdir()) == ["empty", "events.root", "ünïcode name"]
    status = (point / "events.root").stat()
    assert (status.st_size, status.st_mode & 0o777) == (len(content), 0o444)
    with pytest.raises(FileNotFoundError):
        (point / "absent").stat()


def test_a_long_directory_is_listed_whole(mounts: Mounts, hdfs: LocalCluster) -> None:
    wanted = {f"file-with-a-rather-long-name-{number:04}" for number in range(150)}
    for name in wanted:
        webhdfs.write(hdfs, f"/many/{name}", b"")
    point, _ = mounts.start()
    assert {each.name for each in (point / "many").iterdir()} == wanted


def test_nothing_can_be_written(mounts: Mounts, content: bytes) -> None:
    point, _ = mounts.start()
    for attempt in (
        lambda: (point / "data/new").write_bytes(b"x"),
        (point / "data/events.root").unlink,
        (point / "data/new").mkdir,
        lambda: (point / "data/events.root").rename(point / "moved"),
        lambda: os.truncate(point / "data/events.root", 0),
    ):
        with pytest.raises(OSError) as refused:
            attempt()
        assert refused.value.errno == errno.EROFS
    assert (point / "data/events.root").read_bytes() == content


def test_a_datanode_is_killed_in_mid_read(
    mounts: Mounts, hdfs: LocalCluster, content: bytes
) -> None:
    point, _ = mounts.start("--rdbuffer", "64KiB")
    with (point / "data/events.root").open("rb", buffering=0) as file:
        received = file.read(100_000)
        os.kill(hdfs.facts()["daemons"]["datanode0"]["pid"], signal.SIGKILL)
        while piece := file.read(1 << 17):
            received += piece
    hdfs.configured({}, restart=False)  # starts it again
    assert received == content


def replicas(hdfs: LocalCluster, content: bytes) -> list[Path]:
    """The files of DataNodes with the first block."""
    files = [path for folder in hdfs.data_dirs() for path in folder.rglob("blk_*")]
    return [path for path in files if path.suffix != ".meta" and path.read_bytes() == content]


def test_a_damaged_replica_is_found_by_its_checksum(mounts: Mounts, hdfs: LocalCluster) -> None:
    data = random.Random(4).randbytes(1 << 20)
    webhdfs.write(hdfs, "/damaged", data)
    first, second = replicas(hdfs, data)
    point, _ = mounts.start()
    for damaged in (first, second):
        damaged.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
        assert (point / "damaged").read_bytes() == data
        damaged.write_bytes(data)
    for each in (first, second):
        each.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    with pytest.raises(OSError) as failed:
        (point / "damaged").read_bytes()
    assert failed.value.errno == errno.EIO
