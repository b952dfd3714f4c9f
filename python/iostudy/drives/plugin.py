"""Models of drives as a plugin: modelled disks and simulated studies."""

from __future__ import annotations

from iostudy.plugins import Plugin

PLUGIN = Plugin(
    "lab",
    changes={
        "modelled-drive": "iostudy.settings.scratch.drive:ModelledDrive",
        "drive-queue": "iostudy.settings.scratch.drive_queue:DriveQueue",
    },
    disks={"drive": "iostudy.settings.scratch.drive:prepare_drives"},
    targets={"drive": "iostudy.study.targets.drive:KEY"},
    topics={"prediction": "iostudy.report.topics.prediction:TOPIC"},
    checks=("iostudy.study.simulated:check_simulated",),
)
