"""``python -m tests.vm.screenshot``: docs/watch.png, the live view of volumes at work.

In the virtual machine, with chromium on this one: a striped volume, a RAID 10 of LVM's, and a
volume on an md array, with fio on each. What is drawn after some readings becomes the picture.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tests.vm import machine as vm
from tests.vm import volumes as made
from tests.vm.machine import Machine

PICTURE = Path(__file__).parents[2] / "docs" / "watch.png"
WIDTH, HEIGHT = 1640, 720
"""In pixels: that of Textual's SVG for as many columns and lines as `tests.vm.drawn` has."""
LOADS = {
    "vg0/data": "rw=randread,bs=4k,iodepth=4,direct=1",
    "vg0/home": "rw=write,bs=64k,rate=2m,direct=1",
    "vg1/top": "rw=randrw,bs=16k,thinktime=200ms,thinktime_blocks=50,direct=1",
}
READINGS = 12


def main() -> None:
    """Make the load, have it drawn, and write the picture."""
    with vm.booted(made.DISKS) as machine:
        machine.run("modprobe", "--all", *made.MODULES.split())
        made.make_group(machine)
        machine.shell("umount /home /data")
        made.make_tower(machine)
        for volume, options in LOADS.items():
            load(machine, volume, options)
        command = [".venv/bin/python", "-m", "tests.vm.drawn", str(READINGS), *LOADS]
        drawn = machine.run(*command, seconds=600).stdout
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "watch.svg"
        page.write_text(drawn, encoding="utf-8")
        photograph(page)


def load(machine: Machine, volume: str, options: str) -> None:
    """As long as the machine runs."""
    requested = " ".join(f"--{option}" for option in options.split(","))
    name = volume.replace("/", "-")
    job = f"--name={name} --filename=/dev/{volume} --ioengine=libaio --time_based --runtime=9999"
    machine.shell(f"setsid fio {job} {requested} >/tmp/{name}.log 2>&1 &")


def photograph(page: Path) -> None:
    """As chromium shows it."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command = ["chromium", *flags, f"--screenshot={PICTURE}", f"--window-size={WIDTH},{HEIGHT}"]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
