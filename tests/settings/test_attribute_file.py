"""Files of the kernel as settings, on a recorded tree: chosen words, resets, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError, TargetError
from iostudy.settings import catalog, kinds
from iostudy.settings.kinds import attribute_file, host_files
from tests.host.sysfs import write
from tests.settings.programs import bind_declared

CPUS = "sys/devices/system/cpu"
OFFERED = "conservative ondemand userspace powersave performance schedutil \n"
SAMPLING = f"{CPUS}/cpufreq/ondemand/sampling_rate"
THP = "sys/kernel/mm/transparent_hugepage"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel: a choice keeps its brackets, and some files reset others."""

    def store(path: Path, value: str, seconds: float) -> None:
        assert seconds > 0
        value, old = value.removesuffix("\n"), path.read_text()
        if "[" in old:
            words = [word.strip("[]") for word in old.split()]
            if value not in words:
                raise OSError(22, "Invalid argument")
            value = " ".join(f"[{each}]" if each == value else each for each in words)
        elif path.name == "scaling_governor" and value not in OFFERED.split():
            raise OSError(22, "Invalid argument")
        path.write_text(f"{value}\n")
        if value == "ondemand":
            write(tmp_path / SAMPLING, "10000\n")
        if path == tmp_path / THP / "enabled":
            write(tmp_path / "proc/sys/vm/min_free_kbytes", "67584\n")

    for module in (attribute_file, host_files):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(attribute_file, "write_attribute", store)
    return tmp_path


def again(change):
    return kinds.rebuild_change(change.kind, json.loads(json.dumps(change.record())))


@pytest.mark.parametrize("folder", ["transparent_hugepage", "redhat_transparent_hugepage"])
def test_the_choice_in_brackets_under_both_names(root: Path, folder: str) -> None:
    write(root / "sys/kernel/mm" / folder / "enabled", "always [madvise] never\n")
    (setting,) = kinds.bind("thp.enabled", "/anywhere")
    assert setting.label == "thp.enabled"
    assert setting.read() == "madvise"
    assert setting.available_values() == ("always", "madvise", "never")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("always [madvise] never\n", "madvise"),
        ("none voluntary (full) lazy\n", "full"),
        ("[mq-deadline]\n", "mq-deadline"),
        ("1\t2  3\n", "1 2 3"),
        ("max 100000\n", "max 100000"),
        ("1000 (system)\n", "1000 (system)"),
    ],
)
def test_forms_of_values(root: Path, text: str, value: str) -> None:
    write(root / "sys/x/y", text)
    assert bind_declared("my.y", attribute="/sys/x/y").read() == value


def test_a_path_is_a_name(root: Path) -> None:
    write(root / "sys/module/zswap/parameters/enabled", "N\n")
    write(root / "sys/module/x/parameters/y", "1\n")
    assert catalog.full_name("/sys/module/zswap/parameters/enabled") == "zswap.enabled"
    assert catalog.full_name("/proc/sys/vm/swappiness") == "sysctl.vm.swappiness"
    (setting,) = kinds.bind("/sys/module/x/parameters/y", ".")
    assert setting.label == "/sys/module/x/parameters/y"
    (change,) = kinds.prepare_changes({setting: "0"})
    change.apply()
    assert setting.read() == "0"
    again(change).undo()
    assert setting.read() == "1"


def test_a_kernel_without(root: Path) -> None:
    with pytest.raises(TargetError, match="this kernel, device or driver has none"):
        kinds.bind("thp.defrag", ".")


