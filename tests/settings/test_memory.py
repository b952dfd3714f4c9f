"""Tests of transparent huge page and free memory settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.settings import kinds
from iostudy.settings.kinds import host_files, memory
from tests.host.sysfs import write


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (memory, host_files):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize("folder", ["transparent_hugepage", "redhat_transparent_hugepage"])
def test_the_choice_in_brackets_under_both_names(root: Path, folder: str) -> None:
    write(root / "sys/kernel/mm" / folder / "enabled", "always [madvise] never\n")
    (setting,) = kinds.bind("thp.enabled", "/anywhere")
    assert setting.label == "thp.enabled"
    assert setting.read() == "madvise"
    assert setting.available_values() == ("always", "madvise", "never")


def test_a_kernel_without(root: Path) -> None:
    with pytest.raises(TargetError, match="this kernel has none"):
        kinds.bind("thp.defrag", ".")


def test_the_memory_kept_free_comes_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `sysctl vm.min_free_kbytes`: the kernel raises it, and lowers it no further."""
    min_free = root / "proc/sys/vm/min_free_kbytes"

    def store(path: Path, value: str) -> None:
        choices = ("always", "madvise", "never")
        if path.name == "enabled":
            text = " ".join(f"[{each}]" if each == value else each for each in choices)
            path.write_text(f"{text}\n")
            min_free.write_text("67584\n")
        else:
            path.write_text(f"{value}\n")

    monkeypatch.setattr(host_files, "write_attribute", store)
    write(root / "sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n")
    write(min_free, "20000\n")
    (change,) = kinds.prepare_changes(dict.fromkeys(kinds.bind("thp.enabled", "."), "always"))
    change.apply()
    change.undo()
    assert min_free.read_text() == "20000\n"
