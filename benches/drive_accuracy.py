"""Accuracy of the drive model against measured traces: ``python -m benches.drive_accuracy FOLDER``.

FOLDER holds, for each ``NAME.trace``, the drive's parameters as ``NAME.diskspecs``,
``NAME.model`` and ``NAME.seek``. A line of a trace has the operation, the drive's own kind of hit,
first block, blocks, measured response and idle time before the next request, both in microseconds.

The demerit is the root mean square of the differences between the sorted responses, as a share of
the measured mean (C. Ruemmler, J. Wilkes: An introduction to disk drive modeling, IEEE Computer
27(3), 1994). The model uses only the parameters; no number is fitted to a trace.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iostudy._native import DriveModel
from iostudy.errors import UsageError
from iostudy_lab.drives import disksim, drive_file


@dataclass(frozen=True)
class Accuracy:
    """Measured and simulated responses of a trace, in milliseconds."""

    name: str
    measured_ms: np.ndarray
    simulated_ms: np.ndarray

    @property
    def demerit(self) -> float:
        """Root mean square distance of the sorted responses, over the measured mean."""
        distances = np.sort(self.simulated_ms) - np.sort(self.measured_ms)
        return float(np.sqrt(np.mean(distances**2)) / self.measured_ms.mean())

    def line(self) -> str:
        """Name, demerit and means."""
        return (
            f"{self.name} demerit {self.demerit * 100:.1f} % "
            f"mean {self.measured_ms.mean():.2f} ms simulated {self.simulated_ms.mean():.2f} ms"
        )


def replay(trace: Path) -> Accuracy:
    """Replay a trace on the model of its drive."""
    name = trace.stem
    drive = drive_file.check(disksim.convert(trace.parent, name), str(trace.parent / name))
    fields = [line.split() for line in trace.read_text("utf-8").splitlines() if line.strip()]
    operations = {"R": "read", "W": "write"}
    idle_ns = [0, *(round(float(field[5]) * 1000) for field in fields[:-1])]
    requests = [
        (operations[field[0]], int(field[2]), int(field[3]), idle)
        for field, idle in zip(fields, idle_ns, strict=True)
    ]
    last = max(block + blocks for _, block, blocks, _ in requests)
    if last > drive.capacity:
        raise UsageError(
            f"a drive with all blocks of its trace, {last} at least",
            found=f"Block count = {drive.capacity}",
            where=f"{trace.with_suffix('.model')}",
            remedy="correct the block count, or name the parameters of the drive that was traced",
        )
    responses = DriveModel(drive_file.parameters(drive)).replay(requests, depth=1)
    measured_ms = np.array([float(field[4]) for field in fields]) / 1e3
    return Accuracy(name, measured_ms, np.array(responses) / 1e6)


def main(arguments: list[str]) -> int:
    """Print a line for each trace of the folder."""
    if len(arguments) != 1:
        print("usage: python -m benches.drive_accuracy FOLDER", file=sys.stderr)
        return 2
    traces = sorted(Path(arguments[0]).glob("*.trace"))
    if not traces:
        print(f"{arguments[0]}: no file NAME.trace; name a folder of traces", file=sys.stderr)
        return 2
    for trace in traces:
        print(replay(trace).line())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
