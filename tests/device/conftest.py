from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.settings.mounting import calls as mount_calls
from tests.device.mounted import NO_SUCH_CALL, filesystem, mounted


@pytest.fixture(autouse=True)
def _own_state(state_dir: Path) -> None:
    """No test touches the journals of this host."""


@pytest.fixture(scope="module", params=["ext4", "xfs", "btrfs"])
def made(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    with filesystem(request.param) as device:
        yield request.param, device


@pytest.fixture(scope="module")
def ext4() -> Iterator[str]:
    with filesystem("ext4") as device:
        yield device


@pytest.fixture
def data(ext4: str, tmp_path: Path) -> Iterator[Path]:
    with mounted(ext4, tmp_path / "data") as point:
        yield point


@pytest.fixture(params=["fsconfig", "mount"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The calls of this kernel, and those of one before 5.2."""
    if request.param == "mount":
        monkeypatch.setattr(mount_calls, "_FSPICK", NO_SUCH_CALL)
    return str(request.param)
