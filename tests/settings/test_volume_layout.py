"""Layouts of volumes: disks used, capacity, and levels of a configuration."""

from __future__ import annotations

import pytest

from iostudy.errors import SettingError
from iostudy.settings import catalog, kinds
from iostudy.settings.definitions import volume as definitions
from iostudy.settings.scratch.volume.layout import KINDS, VolumeLayout
from iostudy.units import GIB, KIB


@pytest.mark.parametrize(
    ("kind", "stripes", "disks", "used", "data_disks"),
    [
        ("lvm-one-disk", 0, 3, 1, 1),
        ("lvm-linear", 0, 3, 3, 3),
        ("lvm-striped", 0, 5, 5, 5),
        ("lvm-striped", 2, 5, 2, 2),
        ("lvm-raid1", 0, 3, 3, 1),
        ("lvm-raid1-linear", 0, 5, 4, 2),
        ("lvm-raid10", 0, 36, 36, 18),
        ("lvm-raid10", 0, 5, 4, 2),
        ("lvm-raid10", 2, 12, 4, 2),
        ("lvm-raid5", 0, 4, 4, 3),
        ("lvm-mirror", 18, 36, 36, 18),
        ("md-raid0", 0, 2, 2, 2),
        ("md-raid10", 1, 4, 2, 1),
        ("md-raid6", 0, 6, 6, 4),
        ("md-raid6", 3, 6, 5, 3),
    ],
)
def test_a_layout_uses_as_many_disks_as_its_stripes_take(
    kind: str, stripes: int, disks: int, used: int, data_disks: int
) -> None:
    layout = VolumeLayout(kind, stripes)
    assert layout.members_used(disks) == used
    assert layout.capacity_bytes(disks, GIB) == data_disks * GIB


@pytest.mark.parametrize(
    ("kind", "stripes", "disks", "message"),
    [
        ("lvm-raid10", 0, 3, "at least 4 disks"),
        ("lvm-raid10", 3, 4, "with 3 stripes needs 6 disks, and there are 4"),
        ("lvm-raid10", 1, 8, "with 1 stripes needs 4 disks"),
        ("md-raid6", 0, 3, "at least 4 disks"),
        ("lvm-raid1", 2, 4, "has no stripes"),
    ],
)
def test_too_few_disks(kind: str, stripes: int, disks: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VolumeLayout(kind, stripes).members_used(disks)


def test_a_configuration_changes_the_layout_of_the_target() -> None:
    target = VolumeLayout("lvm-raid10", 2, 64 * KIB)
    settings = {"volume.kind": "md-raid10", "volume.stripe_size": "131072", "volume.layout": "far"}
    changed = target.with_settings({**settings, "block.scheduler": "none"})
    assert changed == VolumeLayout("md-raid10", 2, 128 * KIB, "far")
    assert changed.wanted() == settings
    assert target.with_settings({"volume.stripes": "3"}).stripes == 3
    assert target.with_settings({"volume.stripes": "as-found"}) == target
    assert target.wanted() == {"volume.kind": "lvm-raid10", "volume.stripe_size": "65536"}


def test_the_setting_has_every_kind_and_stripes_where_a_kind_has_them() -> None:
    assert definitions.KIND.choices == tuple(KINDS)
    condition = definitions.STRIPES.condition
    assert condition is not None
    assert [name for name in KINDS if condition.holds(name)] == [
        name for name, kind in KINDS.items() if kind.striped
    ]


@pytest.mark.parametrize("value", ["48KiB", "2KiB", "32MiB", "much"])
def test_a_stripe_size_is_a_power_of_two(value: str) -> None:
    with pytest.raises(ValueError, match=r"a power of two from 4096 to 16777216 B|not a size"):
        definitions.STRIPE_SIZE.parse(value)


def test_an_existing_volume_keeps_its_layout() -> None:
    assert catalog.get("volume.kind") is definitions.KIND
    (setting,) = kinds.bind("volume.kind", "/")
    with pytest.raises(SettingError, match=r"to change volume\.kind@/"):
        kinds.prepare_changes({setting: "md-raid0"})
    with pytest.raises(SettingError, match=r"to read volume\.kind@/"):
        setting.read()
