"""A modelled drive as a SCSI disk of a guest: QEMU is the client of its NBD server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.settings.transaction.transaction import Transaction
from iostudy_lab.device.drive import ModelledDrive
from tests.vm.machine import Machine
from tests.vm.volumes import by_id, kernel_name

pytestmark = pytest.mark.root

SERIAL = "modelled"
DEPTH = 16
"""Most commands that QEMU's NBD client sends at once."""


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[ModelledDrive]:
    with Transaction() as transaction:
        drive = ModelledDrive.prepare(tmp_path, "ultrastar-7k8", 64 << 20, nbd=True)
        transaction.apply(drive)
        yield drive


@pytest.fixture
def disk(machine: Machine, drive: ModelledDrive) -> Iterator[str]:
    """The kernel name in the guest."""
    with plugged_in(machine, drive.socket):
        machine.run("udevadm", "settle")
        yield kernel_name(machine, by_id(SERIAL))


@contextmanager
def plugged_in(machine: Machine, socket: Path) -> Iterator[None]:
    server = {"type": "unix", "path": str(socket)}
    machine.qmp("blockdev-add", driver="nbd", server=server, **{"node-name": SERIAL})
    device = {"driver": "scsi-hd", "drive": SERIAL, "id": SERIAL, "serial": SERIAL}
    machine.qmp("device_add", rotation_rate=7200, **device)
    wait_for(machine, by_id(SERIAL), there=True)
    try:
        yield
    finally:
        machine.qmp("device_del", id=SERIAL)
        wait_for(machine, by_id(SERIAL), there=False)
        machine.qmp("blockdev-del", **{"node-name": SERIAL})


def wait_for(machine: Machine, path: str, *, there: bool) -> None:
    deadline = time.monotonic() + 60
    while machine.run("test", "-e", path, check=False).returncode != (not there):
        assert time.monotonic() < deadline


def test_the_guest_and_the_host_see_one_drive(
    machine: Machine, disk: str, drive: ModelledDrive
) -> None:
    text = "written in the guest".ljust(4096, ".")
    machine.run("dd", f"of=/dev/{disk}", "bs=4k", "seek=7", "oflag=direct", "conv=fsync", text=text)
    machine.shell(f"dd if=/dev/{disk} of=/tmp/back bs=4k skip=7 count=1 iflag=direct")
    assert machine.run("cat", "/tmp/back").stdout == text
    with drive.image.open("rb", buffering=0) as served:
        served.seek(7 * 4096)
        assert served.read(4096) == text.encode()
    assert machine.shell(f"cat /sys/block/{disk}/queue/rotational").strip() == "1"
    size = int(machine.shell(f"cat /sys/block/{disk}/size")) * 512
    assert size == drive.size_bytes
    found = drive.read_statistics()
    assert found["writes"] >= 1
    assert found["flushes"] >= 1


@pytest.mark.parametrize("scheduler", ["none", "mq-deadline", "bfq"])
def test_the_model_sees_the_queue_of_the_guests_disk(
    machine: Machine, disk: str, drive: ModelledDrive, scheduler: str
) -> None:
    machine.shell(
        f"""
        echo {DEPTH} >/sys/block/{disk}/device/queue_depth
        echo {scheduler} >/sys/block/{disk}/queue/scheduler
        """
    )
    job = f"--name=x --filename=/dev/{disk} --rw=randread --bs=4k --direct=1 --norandommap"
    more = "--ioengine=libaio --iodepth=100 --time_based --runtime=5 --output-format=json"
    read = json.loads(machine.run("fio", *job.split(), *more.split()).stdout)["jobs"][0]["read"]
    found = drive.read_statistics()
    assert found["over_depth"] == 0
    assert DEPTH // 2 < found["most_in_flight"] <= DEPTH
    service_ms = found["service_ns"] / found["reads"] / 1e6
    assert service_ms < read["clat_ns"]["mean"] / 1e6
    assert read["total_ios"] > 0
