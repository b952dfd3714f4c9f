"""Free space of file systems, also of those that state none."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from iostudy.node.free_space import measure_free_space, smallest_free_space


@pytest.fixture
def unsized(monkeypatch: pytest.MonkeyPatch) -> None:
    """As HDFS through its mount: no block in all."""
    nothing = SimpleNamespace(f_blocks=0, f_bavail=0, f_frsize=512)
    real = os.statvfs
    monkeypatch.setattr(
        os, "statvfs", lambda path: nothing if path.name == "served" else real(path)
    )


def test_a_file_system_without_a_size_has_unknown_space(tmp_path: Path, unsized: None) -> None:
    served = tmp_path / "served"
    served.mkdir()
    assert measure_free_space("here", served).free_bytes is None
    local = measure_free_space("here", tmp_path).free_bytes
    assert local
    found = smallest_free_space("here", [served, tmp_path])
    assert found.free_bytes == pytest.approx(local, rel=0.1)
    assert smallest_free_space("here", [served]).free_bytes is None
