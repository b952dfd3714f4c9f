"""Whole plots with new file systems on a real loop-back disk."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import SettingError, TargetError, WorkloadError
from iostudy.host import devices, mounts
from iostudy.node.conditions import Conditions
from iostudy.node.local import LocalNode
from iostudy.node.local_block import LocalBlock
from iostudy.settings.scratch import new_filesystem
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.requests import build_request as request_of
from iostudy.study.targets.section import LoopbackTarget, ScratchTarget
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.units import MIB
from iostudy.workloads import catalog

pytestmark = pytest.mark.root


def configuration(filesystem: str, scheduler: str, **more: str) -> Configuration:
    settings = {"block.scheduler": scheduler, "filesystem.type": filesystem} | {
        f"filesystem.{name}": value for name, value in more.items()
    }
    return Configuration(
        f"{filesystem}, {scheduler}", settings, {}, whole_plot=f"filesystem.type={filesystem}"
    )


EXT2_NONE, EXT2_BFQ = configuration("ext2", "none"), configuration("ext2", "bfq")
EXT4_NONE, EXT4_BFQ = configuration("ext4", "none"), configuration("ext4", "bfq")


def request(operation: str = "write", **options: object) -> WorkloadRequest:
    given = {"operation": operation, "size": "4MiB", "direct": True, **options}
    return request_of("io", catalog.get("io").options.model_validate(given))


@pytest.fixture
def folder(tmp_path: Path, state_dir: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.fixture
def node(folder: Path) -> Iterator[LocalNode]:
    with LocalNode(Conditions(LoopbackTarget(32 * MIB, "ext4")), folder) as node:
        yield node
    assert list(folder.iterdir()) == []


def mounted(session: LocalBlock) -> tuple[str, int]:
    """The type of the file system, and the id of its mount, which a new root changes."""
    (mount,) = mounts.find_mounts_at(session.place.directory.parent)
    return mount.filesystem, mount.id


def filesystems_made(session: LocalBlock, *order: Configuration) -> list[str]:
    """The types of the file systems that the trials of that order were the first on."""
    phases = [(each, session.trial(each).phases) for each in order]
    return [
        each.settings["filesystem.type"]
        for each, phases_of_trial in phases
        if "format" in phases_of_trial
    ]


def test_each_whole_plot_of_each_block_has_a_new_file_system(node: LocalNode) -> None:
    with node.block(request(), seed=1) as session:
        made = filesystems_made(session, EXT4_BFQ, EXT4_NONE, EXT2_NONE, EXT2_BFQ)
        assert made == ["ext4", "ext2"]
        last = mounted(session)
    # The first of the next block begins anew, though it is of the type that is still mounted.
    with node.block(request(), seed=2) as session:
        assert mounted(session) == last
        assert filesystems_made(session, EXT2_NONE, EXT2_BFQ, EXT4_NONE) == ["ext2", "ext4"]


def test_every_trial_records_its_file_system(node: LocalNode) -> None:
    bare = replace(
        configuration("ext4", "none", journal="off", block_size="1024", reserved="0"),
        whole_plot="filesystem.journal=off",
    )
    with node.block(request(), seed=1) as session:
        for each, more in ((bare, 3), (EXT2_BFQ, 0)):
            result = session.trial(each)
            device = session.devices[0]
            assert result.settings == {
                f"{name}@{device}": value for name, value in each.settings.items()
            }
            assert len(result.settings) == 2 + more
            assert list(result.phases)[:3] == ["format", "prepare", "apply"]


def test_data_are_made_once_a_whole_plot_with_the_same_content(node: LocalNode) -> None:
    with node.block(request("read"), seed=1) as session:
        contents = []
        for first, second in ((EXT4_NONE, EXT4_BFQ), (EXT2_BFQ, EXT2_NONE)):
            assert "prepare" in session.trial(first).phases
            assert "prepare" not in session.trial(second).phases
            (file,) = session.place.directory.glob("*/job-*")
            contents.append(file.read_bytes())
    assert contents[0] == contents[1]


def test_a_study_that_varies_no_file_system_makes_none(node: LocalNode) -> None:
    plain = Configuration("none", {"block.scheduler": "none"}, {})
    with node.block(request(), seed=1) as session:
        before = mounted(session)
        result = session.trial(plain)
        assert mounted(session) == before
    assert "format" not in result.phases
    assert [name.partition("@")[0] for name in result.settings] == ["block.scheduler"]


def test_preflight_makes_each_once_and_checks_the_room_of_each(
    node: LocalNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    run = new_filesystem.commands.run

    def spy(*command: str) -> str:
        made.append(command[0])
        return run(*command)

    monkeypatch.setattr(new_filesystem.commands, "run", spy)
    configurations = (EXT4_NONE, EXT2_NONE, EXT4_BFQ, EXT2_BFQ)
    node.preflight([request()], configurations)
    assert [tool for tool in made if tool.startswith("mkfs")] == ["mkfs.ext4", "mkfs.ext2"]
    # What fits on ext2 leaves no room for half of the blocks to be reserved.
    half = replace(
        configuration("ext2", "none", reserved="50"), whole_plot="filesystem.reserved=50"
    )
    large = request(size="20MiB")
    node.preflight([large], [EXT2_NONE])
    with pytest.raises(TargetError, match=r"reserved=50") as caught:
        node.preflight([large], [EXT2_NONE, half])
    assert "20.4 MiB" in caught.value.wanted


def test_preflight_refuses_what_mkfs_refuses(node: LocalNode) -> None:
    bad = replace(configuration("ext4", "none", block_size="512"), whole_plot="block_size=512")
    refused = node.preflight([request()], [EXT4_NONE, bad])
    assert list(refused) == [bad.label]
    assert "mkfs.ext4" in refused[bad.label].wanted


def test_a_plot_that_cannot_be_made_ends_its_block_and_not_the_next(
    node: LocalNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    with node.block(request(), seed=1) as session:
        session.trial(EXT4_NONE)
        with monkeypatch.context() as broken:
            broken.setattr(new_filesystem, "PROTECTION", ("nonesuch",))
            with pytest.raises(SettingError, match=r"\(mount\)"):
                session.trial(EXT2_NONE)
    with node.block(request(), seed=1) as session:
        result = session.trial(EXT2_NONE)
        assert result.devices == session.devices != ()
        assert result.telemetry.summary.devices[session.devices[0]]["kB_wrtn"] >= 4 * 1024


def test_a_workload_that_fails_ends_on_a_file_system_that_is_left(node: LocalNode) -> None:
    with node.block(request("read"), seed=1) as session:
        session.trial(EXT4_NONE)
        next(session.place.directory.glob("*/job-*")).write_bytes(bytes(4 * MIB))
        with pytest.raises(WorkloadError):
            session.trial(EXT4_BFQ)
    assert node.circumstances()["target"]["devices"][0].startswith("loop")


def test_a_setting_read_back_at_the_end_of_the_trial(node: LocalNode) -> None:
    class RemountingRecorder(ProcRecorder):
        def stop(self):
            point = str(session.place.directory.parent)
            subprocess.run(["mount", "-o", "remount,atime,commit=9", point], check=True)
            return super().stop()

    slow = replace(configuration("ext4", "none", options="commit=30"), whole_plot="options")
    with node.block(request(), seed=1) as session:
        meddled = replace(session, make_recorder=lambda: RemountingRecorder([session.devices[0]]))
        with pytest.raises(SettingError, match=r"options = commit=30") as caught:
            meddled.trial(slow)
    assert caught.value.found == "it is commit=9"


def test_a_scratch_device_is_used_again_and_again(folder: Path, loop: str) -> None:
    with (
        LocalNode(Conditions(ScratchTarget(Path("/dev") / loop, "ext4")), folder) as node,
        node.block(request(), seed=1) as session,
    ):
        assert filesystems_made(session, EXT2_NONE, EXT4_NONE) == ["ext2", "ext4"]
    assert list(folder.iterdir()) == []
    assert not any(m.source == f"/dev/{loop}" for m in mounts.read_mounts())
    assert devices.read_device(loop)
