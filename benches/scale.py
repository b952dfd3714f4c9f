"""Growth of the cost of a report with configurations, trials and devices.

    python -m benches.scale

The studies are made up (`tests.report.large`), and each report is made in a process of its own, as
by `iostudy report`. The exponent is the slope between the two largest sizes of a series, on
logarithmic axes: 1 is linear. Seconds are of the CPU, memory is the largest of the process.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

from tests.report import large

from benches.analysis import report_in_child

CONFIGURATIONS = (8, 40, 200, 1000)
TRIALS = (1_000, 10_000, 40_000)
DEVICES = (10, 100, 1000)
GOAL_EXPONENT = 1.1
_BLOCKS = 10


def main() -> None:
    """Print a line for each size, and the exponents of each series."""
    series: Mapping[str, tuple[tuple[int, ...], Callable[[Path, int], None]]] = {
        f"configurations, {_BLOCKS} trials of each": (CONFIGURATIONS, _write_configurations),
        "trials of 8 configurations and 5 workloads": (TRIALS, _write_trials),
        f"devices, {8 * _BLOCKS} trials": (DEVICES, _write_devices),
    }
    for name, (sizes, write) in series.items():
        costs = []
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder), size)
                costs.append(report_in_child(Path(folder)))
            print(f"{size:8} {name}: {costs[-1][0]:7.2f} s, {costs[-1][1]:6.0f} MiB", flush=True)
        exponents = [_exponent(sizes, [cost[part] for cost in costs]) for part in (0, 1)]
        print(
            f"  exponent of time {exponents[0]:.2f}, of memory {exponents[1]:.2f}; "
            f"goal: at most {GOAL_EXPONENT:g}",
            flush=True,
        )


def _exponent(sizes: tuple[int, ...], costs: list[float]) -> float:
    (*_, (small, large_)) = pairwise(sizes)
    return math.log(costs[-1] / costs[-2]) / math.log(large_ / small)


def _write_configurations(folder: Path, count: int) -> None:
    read_ahead = [4 * number for number in range(1, count // 4 + 1)]
    large.write(folder, large.study(_BLOCKS, 1, read_ahead))


def _write_trials(folder: Path, count: int) -> None:
    large.write(folder, large.study(count // 40))


def _write_devices(folder: Path, count: int) -> None:
    devices = [f"sd{number}" for number in range(count)]
    large.write(folder, large.study(_BLOCKS, 1), devices)


if __name__ == "__main__":
    main()
