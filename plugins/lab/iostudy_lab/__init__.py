"""Models of drives as a plugin: modelled disks and simulated studies."""

from __future__ import annotations

from pathlib import Path

from iostudy.plugins import Command, Plugin

PLUGIN = Plugin(
    "lab",
    commands=(
        Command(
            "simulate",
            "Predict the result of a study on a simulated drive.",
            "iostudy_lab.cli.simulate:simulate",
            analyzes=True,
        ),
        Command(
            "drives",
            "List the modelled drives, or describe one with its sources.",
            "iostudy_lab.cli.drives:drives",
        ),
        Command(
            "drive",
            "Use modelled drives as block devices; measure drives.",
            "iostudy_lab.cli.drive:app",
            restores=True,
        ),
    ),
    changes={
        "modelled-drive": "iostudy_lab.device.drive:ModelledDrive",
        "drive-queue": "iostudy_lab.device.queue:DriveQueue",
    },
    disks={"drive": "iostudy_lab.device.drive:prepare_drives"},
    targets={"drive": "iostudy_lab.study.target:KEY"},
    topics={"prediction": "iostudy_lab.prediction:TOPIC"},
    studies=Path(__file__).with_name("studies"),
    checks=("iostudy_lab.study.check:check_simulated",),
)
