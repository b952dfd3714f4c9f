"""A study of volumes in the virtual machine, on drives that this host models.

As root, ``python -m tests.vm.raid10_or_not FOLDER [TIME [STUDY]]`` writes the guest's report to the
folder, and what the drives served. After the time, 2h by default, the study ends in order with what
it has. The study is ``raid10-or-not-smoke`` by default. The guest has SCSI disks, and QEMU passes
their requests to the modelled drives of this host.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from iostudy.settings.transaction.transaction import Transaction
from iostudy.study import library
from iostudy.units import parse_seconds, parse_size
from iostudy_lab.device.drive import ModelledDrive, prepare_drives
from iostudy_lab.device.statistics import DriveStatistics
from tests.vm import machine as vm
from tests.vm.machine import Disk, Machine
from tests.vm.volumes import MODULES, by_id

STUDY = library.ready_file("raid10-or-not-smoke")
MAX_TIME = "2h"
END_SECONDS = 1800.0
"""Enough for the block that runs at the end of that time, and for the report."""
FORMATS = {"markdown": "report.md", "json": "report.json"}


def main(folder: Path, max_time: str = MAX_TIME, file: Path = STUDY) -> None:
    """Run the study in the guest, with the guest's disks in place of its drives."""
    folder.mkdir(parents=True, exist_ok=True)
    study = yaml.safe_load(file.read_text())
    drives = study["target"]["volume"]["devices"]["drive"]
    with modelled_drives(**drives) as made:
        disks = [Disk(f"drive-{n}", device=drive.device.path) for n, drive in enumerate(made)]
        study["target"]["volume"]["devices"] = [by_id(disk.serial) for disk in disks]
        with vm.booted(disks) as machine:
            machine.run("modprobe", "--all", *MODULES.split())
            run(machine, yaml.safe_dump(study, sort_keys=False), folder, max_time)
        served = [DriveStatistics.from_json(drive.read_statistics()).figures() for drive in made]
        (folder / "drives.json").write_text(json.dumps(served, indent=2))


@contextmanager
def modelled_drives(model: str, size: str, count: int) -> Iterator[list[ModelledDrive]]:
    """Modelled drives as block devices, which end with this context."""
    with tempfile.TemporaryDirectory(prefix="iostudy-drives-") as folder:
        models, size_bytes = [model] * count, parse_size(size)
        drives = prepare_drives(Path(folder), models, size_bytes)
        with Transaction() as transaction:
            for drive in drives:
                transaction.apply(drive)
                transaction.apply(*drive.tune())
            yield drives


def run(machine: Machine, study: str, folder: Path, max_time: str) -> None:
    """Run the study, and keep its file, messages and reports."""
    (folder / "study.yaml").write_text(study)
    machine.run("sh", "-c", "cat >/tmp/study.yaml", text=study)
    arguments = ("/tmp/study.yaml", "--yes", "--out", "/tmp/out", "--max-time", max_time)
    seconds = parse_seconds(max_time) + END_SECONDS
    done = machine.iostudy("run", *arguments, check=False, seconds=seconds)
    (folder / "messages").write_text(done.stderr)
    for form, name in FORMATS.items():
        report = machine.iostudy("report", "/tmp/out", "--format", form)
        (folder / name).write_text(report.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3], *map(Path, sys.argv[3:4]))
