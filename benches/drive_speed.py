"""Speed of the drive model: simulated requests per second of processor time.

Runs the example ``speed`` of the crate on some presets.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from iostudy_lab.drives import drive_file, presets

CASES = (("cheetah-9lp", 1), ("ultrastar-7k8", 1), ("ultrastar-7k8", 32), ("ssd-data-centre", 32))
_COMMAND = ("cargo", "run", "--release", "--locked", "--quiet", "-p", "iostudy-drive")


def main() -> None:
    """Print a line for each preset, kind of request and queue depth."""
    with tempfile.TemporaryDirectory() as folder:
        for name, depth in CASES:
            path = Path(folder) / f"{name}.json"
            path.write_text(drive_file.parameters(presets.load(name)), "utf-8")
            arguments = ("--example", "speed", "--", name, str(path), str(depth))
            subprocess.run([*_COMMAND, *arguments], check=True)


if __name__ == "__main__":
    main()
