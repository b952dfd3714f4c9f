"""Tests of `iostudy.ledger.samples`: what is read again, and files that must not be read."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from iostudy.errors import LedgerError
from iostudy.ledger.rows import SamplesFile
from iostudy.ledger.samples import read_samples, write_samples
from iostudy.telemetry.samples import Samples

SHA256 = "0" * 64
NAN = float("nan")


@pytest.mark.parametrize("kind", ["fifo", "link", "sparse"])
def test_a_file_that_would_hang_or_lead_elsewhere_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "telemetry/000001.npz"
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
        read_samples(tmp_path, SamplesFile("telemetry/000001.npz", SHA256), ())


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "telemetry/../secret"])
def test_a_ledger_cannot_name_a_file_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(LedgerError, match="its name is not that of a telemetry file"):
        read_samples(tmp_path, SamplesFile(name, SHA256), ())


def write(folder: Path, content: bytes, ending: str = "npz") -> SamplesFile:
    """Write a file of samples with its checksum."""
    name = f"telemetry/000001.{ending}"
    (folder / name).parent.mkdir()
    (folder / name).write_bytes(content)
    return SamplesFile(name, hashlib.sha256(content).hexdigest())


def test_samples_are_the_same_again_and_numpy_reads_them(tmp_path: Path) -> None:
    columns = {
        "disk.loop0.reads": np.array([NAN, 2.0**53, 0.0, 2.0**63 + 2048]),
        "tcp.timeouts": np.array([200.0, NAN, NAN, 201.0]),
    }
    samples = Samples(np.array([0.0, 0.1, 0.25, 0.3]), columns)
    file = write_samples(tmp_path, 1, samples)
    again = read_samples(tmp_path, file, ("disk.", "tcp."))
    assert again.seconds.tolist() == samples.seconds.tolist()
    for name, values in columns.items():
        assert np.array_equal(again.columns[name], values, equal_nan=True)
    assert list(read_samples(tmp_path, file, ("tcp.",)).columns) == ["tcp.timeouts"]
    with np.load(tmp_path / file.name) as arrays:
        assert arrays["steps"].cumsum(axis=1)[1].tolist() == [200, 200, 200, 201]
        assert arrays["missing"][1].tolist() == [False, True, True, False]


def test_samples_without_a_column_are_read(tmp_path: Path) -> None:
    file = write_samples(tmp_path, 1, Samples(np.array([0.0, 0.1]), {}))
    assert read_samples(tmp_path, file, ("cpu.",)).columns == {}


@pytest.mark.all_plugins
def test_a_file_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    columns = {
        "seconds": [0.0, 0.1],
        "cpu.user": polars.Series([1, None], dtype=polars.UInt64),
        "vm.x": polars.Series([None, None], dtype=polars.UInt64),
    }
    file = write(tmp_path, parquet_of(columns), "parquet")
    samples = read_samples(tmp_path, file, ("cpu.", "vm."))
    np.testing.assert_array_equal(samples.columns["cpu.user"], [1, NAN])
    assert np.isnan(samples.columns["vm.x"]).all()


def archive_of(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


GOOD = {
    "seconds": np.arange(2.0),
    "names": np.array(["cpu.user"]),
    "steps": np.ones((1, 2), np.int64),
    "missing": np.zeros((1, 2), bool),
}


def test_the_arrays_of_samples_are_read(tmp_path: Path) -> None:
    samples = read_samples(tmp_path, write(tmp_path, archive_of(**GOOD)), ("cpu.",))
    assert samples.columns["cpu.user"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "changed",
    [
        {"seconds": np.arange(3.0)},
        {"seconds": np.zeros((2, 2))},
        {"seconds": np.arange(2.0).astype(complex)},
        {"missing": np.zeros((2, 2), bool)},
        {"missing": np.zeros((1, 2), np.int64)},
        {"steps": np.array([["a", "b"]])},
        {"steps": np.ones((1, 2), np.int8)},
        {"names": np.array([object()])},
        {"names": np.array(["cpu.user", "cpu.idle"])},
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    file = write(tmp_path, archive_of(**GOOD | changed))
    with pytest.raises(LedgerError, match="it contains no samples"):
        read_samples(tmp_path, file, ("cpu.",))


def parquet_of(columns: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    polars.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("ending", ["npz", pytest.param("parquet", marks=pytest.mark.all_plugins)])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\5\6" + bytes(18),
        b"PAR1junkjunkPAR1",
        bytes(4000),
        archive_of(names=GOOD["names"]),
        parquet_of({"cpu.user": [1]}),
    ],
)
def test_other_content_is_refused(tmp_path: Path, content: bytes, ending: str) -> None:
    file = write(tmp_path, content, ending)
    with pytest.raises(LedgerError, match="it contains no samples"):
        read_samples(tmp_path, file, ("cpu.",))


@pytest.mark.all_plugins
def test_an_earlier_file_without_the_plugin_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "arro3.io", None)
    file = write(tmp_path, parquet_of({"seconds": [0.0, 0.1]}), "parquet")
    with pytest.raises(LedgerError, match="of an earlier version") as caught:
        read_samples(tmp_path, file, ("cpu.",))
    assert "iostudy[trace]" in caught.value.remedy


def test_arrays_beyond_all_measure_are_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("steps.npy", b"")
        archive.infolist()[0].file_size = 2 << 30
    file = write(tmp_path, buffer.getvalue())
    with pytest.raises(LedgerError, match="too large"):
        read_samples(tmp_path, file, ())
