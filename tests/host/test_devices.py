from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.host import devices
from iostudy.host.devices import Scheduler, parse_scheduler
from tests.host.sysfs import SINGLE_QUEUE, add_disk, add_partition, write


@pytest.mark.parametrize(
    ("text", "current", "offered"),
    [
        ("[none] mq-deadline kyber bfq \n", "none", ("none", "mq-deadline", "kyber", "bfq")),
        ("none [mq-deadline]", "mq-deadline", ("none", "mq-deadline")),
        ("[mq-deadline] kyber bfq none\n", "mq-deadline", ("mq-deadline", "kyber", "bfq", "none")),
        ("noop [deadline] cfq \n", "deadline", ("noop", "deadline", "cfq")),
        ("noop anticipatory deadline [cfq]\n", "cfq", ("noop", "anticipatory", "deadline", "cfq")),
        ("none\n", "none", ("none",)),
    ],
)
def test_scheduler_lines_of_real_kernels(text: str, current: str, offered: tuple[str, ...]) -> None:
    assert parse_scheduler(text) == Scheduler(current, offered)


@pytest.mark.parametrize("text", ["", "\n", "none mq-deadline", "[none] [bfq]"])
def test_other_lines_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not names with the current one"):
        parse_scheduler(text)


words = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1)


@given(st.lists(words, min_size=1, unique=True), st.data())
def test_bracketed_scheduler_is_current(names: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(names))
    text = " ".join(f"[{name}]" if name == chosen else name for name in names) + " \n"
    assert parse_scheduler(text) == Scheduler(chosen, tuple(names))


def test_queue_with_one_scheduler_has_no_choice() -> None:
    assert not Scheduler("none", ("none",)).schedules
    assert Scheduler("none", ("none", "bfq")).schedules


def test_a_disk_and_its_partition(tmp_path: Path) -> None:
    add_disk(
        tmp_path, "sda", "8:0", scheduler=SINGLE_QUEUE,
        device__model="ST4000NM0035    \n", device__wwid="naa.5000c5008\n", diskseq="7\n",
    )  # fmt: skip
    add_partition(tmp_path, "sda", "sda1", "8:1")
    disk = devices.read_device("sda", tmp_path)
    part = devices.read_device_by_number("8:1", tmp_path)
    assert part is not None
    assert (disk.model, disk.wwid, disk.diskseq) == ("ST4000NM0035", "naa.5000c5008", 7)
    assert (disk.size_bytes, disk.rotational, disk.partitions) == (2048 * 512, True, ("sda1",))
    assert (part.name, part.partition_of, part.disk, part.wwid) == ("sda1", "sda", "sda", disk.wwid)
    assert devices.read_scheduler(part, tmp_path) == parse_scheduler(SINGLE_QUEUE)
    assert devices.disk_names(tmp_path) == ("sda",)


def test_a_slash_in_a_name(tmp_path: Path) -> None:
    add_disk(tmp_path, "cciss!c0d0", "104:0", scheduler=None)
    device = devices.read_device("cciss!c0d0", tmp_path)
    assert device.path == Path("/dev/cciss/c0d0")
    assert devices.read_scheduler(device, tmp_path) is None


def test_a_deleted_backing_file_is_still_found(tmp_path: Path) -> None:
    folder = add_disk(tmp_path, "loop3", "7:3", scheduler=SINGLE_QUEUE)
    write(folder / "loop/backing_file", "/out/my image (deleted)\n")
    (device,) = devices.find_loop_devices(Path("/out/my image"), tmp_path)
    assert (device.name, device.backing_file) == ("loop3", Path("/out/my image"))
    assert devices.find_loop_devices(Path("/out/my"), tmp_path) == ()


def test_no_such_device(tmp_path: Path) -> None:
    assert not devices.device_exists("sdz", tmp_path)
    assert devices.read_device_by_number("8:99", tmp_path) is None
    with pytest.raises(FileNotFoundError):
        devices.read_device("sdz", tmp_path)


def test_disk_removed_during_the_listing_is_omitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = devices.disk_names()
    monkeypatch.setattr(devices, "disk_names", lambda _root: (*names, "gone0"))
    assert [disk.name for disk in devices.read_disks()] == list(names)
