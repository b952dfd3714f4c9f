"""``iostudy doctor``: the tree, the findings as text, and the document."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.cli import doctor
from iostudy.cli.console import Branch
from iostudy.cli.doctor import heading
from iostudy.host.advice.finding import Certainty
from iostudy.host.advice.gather import gather_facts
from iostudy.host.advice.registry import evaluate_rules
from iostudy.host.inventory import collect_inventory
from iostudy.host.topology import read_topology
from iostudy.report.render import json_
from tests.fixtures_loop import loop_disk
from tests.host import recorded
from tests.json_schema import assert_conforms

OVERLAY = (
    "overlay from overlay on / (rw,relatime,lowerdir=/var/lib/a:/var/lib/b,"
    "upperdir=/var/lib/u,workdir=/var/lib/w)"
)


def drawn(root: Path) -> list[str]:
    """The tree with two blanks a level."""
    return [line for branch in doctor.build_trees(read_topology(root)) for line in _lines(branch)]


def _lines(branch: Branch, depth: int = 0) -> Iterator[str]:
    yield "  " * depth + branch.text
    for each in branch.branches:
        yield from _lines(each, depth + 1)


def test_lvm_on_md_is_drawn_once_and_a_loop_device_below_its_mount(tmp_path):
    assert drawn(recorded.lvm_on_md(tmp_path)) == [
        "8:0 = sda, 1.00 TiB, rotational disk, HGST HUS726T4",
        "  9:127 = md127 = md/data, 1.00 TiB, md raid1 of 2 members, 1 missing, holds LVM2_member",
        "    253:0 = dm-0 = vg0/home_rimage_0 = vg0-home_rimage_0, 1.00 TiB, LVM",
        "      253:2 = dm-2 = vg0/home = vg0-home, 1.00 TiB, LVM, holds ext4",
        "        ext4 on /home (rw,noatime)",
        "          7:0 = loop0, 1.00 MiB, loop, /home/images/disk, holds ext4",
        "            ext4 on /mnt (rw,relatime)",
        "8:16 = sdb, 1.00 TiB, rotational disk, HGST HUS726T4",
        "  9:127 = md127 = md/data: drawn above",
        "8:32 = sdc, 1.00 TiB, rotational disk, HGST HUS726T4",
        "  8:33 = sdc1, 1.00 MiB, partition, holds ext4",
        "    ext4 on / (rw,noatime)",
        "    253:1 = dm-1 = vg0/home_rimage_1 = vg0-home_rimage_1, 1.00 TiB, LVM",
        "      253:2 = dm-2 = vg0/home = vg0-home: drawn above",
    ]


def test_a_btrfs_is_drawn_below_its_first_disk_and_an_overlay_apart(tmp_path):
    lines = drawn(recorded.btrfs_raid(tmp_path))
    assert [line for line in lines if " on /" in line] == [
        "  btrfs on /data (rw,noatime,space_cache=v2,subvolid=257,subvol=/@data)",
        OVERLAY,
    ]


def test_zones_paths_and_network_mounts(tmp_path):
    assert "zoned (host-managed)" in "\n".join(drawn(recorded.nvme_and_zoned(tmp_path / "a")))
    lines = drawn(recorded.multipath(tmp_path / "b"))
    assert "  253:3 = dm-3 = mpatha, 1.00 TiB, multipath, holds ext4" in lines
    assert lines[-1].startswith("fuse.fuse_dfs from fuse_dfs on /hdfs (nosuid,")


def test_every_certainty_has_a_heading_of_its_own():
    assert len({heading(certainty) for certainty in Certainty}) == len(Certainty)


@pytest.mark.parametrize(
    "host", [recorded.old_hadoop_node, recorded.lvm_on_md, recorded.nvme_and_zoned]
)
def test_the_document_of_a_host_has_the_form_of_the_schema(
    tmp_path: Path, host: Callable[[Path], Path]
):
    root = host(tmp_path)
    facts = gather_facts(root=root, statvfs=lambda _: recorded.room())
    document = doctor.build_document(facts, evaluate_rules(facts), collect_inventory(root=root))
    assert_conforms(json.loads(json.dumps(document)), json_.build_schema(doctor.DoctorReport))
    assert {device["name"] for device in document["stack"]} >= set(
        document["host"]["block_devices"]
    )


def test_the_output_of_the_program_has_the_form_of_the_schema(program):
    done = program("doctor", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert_conforms(document, json_.build_schema(doctor.DoctorReport))
    assert next(iter(document.items())) == ("schema", "iostudy.doctor/1")
    assert document["host"]["cpu"]["count"] >= 1


@pytest.mark.root
def test_undecodable_folder_name_is_valid_json(program):
    point = program.folder / os.fsdecode(b"\xff\xfe")
    point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", point], check=True)
    try:
        done = program("doctor", "--json", str(point))
    finally:
        subprocess.run(["umount", point], check=True)
    assert done.returncode == 0
    assert json.loads(done.stdout)["apart"][0]["point"] == str(point)


def test_only_what_lies_below_and_above_a_place(program):
    document = json.loads(program("doctor", "/", "--json").stdout)
    assert document["host"]["mounts"]["/"]["point"] == "/"
    assert (
        any("/" in {m["point"] for m in d["mounts"]} for d in document["stack"])
        or document["apart"]
    )


def test_findings_are_no_failure_and_nothing_is_folded_off_a_terminal(program):
    program.env["COLUMNS"] = "40"
    done = program("doctor")
    assert done.returncode == 0, done.stderr
    commands = [line for line in done.stdout.splitlines() if line.startswith("  $ ")]
    assert commands
    assert all(line.count("'") % 2 == 0 for line in commands)
    assert "\x1b" not in done.stdout


@pytest.mark.root
def test_a_loop_back_disk_on_a_loop_back_disk(program):
    with (
        loop_disk(128 << 20) as outer,
        _mounted(outer, program.folder / "a\x1b[31m point") as point,
    ):
        image = point / "image"
        subprocess.run(["truncate", "-s", "32M", image], check=True)
        attach = ["losetup", "--find", "--show", str(image)]
        inner = subprocess.check_output(attach, text=True).strip().removeprefix("/dev/")
        try:
            with _mounted(inner, program.folder / "inner") as folder:
                _judged(program, outer, inner, folder)
        finally:
            subprocess.run(["losetup", "--detach", f"/dev/{inner}"], check=True)


def _judged(program, outer: str, inner: str, folder: Path) -> None:
    for place in (inner, f"/dev/{inner}", str(folder)):
        stack = gather_facts(place).topology
        assert stack.by_name[inner].below == (outer,)
        assert [str(mount.mount.point) for mount in stack.places_on(inner)] == [str(folder)]
        assert [loop.name for loop in stack.loops_in(*stack.places_on(outer))] == [inner]
    text = program("doctor", str(folder)).stdout
    assert "\x1b" not in text
    assert r"a\x1b[31m point" in text
    lines = text.splitlines()
    at = {
        name: next(i for i, line in enumerate(lines) if f"= {name}," in line)
        for name in (outer, inner)
    }
    assert at[outer] < at[inner]
    assert lines[at[inner] + 1].strip("│└├─ ").startswith(f"ext4 on {folder}")


@contextmanager
def _mounted(name: str, point: Path) -> Iterator[Path]:
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", f"/dev/{name}"], check=True)
    subprocess.run(["mount", f"/dev/{name}", point], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", point], check=True)
