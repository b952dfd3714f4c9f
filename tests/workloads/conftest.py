"""The place in which most workloads of the tests run."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.workloads.workload import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder of its own."""
    folder = tmp_path / "target"
    folder.mkdir()
    return Place(folder, seed=7)
