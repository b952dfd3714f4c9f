"""A study of directories on real mounts: ext4, xfs, memory, and a server through FUSE."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.node.conditions import Conditions
from iostudy.node.local import LocalNode
from iostudy.node.local_block import LocalBlock
from iostudy.node.site import ExpectedMount
from iostudy.storage_kind import StorageKind
from iostudy.study.combinations import Configuration
from iostudy.study.model import WorkloadRequest
from iostudy.study.requests import build_request as request_of
from iostudy.study.targets.section import DirectoriesTarget
from iostudy.workloads import catalog
from tests.mounts import loop_mounted, mounted, sshfs_mounted

pytestmark = pytest.mark.root


def place(name: str, **settings: str) -> Configuration:
    label = ", ".join((name, *settings.values()))
    own = {f"block.{option}": value for option, value in settings.items()}
    return Configuration(label, own, {}, whole_plot=f"target.directory={name}", directory=name)


def request(operation: str = "read", **options: object) -> WorkloadRequest:
    given = {"operation": operation, "size": "1MiB", **options}
    return request_of("io", catalog.get("io").options.model_validate(given))


@pytest.fixture
def directories(tmp_path: Path) -> Iterator[Mapping[str, Path]]:
    with ExitStack() as stack:
        enter = stack.enter_context
        ext4 = enter(loop_mounted(tmp_path / "ext4", "ext4"))
        xfs = enter(loop_mounted(tmp_path / "xfs", "xfs"))
        memory = enter(mounted(tmp_path / "memory", "-t", "tmpfs", "-o", "size=64m", "tmpfs"))
        served = ext4 / "served"
        served.mkdir()
        sshfs = enter(sshfs_mounted(tmp_path / "sshfs", served)).point
        yield {"ext4": ext4, "xfs": xfs, "memory": memory, "sshfs": sshfs}


@pytest.fixture
def node(directories: Mapping[str, Path], tmp_path: Path, state_dir: Path) -> Iterator[LocalNode]:
    folder = tmp_path / "out"
    folder.mkdir()
    with LocalNode(Conditions(DirectoriesTarget(directories)), folder) as node:
        yield node
    left = {path.name for directory in directories.values() for path in directory.iterdir()}
    assert left == {"lost+found", "served"}
    assert list(folder.iterdir()) == []


def content(session: LocalBlock) -> bytes:
    (file,) = session.place.directory.glob("*/job-*")
    return file.read_bytes()


def test_each_configuration_works_in_its_directory_with_the_same_data(
    node: LocalNode, directories: Mapping[str, Path]
) -> None:
    contents = []
    with node.block(request(), seed=1) as session:
        for name, path in directories.items():
            result = session.trial(place(name))
            assert session.place.directory.parent == path
            assert result.figures["bytes"] == 1 << 20
            assert [each.startswith("loop") for each in result.devices] == (
                [True] if name in ("ext4", "xfs") else []
            )
            served = any("caches of servers" in note for note in result.notes)
            assert served == (name == "sshfs")
            contents.append(content(session))
    assert len(set(contents)) == 1


def test_data_are_shared_within_a_directory_and_made_again_in_each_block(node: LocalNode) -> None:
    contents = []
    for seed in (1, 2):
        with node.block(request(), seed) as session:
            first = session.trial(place("ext4", scheduler="none"))
            second = session.trial(place("ext4", scheduler="mq-deadline"))
            assert "prepare" in first.phases
            assert "prepare" not in second.phases
            assert "format" not in first.phases
            assert [*second.settings.values()] == ["mq-deadline"]
            contents.append(content(session))
    assert contents[0] != contents[1]


def test_preflight_checks_space_and_settings_of_each_directory(node: LocalNode) -> None:
    scheduled = [place("ext4", scheduler="none"), place("memory", scheduler="none")]
    refused = node.preflight([request()], scheduled)
    assert list(refused) == ["memory, none"]
    with pytest.raises(TargetError, match=r"target\.directory=memory") as caught:
        node.preflight([request(size="100MiB")], [place("ext4"), place("memory")])
    assert "64.0 MiB are free" in caught.value.found


def test_the_ledger_has_the_mount_of_each_directory(
    node: LocalNode, directories: Mapping[str, Path]
) -> None:
    found = node.circumstances()
    mounts = {name: found["host"]["mounts"][str(path)] for name, path in directories.items()}
    types = {name: own["filesystem"] for name, own in mounts.items()}
    assert types == {"ext4": "ext4", "xfs": "xfs", "memory": "tmpfs", "sshfs": "fuse.sshfs"}
    assert mounts["sshfs"]["source"] == f"127.0.0.1:{directories['ext4']}/served"
    assert "size=65536k" in mounts["memory"]["options"]
    assert "tmpfs tmpfs" in found["target"]["identity"]


def test_a_trial_on_another_mount_does_not_count(tmp_path: Path) -> None:
    with mounted(tmp_path / "a", "-t", "tmpfs", "first") as point:
        expected = ExpectedMount.find(point)
        assert expected.storage is StorageKind.MEMORY
        assert expected.find_faults(point) == ()
        with mounted(point, "-t", "tmpfs", "second"):
            (fault,) = expected.find_faults(point)
    assert fault == f"{point} is on tmpfs of second, no longer on tmpfs of first"
    (fault,) = expected.find_faults(tmp_path / "missing")
    assert "is gone" in fault


def test_a_block_with_another_mount_at_its_end_does_not_count(
    node: LocalNode, directories: Mapping[str, Path]
) -> None:
    memory = directories["memory"]
    subprocess.run(["umount", str(memory)], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "other", str(memory)], check=True)
    with node.block(request(), seed=1) as session:
        assert session.trial(place("ext4")).departures == ()
        (fault,) = session.trial(place("memory")).departures
    assert "no longer on tmpfs of tmpfs" in fault


def test_another_mount_below_a_directory_of_the_workload_is_a_fault(
    node: LocalNode, directories: Mapping[str, Path]
) -> None:
    memory = directories["memory"]
    with node.block(request(directories=[str(memory)]), seed=1) as session:
        assert session.trial(place("ext4")).departures == ()
        assert len(list(memory.glob("iostudy-work-*/*/job-*"))) == 1
        with session.site.watch_faults() as find_faults:
            assert find_faults() == ()
            with mounted(memory, "-t", "tmpfs", "other"):
                (fault,) = find_faults()
    assert f"the mount of {memory}/iostudy-work-" in fault
