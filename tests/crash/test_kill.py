"""kill -9 at any moment, then the next command: everything is as it was, byte for byte."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.settings import catalog, kinds
from iostudy.settings.definitions.bdi import BdiDefinition
from iostudy.settings.definitions.declared import CommandDefinition, TextFileDefinition
from iostudy.settings.definitions.filesystem import FilesystemSettingDefinition
from iostudy.settings.definitions.volume import VolumeSettingDefinition
from tests.crash.killer import VALUES

pytestmark = [pytest.mark.root, pytest.mark.exclusive("host")]


@pytest.fixture
def unusual(loop: str) -> str:
    """What a switch of the scheduler resets is not as the kernel makes it."""
    queue = Path("/sys/block") / loop / "queue"
    (queue / "nr_requests").write_text("100")
    (queue / "iosched/read_expire").write_text("120")
    (queue / "wbt_lat_usec").write_text("12345")
    return loop


@pytest.fixture
def mounted(unusual: str, tmp_path: Path) -> Iterator[str]:
    """The same with a file system, mounted where the killer looks for it."""
    point = tmp_path / "mounted"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", f"/dev/{unusual}"], check=True)
    subprocess.run(["mount", f"/dev/{unusual}", point], check=True)
    yield unusual
    subprocess.run(["umount", point], check=True)


def kill(scenario: str, loop: str, folder: Path, *options: str) -> int:
    """The number of points at which it was killed."""
    work = folder / "work"
    work.mkdir()
    command = [sys.executable, "-m", "tests.crash.killer", scenario, loop, str(work), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_every_kind_there_is_gets_killed() -> None:
    """A kind that is not among the values would never be tried."""
    tried = {type(catalog.get(name)) for name in VALUES}
    # Made on the scratch disk, made in tests/vm, and killed in test_declared.py.
    elsewhere = {
        CommandDefinition,
        TextFileDefinition,
        FilesystemSettingDefinition,
        VolumeSettingDefinition,
    }
    not_on_every_host = {BdiDefinition}  # of the same make as sysctls
    in_tests_of_plugins = ("HadoopDefinition", "HdfsMountDefinition")
    for kind in kinds.all_kinds():
        definitions = {
            definition for definition in tried if issubclass(definition, kind.definition)
        }
        is_elsewhere = kind.definition in elsewhere | not_on_every_host
        is_elsewhere |= kind.definition.__name__ in in_tests_of_plugins
        assert definitions or is_elsewhere, kind.definition


@pytest.mark.parametrize(
    ("scenario", "stride", "at_least"),
    [
        ("scheduler", 211, 15),
        ("switch", 361, 15),
        ("kinds", 769, 15),
        ("scratch", 131, 15),
        ("rescue", 67, 15),
    ],
)
def test_killed_at_some_lines(
    mounted: str, tmp_path: Path, scenario: str, stride: int, at_least: int
) -> None:
    assert kill(scenario, mounted, tmp_path, "--stride", str(stride), "--start", "7") >= at_least


@pytest.mark.usefixtures("tracing")
def test_killed_while_requests_are_recorded(loop: str, tmp_path: Path) -> None:
    assert kill("trace", loop, tmp_path, "--stride", "23") >= 8


@pytest.mark.parametrize("scenario", ["kinds", pytest.param("scratch", marks=pytest.mark.slow)])
def test_killed_at_every_step(mounted: str, tmp_path: Path, scenario: str) -> None:
    assert kill(scenario, mounted, tmp_path, "--steps") > 20


def test_killed_at_some_moments(mounted: str, tmp_path: Path) -> None:
    assert kill("kinds", mounted, tmp_path, "--moments", "15") == 15


def test_watchdog_after_kills_at_some_moments(mounted: str, tmp_path: Path) -> None:
    assert kill("watchdog", mounted, tmp_path, "--moments", "8") == 8


@pytest.mark.slow
def test_watchdog_after_kills_at_300_moments(mounted: str, tmp_path: Path) -> None:
    assert kill("watchdog", mounted, tmp_path, "--moments", "300", "--start", "3") == 300


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["scheduler", "switch", "kinds", "scratch", "rescue"])
def test_killed_at_every_line(mounted: str, tmp_path: Path, scenario: str) -> None:
    assert kill(scenario, mounted, tmp_path) > 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "times"),
    [("kinds", 2400), ("scheduler", 300), ("switch", 3000), ("scratch", 300)],
)
def test_killed_at_3000_moments(mounted: str, tmp_path: Path, scenario: str, times: int) -> None:
    options = ("--moments", str(times), "--start", "2")
    assert kill(scenario, mounted, tmp_path, *options) == times
