"""The group of a trial: its rules as the kernel has them, and version 2 on a stand-in."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partialmethod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import RestoreError, SettingError
from iostudy.host.cgroups import CgroupHierarchy, CgroupVersion
from iostudy.settings import catalog
from iostudy.settings.definitions.cgroup import Control
from iostudy.settings.kinds import cgroup, rebuild_change
from iostudy.settings.kinds.cgroup import GroupLimit, TrialGroup, parse_limit, read_rule

LIMITS = [control for control in Control if control is not Control.WEIGHT]
WBPS = GroupLimit(Control.WBPS, "7:0", "1048576")


class FakeCgroup:
    """As much of cgroup v2 as a group of a trial asks of it, in a folder."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.refused: dict[str, int] = {}
        top.mkdir()
        self.make(top, "cpu io memory")

    def make(self, group: Path, controllers: str = "") -> None:
        (group / "cgroup.controllers").write_text(controllers)
        (group / "cgroup.subtree_control").write_text("")
        (group / "cgroup.procs").write_text("")

    def mkdir(self, group: Path) -> None:
        os.mkdir(group)  # noqa: PTH102 - Path's own is what it stands in for
        self.make(group)
        if "io" in (group.parent / "cgroup.subtree_control").read_text():
            (group / "io.max").write_text("")

    def rmdir(self, group: Path) -> None:
        if (group / "cgroup.procs").read_text():
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        shutil.rmtree(group)

    def write(self, path: Path, value: str) -> None:
        if path.name in self.refused:
            number = self.refused[path.name]
            raise OSError(number, os.strerror(number))
        if path.name == "cgroup.procs":
            self.move(path.parent, value)
        elif path.name == "cgroup.subtree_control":
            path.write_text("io" if value == "+io" else "")
        else:
            assert path.exists(), path
            number, limit = value.split()
            key, amount = limit.split("=")
            limits = dict.fromkeys(("rbps", "wbps", "riops", "wiops"), "max") | {key: amount}
            path.write_text(f"{number} " + " ".join(f"{k}={v}" for k, v in limits.items()) + "\n")

    def move(self, group: Path, process: str) -> None:
        for members in self.top.rglob("cgroup.procs"):
            members.write_text(members.read_text().replace(f"{process}\n", ""))
        (group / "cgroup.procs").write_text((group / "cgroup.procs").read_text() + f"{process}\n")

    @property
    def handed_down(self) -> str:
        return (self.top / "cgroup.subtree_control").read_text()


def _passed_on(path: Path, act: Callable[[Path], None]) -> None:
    act(path)


@pytest.fixture
def v2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCgroup:
    kernel = FakeCgroup(tmp_path / "cgroup")
    hierarchy = CgroupHierarchy(CgroupVersion.V2, kernel.top, kernel.top)
    monkeypatch.setattr(cgroup.cgroups, "io_hierarchy", lambda: hierarchy)
    monkeypatch.setattr(cgroup, "write_attribute", kernel.write)
    for name in ("mkdir", "rmdir"):
        # A bound method would not be given the path.
        monkeypatch.setattr(Path, name, partialmethod(_passed_on, getattr(kernel, name)))
    monkeypatch.setattr(cgroup, "_PATIENCE_SECONDS", 0.05)
    kernel.move(kernel.top, str(os.getpid()))
    return kernel


def test_version_2_turns_io_on_and_off_again(v2: FakeCgroup) -> None:
    change = TrialGroup.prepare([WBPS])
    change.apply()
    assert v2.handed_down == "io"
    assert (change.path / "io.max").read_text().startswith("7:0 rbps=max wbps=1048576")
    assert (change.path / "cgroup.procs").read_text() == f"{os.getpid()}\n"
    removed, turned_off = change.undo()
    assert removed.endswith("wbps 7:0 = 1048576: removed")
    assert "turned off again" in turned_off
    assert v2.handed_down == ""
    assert (v2.top / "cgroup.procs").read_text() == f"{os.getpid()}\n"
    assert not change.path.exists()
    assert change.undo() == ()


def test_io_that_the_host_hands_down_stays_on(v2: FakeCgroup) -> None:
    v2.write(v2.top / "cgroup.subtree_control", "+io")
    change = TrialGroup.prepare([WBPS])
    change.apply()
    assert len(change.undo()) == 1
    assert v2.handed_down == "io"


def test_the_last_of_several_groups_turns_io_off(v2: FakeCgroup) -> None:
    first, second = TrialGroup.prepare([WBPS]), TrialGroup.prepare([WBPS])
    first.apply()
    second.apply()
    third = TrialGroup.prepare([WBPS])
    third.apply()
    for change in (first, third):
        assert len(change.undo()) == 1
        assert v2.handed_down == "io"
    assert len(second.undo()) == 2
    assert v2.handed_down == ""


