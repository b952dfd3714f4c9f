"""Tests of `iostudy.ledger.samples`: files that must not be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostudy.errors import LedgerError
from iostudy.ledger.rows import SamplesFile
from iostudy.ledger.samples import read_samples

SHA256 = "0" * 64


@pytest.mark.parametrize("kind", ["fifo", "link", "sparse"])
def test_a_file_that_would_hang_or_lead_elsewhere_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "telemetry/000001.parquet"
    path.parent.mkdir()
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "link":
            path.symlink_to("/etc/passwd")
        case "sparse":
            path.touch()
            os.truncate(path, 60 << 30)
    with pytest.raises(LedgerError):
        read_samples(tmp_path, SamplesFile("telemetry/000001.parquet", SHA256), ())


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "telemetry/../secret"])
def test_a_ledger_cannot_name_a_file_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(LedgerError, match="its name is not that of a telemetry file"):
        read_samples(tmp_path, SamplesFile(name, SHA256), ())
