"""Mount options as factors on every kind of target, before the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostudy.errors import SettingError, TargetError
from iostudy.node.expected import check_target
from iostudy.settings import catalog
from iostudy.settings.definition import Reach
from iostudy.settings.definitions.mount import MountDefinition
from tests.fixtures_loop import loop_disk
from tests.study.files import GOOD, READS, read

LEVELS = {
    "mount.atime": ["relatime", "noatime"],
    "mount.commit": [5, 60],
    "mount.options": ["commit=60", "noatime"],
}
SETTINGS = [name for name in catalog.names() if isinstance(catalog.get(name), MountDefinition)]
SETTINGS.remove("mount.data")  # no file system changes it at a remount


@pytest.mark.root
@pytest.mark.parametrize("target", ["directory", "loopback", "scratch", "scratch by its name"])
def test_every_mount_option_can_vary(target: str, tmp_path: Path) -> None:
    with loop_disk() as loop:
        device = f"/dev/{loop}"
        targets = {"directory": str(tmp_path), "loopback": "{loopback: {size: 64MiB}}"}
        section = targets.get(target, f"{{scratch: {{device: {device}}}}}")
        on = [device] if target == "scratch by its name" else None
        for name in SETTINGS:
            assert catalog.get(name).reach is Reach.MOUNT
            levels = LEVELS.get(name, ["on", "off"])
            factor = {"levels": levels, "on": on} if on else levels
            text = GOOD.replace("/data/scratch", section).replace("size: 64MiB", "size: 1MiB")
            text = text.replace("block.scheduler: [none, bfq]", f"{name}: {json.dumps(factor)}")
            text = text.replace(f"- {READS}\n", "- io: {label: file-reads, files: 2, size: 1MiB}\n")
            text = text.replace("loopback: {size: 1MiB}", "loopback: {size: 64MiB}")
            check_target(read(text), tmp_path, unsafe_folders=False)


@pytest.mark.root
def test_a_mount_option_that_a_file_system_lacks_is_refused(tmp_path: Path) -> None:
    """tmpfs stands for all: the kernel itself says what it does not know."""
    text = GOOD.replace("/data/scratch", "/dev/shm").replace("size: 64MiB", "size: 1MiB")
    study = read(text.replace("block.scheduler: [none, bfq]", "mount.commit: [5, 60]"))
    with pytest.raises(SettingError, match="tmpfs does not accept it"):
        check_target(study, tmp_path, unsafe_folders=False)


@pytest.mark.root
def test_a_mount_elsewhere_must_be_there_already(tmp_path: Path, loop: str) -> None:
    with loop_disk() as other:
        text = GOOD.replace("/data/scratch", f"{{scratch: {{device: /dev/{loop}}}}}")
        factor = f"mount.atime: {{levels: [relatime, noatime], 'on': /dev/{other}}}"
        study = read(text.replace("block.scheduler: [none, bfq]", factor))
        with pytest.raises(TargetError, match="is mounted nowhere"):
            check_target(study, tmp_path, unsafe_folders=False)