@pytest.mark.parametrize("name", ["thp.enabled", f"/{THP}/enabled", "my.thp"])
def test_the_memory_kept_free_comes_back(root: Path, name: str) -> None:
    """As after `sysctl vm.min_free_kbytes`: the kernel raises it, and lowers it no further."""
    write(root / THP / "enabled", "always madvise [never]\n")
    min_free = root / "proc/sys/vm/min_free_kbytes"
    write(min_free, "20000\n")
    if name == "my.thp":
        setting = bind_declared(name, attribute=f"/{THP}/enabled")
    else:
        (setting,) = kinds.bind(name, ".")
    (change,) = kinds.prepare_changes({setting: "always"})
    change.apply()
    again(change).undo()
    assert min_free.read_text() == "20000\n"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/proc/self/oom_score_adj", "name a file of the kernel"),
        ("/proc/sys/vm/swappiness", "write sysctl.vm.swappiness"),
        ("/sys/block/sda/queue/scheduler", "write block.scheduler with `on: sda`"),
        ("/sys/block/sda/queue/iosched/fifo_batch", "write block.SCHEDULER.fifo_batch"),
        ("/sys/link", "name a file of the kernel"),
    ],
)
def test_files_with_a_setting_of_their_own_and_other_files(
    root: Path, path: str, reason: str
) -> None:
    write(root / "etc/passwd", "x\n")
    (root / "sys").mkdir()
    (root / "sys/link").symlink_to(root / "etc/passwd")
    if path != "/sys/link":
        write(root / path[1:], "1\n")
    with pytest.raises(TargetError) as caught:
        bind_declared("my.file", attribute=path)
    assert reason in caught.value.remedy


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        ("", 0o644, "it is nothing"),
        ("1\n2\n", 0o644, "not a line of printable text"),
        ("1\0\n", 0o644, "not a line of printable text"),
        ("x" * 5000, 0o644, "more than 4095 bytes"),
        ("1\n", 0o444, "absent here now, or read-only"),
        ("1\n", 0o200, "absent here now, or read-only"),
    ],
)
def test_files_that_are_refused(root: Path, content: str, mode: int, reason: str) -> None:
    write(root / "sys/x/y", content)
    (root / "sys/x/y").chmod(mode)
    with pytest.raises(SettingError, match=reason):
        kinds.prepare_changes({bind_declared("my.y", attribute="/sys/x/y"): "2"})


def policy(root: Path, folder: str, governor: str) -> Path:
    write(root / CPUS / folder / "scaling_available_governors", OFFERED)
    path = root / CPUS / folder / "scaling_governor"
    write(path, f"{governor}\n")
    return path


def governors():
    return kinds.bind("cpu.governor", ".")


def test_all_policies_are_one_level_and_each_comes_back(root: Path) -> None:
    paths = [policy(root, f"cpufreq/policy{n}", g) for n, g in ((0, "powersave"), (4, "schedutil"))]
    for number in range(8):
        (root / CPUS / f"cpu{number}").mkdir()
        (root / CPUS / f"cpu{number}/cpufreq").symlink_to(f"../cpufreq/policy{number & 4}")
    assert [s.label for s in governors()] == ["cpu.governor@policy0", "cpu.governor@policy4"]
    assert governors()[0].available_values() == tuple(OFFERED.split())
    changes = kinds.prepare_changes(dict.fromkeys(governors(), "performance"))
    for change in changes:
        change.apply()
    assert [s.read() for s in governors()] == ["performance"] * 2
    for change in changes:
        again(change).undo()
    assert [path.read_text() for path in paths] == ["powersave\n", "schedutil\n"]


def test_old_kernels_have_a_folder_for_each_cpu(root: Path) -> None:
    for number in (0, 10):
        policy(root, f"cpu{number}/cpufreq", "ondemand")
    assert [s.label for s in governors()] == ["cpu.governor@cpu0", "cpu.governor@cpu10"]


def test_tunables_of_a_governor_are_restored(root: Path) -> None:
    policy(root, "cpufreq/policy0", "ondemand")
    write(root / SAMPLING, "40000\n")
    (change,) = kinds.prepare_changes(dict.fromkeys(governors(), "performance"))
    change.apply()
    change.undo()
    assert (root / SAMPLING).read_text() == "40000\n"


def test_a_governor_that_the_kernel_does_not_have(root: Path) -> None:
    path = policy(root, "cpufreq/policy0", "powersave")
    (change,) = kinds.prepare_changes(dict.fromkeys(governors(), "nonesuch"))
    with pytest.raises(SettingError, match="it offers conservative, ondemand"):
        change.apply()
    assert path.read_text() == "powersave\n"


def test_somebody_else_has_chosen_meanwhile(root: Path) -> None:
    path = policy(root, "cpufreq/policy0", "powersave")
    (change,) = kinds.prepare_changes(dict.fromkeys(governors(), "performance"))
    change.apply()
    path.write_text("schedutil\n")
    with pytest.raises(RestoreError, match="scaling_governor is schedutil: another process"):
        change.undo()


def test_a_machine_without_a_frequency_governor(root: Path) -> None:
    with pytest.raises(TargetError, match=r"cpu.governor"):
        governors()


def test_a_value_that_cannot_be_restored_is_a_command_for_a_person(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "sys/x/y", "1\n")
    (change,) = kinds.prepare_changes({bind_declared("my.y", attribute="/sys/x/y"): "2"})
    change.apply()

    def hang(path: Path, text: str, seconds: float) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(attribute_file, "write_attribute", hang)
    with pytest.raises(RestoreError, match="Input/output error") as refused:
        change.undo()
    assert f"echo 1 > {root}/sys/x/y" in refused.value.remedy
