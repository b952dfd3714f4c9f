"""First touch of free memory before a trial."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from iostudy.host.inventory import read_memory_bytes
from iostudy.node import caches
from iostudy.units import MIB

CHUNK = 64 * MIB


def mapped_kb() -> int:
    text = Path("/proc/self/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1])


@pytest.fixture
def meminfo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "proc/meminfo"
    file.parent.mkdir()
    monkeypatch.setattr(caches, "read_memory_bytes", partial(read_memory_bytes, root=tmp_path))
    return file


def test_so_much_is_touched_and_freed_again(meminfo: Path) -> None:
    meminfo.write_text("MemTotal: 9000000 kB\nMemFree:  1000000 kB\n")
    before = mapped_kb()
    assert caches.touch_free_memory(3 * CHUNK + 1) == 3 * CHUNK
    assert mapped_kb() < before + CHUNK // 1024


@pytest.mark.parametrize("wanted", [0, 1 << 40], ids=["all", "more than there is"])
def test_a_tenth_of_the_free_memory_stays(meminfo: Path, wanted: int) -> None:
    meminfo.write_text(f"MemFree: {5 * CHUNK // 1024} kB\n")
    assert caches.touch_free_memory(wanted) == 4 * CHUNK


def test_every_page_is_touched() -> None:
    (chunk,) = caches._chunks(1)
    with chunk:
        resident = Path("/proc/self/smaps").read_text()
        assert chunk[CHUNK - 1] == 0
    sizes = [line.split()[1] for line in resident.splitlines() if line.startswith("Rss:")]
    assert max(map(int, sizes)) >= CHUNK // 1024


def test_without_free_memory_nothing_is_touched(meminfo: Path) -> None:
    meminfo.write_text("MemFree: 100 kB\n")
    assert caches.touch_free_memory(CHUNK) == 0
