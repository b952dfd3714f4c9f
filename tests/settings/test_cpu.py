"""The CPU governor on a recorded tree: this machine need not have one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError, TargetError
from iostudy.settings import kinds
from iostudy.settings.change import Setting
from iostudy.settings.kinds import cpu, host_files
from tests.host.sysfs import write

CPUS = "sys/devices/system/cpu"
OFFERED = "conservative ondemand userspace powersave performance schedutil \n"
SAMPLING = f"{CPUS}/cpufreq/ondemand/sampling_rate"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a governor that is chosen starts with its default, as in the kernel."""

    def store(path: Path, value: str) -> None:
        if value not in OFFERED.split() and path.name == "scaling_governor":
            raise OSError(22, "Invalid argument")
        path.write_text(f"{value}\n")
        if value == "ondemand":
            write(tmp_path / SAMPLING, "10000\n")

    for module in (cpu, host_files):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(host_files, "write_attribute", store)
    return tmp_path


def policy(root: Path, folder: str, governor: str) -> Path:
    write(root / CPUS / folder / "scaling_available_governors", OFFERED)
    path = root / CPUS / folder / "scaling_governor"
    write(path, f"{governor}\n")
    return path


def settings() -> tuple[Setting, ...]:
    return kinds.bind("cpu.governor", ".")


def test_all_policies_are_one_level_and_each_comes_back(root: Path) -> None:
    paths = [policy(root, f"cpufreq/policy{n}", g) for n, g in ((0, "powersave"), (4, "schedutil"))]
    assert [s.label for s in settings()] == ["cpu.governor@policy0", "cpu.governor@policy4"]
    assert settings()[0].available_values() == tuple(OFFERED.split())
    (change,) = kinds.prepare_changes(dict.fromkeys(settings(), "performance"))
    change.apply()
    assert [s.read() for s in settings()] == ["performance"] * 2
    kinds.rebuild_change(change.kind, json.loads(json.dumps(change.record()))).undo()
    assert [path.read_text() for path in paths] == ["powersave\n", "schedutil\n"]


def test_old_kernels_have_a_folder_for_each_cpu(root: Path) -> None:
    for number in (0, 10):
        policy(root, f"cpu{number}/cpufreq", "ondemand")
    assert [s.label for s in settings()] == ["cpu.governor@cpu0", "cpu.governor@cpu10"]


def test_tunables_of_a_governor_are_restored(root: Path) -> None:
    policy(root, "cpufreq/policy0", "ondemand")
    write(root / SAMPLING, "40000\n")
    (change,) = kinds.prepare_changes(dict.fromkeys(settings(), "performance"))
    change.apply()
    change.undo()
    assert (root / SAMPLING).read_text() == "40000\n"


def test_a_governor_that_the_kernel_does_not_have(root: Path) -> None:
    path = policy(root, "cpufreq/policy0", "powersave")
    (change,) = kinds.prepare_changes(dict.fromkeys(settings(), "nonesuch"))
    with pytest.raises(SettingError, match="it offers conservative, ondemand"):
        change.apply()
    assert path.read_text() == "powersave\n"


def test_somebody_else_has_chosen_meanwhile(root: Path) -> None:
    path = policy(root, "cpufreq/policy0", "powersave")
    (change,) = kinds.prepare_changes(dict.fromkeys(settings(), "performance"))
    change.apply()
    path.write_text("schedutil\n")
    with pytest.raises(RestoreError, match="scaling_governor is schedutil: another process"):
        change.undo()


def test_a_machine_without_a_frequency_governor(root: Path) -> None:
    with pytest.raises(TargetError, match="no cpufreq policy"):
        settings()
