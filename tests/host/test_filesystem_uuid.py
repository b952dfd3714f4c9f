from pathlib import Path

import pytest

from iostudy.settings import filesystem_location as module
from iostudy.settings.filesystem_location import filesystem_uuid
from tests.device.mounted import filesystem, mounted

UUID = "0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f"


@pytest.mark.root
def test_the_uuid_of_an_ext4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with filesystem("ext4", "-U", UUID) as device, mounted(device, tmp_path / "data") as point:
        links = tmp_path / "dev/disk/by-uuid"
        links.mkdir(parents=True)
        (links / UUID).symlink_to(device)
        (links / "gone").symlink_to("/dev/no-such-device")
        monkeypatch.setattr(module, "ROOT", tmp_path)
        assert filesystem_uuid(point) == UUID
        monkeypatch.setattr(module, "_GET_UUID", 0)  # a kernel before 6.9
        assert filesystem_uuid(point) == UUID


def test_devices_without_a_uuid() -> None:
    assert filesystem_uuid(Path("/proc")) == ""
