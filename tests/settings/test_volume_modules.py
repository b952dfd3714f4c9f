"""Kernels without the modules of a volume are refused with their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.settings.commands import CommandError
from iostudy.settings.scratch.volume import manager
from iostudy.settings.scratch.volume.layout import VolumeLayout
from tests.host.sysfs import write


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel without modules, of which modprobe finds none."""

    def refuse(*command: str) -> str:
        raise CommandError(" ".join(command))

    monkeypatch.setattr(manager.commands, "run", refuse)
    write(tmp_path / "proc/sys/kernel/osrelease", "6.18.0-none\n")
    monkeypatch.setattr(manager, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "loaded", "missing"),
    [
        ("lvm-raid10", (), "dm_mod, dm_raid, raid10"),
        ("lvm-raid10", ("dm_mod", "raid10"), "dm_raid"),
        ("lvm-mirror", ("dm_mod",), "dm_mirror"),
        ("md-raid6", (), "raid456"),
    ],
)
def test_a_kernel_without_modules(
    kernel: Path, kind: str, loaded: tuple[str, ...], missing: str
) -> None:
    for name in loaded:
        (kernel / "sys/module" / name).mkdir(parents=True)
    with pytest.raises(TargetError) as error:
        manager.require(VolumeLayout(kind))
    assert f"a kernel with {missing}, for {kind}" in str(error.value)
    assert "the kernel 6.18.0-none" in str(error.value)


def test_a_kernel_with_the_modules(kernel: Path) -> None:
    (kernel / "sys/module/raid0").mkdir(parents=True)
    manager.require(VolumeLayout("md-raid0"))
