"""Transfer of results: complete, or not at all."""

import hashlib
from pathlib import Path

import pytest

from iostudy.errors import RecordError
from iostudy_fleet.replicate import transfer
from iostudy_fleet.replicate.transfer import fetch_folder
from iostudy_fleet.supervision.node_study import ResultFile

CONTENT = {"ledger.sqlite": b"0123456789" * 7, "telemetry/1.npz": b"", "report.md": b"x"}


def listed(content: dict[str, bytes]) -> tuple[ResultFile, ...]:
    return tuple(
        ResultFile(name, len(data), hashlib.sha256(data).hexdigest())
        for name, data in content.items()
    )


def read(name: str, offset: int, size: int) -> bytes:
    return CONTENT[name][offset : offset + size]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(transfer, "PIECE_BYTES", 32)


def test_a_folder_arrives_as_it_is_and_replaces_an_earlier_one(tmp_path: Path):
    for _ in range(2):
        fetch_folder(listed(CONTENT), read, tmp_path / "node")
        found = {
            str(path.relative_to(tmp_path / "node")): path.read_bytes()
            for path in (tmp_path / "node").rglob("*")
            if path.is_file()
        }
        assert found == CONTENT
        assert [path.name for path in tmp_path.iterdir()] == ["node"]


def test_an_earlier_folder_stays_if_a_transfer_breaks_off(tmp_path: Path):
    fetch_folder(listed(CONTENT), read, tmp_path / "node")

    def broken(name: str, offset: int, size: int) -> bytes:
        if offset:
            raise TimeoutError
        return read(name, offset, size)

    with pytest.raises(TimeoutError):
        fetch_folder(listed(CONTENT), broken, tmp_path / "node")
    assert (tmp_path / "node/ledger.sqlite").read_bytes() == CONTENT["ledger.sqlite"]
    fetch_folder(listed(CONTENT), read, tmp_path / "node")
    assert [path.name for path in tmp_path.iterdir()] == ["node"]


def test_a_folder_without_a_ledger_does_not_replace_results(tmp_path: Path):
    fetch_folder((), read, tmp_path / "node")
    fetch_folder(listed(CONTENT), read, tmp_path / "node")
    with pytest.raises(RecordError, match="the node has none"):
        fetch_folder(listed({"report.md": b"x"}), read, tmp_path / "node")
    assert (tmp_path / "node/ledger.sqlite").read_bytes() == CONTENT["ledger.sqlite"]


def test_a_changed_or_short_file_is_refused(tmp_path: Path):
    with pytest.raises(RecordError, match="another checksum"):
        fetch_folder(listed({"report.md": b"y"}), read, tmp_path / "node")
    with pytest.raises(RecordError, match="0 bytes after 1 of 2 bytes"):
        fetch_folder(listed({"report.md": b"xx"}), read, tmp_path / "node")
    assert not (tmp_path / "node").exists()


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "."])
def test_a_node_cannot_write_outside_its_folder(tmp_path: Path, name: str):
    with pytest.raises(RecordError, match="outside"):
        fetch_folder((ResultFile(name, 0, ""),), read, tmp_path / "node")
    assert not (tmp_path / "x").exists()
