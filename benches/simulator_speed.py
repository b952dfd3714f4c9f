"""Speed of the simulator: simulated requests per second of processor time, under each scheduler.

Runs the example ``speed`` of the crate on some presets.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from iostudy_lab.drives import drive_file, presets

PRESETS = ("ultrastar-7k8", "ssd-data-centre")
_COMMAND = ("cargo", "run", "--release", "--locked", "--quiet", "-p", "iostudy-simulator")


def main() -> None:
    """Print a line for each preset, order and scheduler."""
    with tempfile.TemporaryDirectory() as folder:
        for name in PRESETS:
            path = Path(folder) / f"{name}.json"
            path.write_text(drive_file.parameters(presets.load(name)), "utf-8")
            print(name, flush=True)
            subprocess.run([*_COMMAND, "--example", "speed", "--", str(path)], check=True)


if __name__ == "__main__":
    main()
