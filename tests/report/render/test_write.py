from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.report.render import chart_files
from tests.report.factory import report


def test_all_forms_are_written_and_nothing_else(tmp_path: Path) -> None:
    paths = chart_files.write_report_files(report(), tmp_path)
    assert {path.name for path in paths} == {"report.html", "report.md", "report.json"}
    assert set(tmp_path.iterdir()) == set(paths)
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in paths)


def test_a_write_that_fails_leaves_the_old_report_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = chart_files.write_report_files(report(blocks=5), tmp_path)
    before = {path: path.read_bytes() for path in old}

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        chart_files.write_report_files(report(), tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