def test_io_that_others_have_come_to_need_stays_on(v2: FakeCgroup) -> None:
    change = TrialGroup.prepare([WBPS])
    change.apply()
    v2.refused["cgroup.subtree_control"] = errno.EBUSY
    assert len(change.undo()) == 1
    assert v2.handed_down == "io"


def test_undone_from_its_record_at_every_step(v2: FakeCgroup) -> None:
    """Killed before anything, after io was turned on, after the group was made, after it all."""
    change = TrialGroup.prepare([WBPS, GroupLimit(Control.RIOPS, "7:0", "max")])
    steps = (
        lambda: None,
        lambda: v2.write(v2.top / "cgroup.subtree_control", "+io"),
        change._make,
        change.apply,
    )
    for step in steps:
        step()
        again = rebuild_change(change.kind, change.record())
        assert again == change
        again.undo()
        assert v2.handed_down == ""
        assert [path for path in v2.top.iterdir() if path.is_dir()] == []


def test_after_a_reboot_there_is_no_such_group(v2: FakeCgroup) -> None:
    v2.write(v2.top / "cgroup.subtree_control", "+io")
    (said,) = replace(TrialGroup.prepare([WBPS]), turned_on=True, boot="another").undo()
    assert "rebooted" in said
    assert v2.handed_down == "io"


def test_the_group_that_the_process_came_from_is_gone(v2: FakeCgroup) -> None:
    change = replace(TrialGroup.prepare([WBPS]), origin=v2.top / "session-1.scope")
    change.apply()
    change.undo()
    assert (v2.top / "cgroup.procs").read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("refused", ["cgroup.subtree_control", "io.max", "cgroup.procs"])
def test_a_refused_limit_is_reported_and_undone(v2: FakeCgroup, refused: str) -> None:
    change = TrialGroup.prepare([WBPS])
    v2.refused[refused] = errno.EACCES
    with pytest.raises(SettingError, match="Permission denied") as caught:
        change.apply()
    assert "run as root" in caught.value.remedy
    v2.refused.clear()
    change.undo()
    assert v2.handed_down == ""


def test_a_group_that_somebody_stays_in(v2: FakeCgroup) -> None:
    change = TrialGroup.prepare([WBPS])
    change.apply()
    v2.refused["cgroup.procs"] = errno.EBUSY
    with pytest.raises(RestoreError, match="busy") as caught:
        change.undo()
    assert "cgroup.procs" in caught.value.remedy


def test_a_kernel_that_makes_something_else_of_it(
    v2: FakeCgroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "read_rule", lambda *_: "1")
    with pytest.raises(SettingError, match="the actual value is 1"):
        TrialGroup.prepare([WBPS]).apply()
    monkeypatch.setattr(cgroup, "read_rule", lambda *_: None)
    with pytest.raises(SettingError, match="weighs no groups") as caught:
        TrialGroup.prepare([GroupLimit(Control.WEIGHT, "", "50")]).apply()
    assert "bfq" in caught.value.remedy


@given(
    st.dictionaries(st.from_regex(r"\d{1,3}:\d{1,3}", fullmatch=True), st.integers(1, 2**63)),
    st.sampled_from(LIMITS),
)
def test_limits_are_read_as_the_kernel_writes_them(
    limits: dict[str, int], control: Control
) -> None:
    keys = ("rbps", "wbps", "riops", "wiops")
    v1 = "".join(f"{number} {limit}\n" for number, limit in limits.items())
    v2 = "".join(
        f"{number} " + " ".join(f"{k}={limit if k == control else 'max'}" for k in keys) + "\n"
        for number, limit in limits.items()
    )
    for text in (v1, v2):
        for number, limit in limits.items():
            assert parse_limit(text, control, number) == str(limit)
        assert parse_limit(text, control, "999:1000") == "max"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("io.weight", "default 100\n"),
        ("io.bfq.weight", "default 100\n8:16 300\n"),
        ("io.weight", "100\n"),
    ],
)
def test_a_weight_with_and_without_devices(tmp_path: Path, name: str, text: str) -> None:
    assert read_rule(tmp_path, CgroupVersion.V2, Control.WEIGHT, "") is None
    (tmp_path / name).write_text(text)
    assert read_rule(tmp_path, CgroupVersion.V2, Control.WEIGHT, "") == "100"


def test_rates_are_sizes_and_less_than_a_process_can_wait_for_is_refused() -> None:
    wbps = catalog.get("cgroup.wbps")
    assert wbps.parse("100MiB") == str(100 << 20)
    assert wbps.parse("max") == "max"
    for text in ("1KiB", "0", "10MiB/s", "-1"):
        with pytest.raises(ValueError, match=r"64KiB or more|not a size"):
            wbps.parse(text)
    assert catalog.get("cgroup.riops").parse("0100") == "100"
