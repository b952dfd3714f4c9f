"""Watch a new volume while a shell command disturbs it; the reasons as JSON.

``python -m tests.vm.watched KIND COMMAND DISK...``, in the virtual machine. The command has the
volume's name in $NAME and its device in $DEVICE.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from iostudy import own_folder
from iostudy.host.devices import read_device
from iostudy.line_handler import ignore_line
from iostudy.node.volume_sync import wait_for_sync
from iostudy.settings.identity import ScratchIdentity
from iostudy.settings.scratch.disk import PREFIX
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.settings.scratch.volume.volume import Volume
from iostudy.settings.transaction.transaction import Transaction
from iostudy.workloads.tick import continue_run


def main(kind: str, command: str, *disks: str) -> None:
    """Make the volume, disturb it, and remove it."""
    members = [ScratchIdentity.from_device(read_device(name)) for name in disks]
    with tempfile.TemporaryDirectory() as folder, Transaction() as transaction:
        path = own_folder.new_path(Path(folder), PREFIX)
        volume = Volume.prepare(path, VolumeLayout(kind), members)
        with transaction.apply_temporarily(volume):
            wait_for_sync(volume, continue_run, ignore_line)
            names = {"NAME": volume.name, "DEVICE": volume.device.name}
            with volume.watch() as find_faults:
                subprocess.run(["sh", "-euc", command], env=os.environ | names, check=True)
                json.dump(find_faults(), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
