"""Files cut off by the Rust core, and what it says of files that it cannot cut off."""

from __future__ import annotations

import errno

import pytest

from iostudy._native import EngineError, Truncation


def test_every_file_is_cut_off_and_timed(tmp_path):
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(b"0123456789")
    ticks = []
    result = Truncation(list(map(str, paths)), size=4, sync="fdatasync").run(
        lambda done: ticks.append(done) or True
    )
    assert [path.read_bytes() for path in paths] == [b"0123"] * 3
    assert result.write.latencies.count == result.sync.count == 3
    assert (result.bytes, result.moved_bytes, set(ticks) - {0}) == (0, 0, set())
    assert max(result.thread_seconds) <= result.wall_seconds


def test_a_file_that_cannot_be_cut_off_is_named(tmp_path):
    with pytest.raises(EngineError) as caught:
        Truncation([str(tmp_path)], size=4).run()
    assert (caught.value.errno, caught.value.filename) == (errno.EISDIR, str(tmp_path))


def test_an_unknown_sync_is_refused():
    with pytest.raises(ValueError, match="fsync, fdatasync"):
        Truncation(["a"], size=4, sync="sync")  # type: ignore[arg-type]
