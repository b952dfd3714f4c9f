"""Every kind of target has a driver, and every word for disks a maker."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.node.conditions import Permission
from iostudy.node.targets import made_disks
from iostudy.node.targets.driver import find_driver
from iostudy.node.targets.made_disks import prepare_disks
from iostudy.study.targets.directories import DirectoryTarget
from iostudy.study.targets.disk import DiskRequest
from iostudy.study.targets.section import parse_target
from iostudy.study.targets.target import Target, list_plugin_targets

DRIVE = {"model": "ultrastar-7k8", "size": "16MiB"}
EXAMPLES = (
    "/data",
    {"directories": {"a": "/data", "b": "/mnt"}},
    {"loopback": {"size": "16MiB", "beside": {"b": "xfs"}}},
    {"scratch": {"device": "/dev/sdz"}},
    {"volume": {"kind": "md-raid1", "devices": ["/dev/sdy", "/dev/sdz"]}},
    {"volume": {"kind": "md-raid1", "devices": {"loopback": {"size": "16MiB", "count": 2}}}},
)
OF_PLUGINS = {
    "hdfs:": ("hdfs://namenode:8020/bench",),
    "drive": (
        {"drive": {**DRIVE, "count": 2}},
        {"drive": {**DRIVE, "simulated": True}},
        {"volume": {"kind": "md-raid1", "devices": {"drive": {**DRIVE, "count": 2}}}},
    ),
}
KNOWN = [own for key, of in OF_PLUGINS.items() if key in list_plugin_targets() for own in of]
TARGETS = [parse_target(example) for example in (*EXAMPLES, *KNOWN)]


def _kinds(base: type[Target] = Target) -> Iterator[type[Target]]:
    """The kinds that a study file can have."""
    for own in base.__subclasses__():
        yield from _kinds(own)
        if own.__module__.startswith("iostudy") and not inspect.isabstract(own):
            yield own


def test_the_examples_have_every_kind() -> None:
    assert set(_kinds()) == {type(target) for target in TARGETS}


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_every_kind_has_a_driver_that_opens_a_node(target: Target) -> None:
    driver = find_driver(target)
    local = object()
    assert (driver.open_node(lambda: local) is local) is not target.predicts
    assert driver.probe_paths()


@pytest.mark.parametrize("target", [each for each in TARGETS if each.is_made], ids=str)
def test_no_one_else_uses_what_a_study_makes(target: Target) -> None:
    assert not target.destroyed
    assert not target.compared
    assert not target.cluster_uri


def test_a_device_is_no_directory() -> None:
    device = next(Path("/dev").glob("loop[0-9]"), None)
    if device is None:
        pytest.skip("no block device")
    with pytest.raises(Exception, match="a block device"):
        find_driver(DirectoryTarget(device)).prepare(Path(), Permission())


@pytest.mark.all_plugins
def test_disks_are_made_by_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[tuple[object, ...]] = []
    makers = (
        "iostudy.settings.scratch.disk.LoopbackDisk.prepare",
        "iostudy_lab.device.drive.prepare_drives",
    )
    for maker in makers:
        monkeypatch.setattr(maker, lambda *given: requests.append(given) or [])
    made_disks._makers.cache_clear()
    for word in made_disks._makers():
        prepare_disks(tmp_path, DiskRequest(word, 1 << 24, ("a", "b")))
    assert requests == [(tmp_path, 1 << 24, 2), (tmp_path, ("a", "b"), 1 << 24)]
