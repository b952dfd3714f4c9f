"""Growth of a job's time and memory with its data; each run is a process."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.scratch import settle

ROUNDS = 3
_CHILD = """
import sys
from pathlib import Path
from benches.memory import resident_mib
from benches.{module} import own_seconds

before = resident_mib("VmRSS")
seconds = own_seconds(Path(sys.argv[1]))
print(seconds, resident_mib("VmHWM") - before)
"""


@dataclass(frozen=True)
class Growing:
    """A job: the module of benches that has it as ``own_seconds``, and its folders.

    ``make`` makes ``source`` of so many bytes in a folder, where the job makes ``output``.
    """

    module: str
    make: Callable[[Path, int], None]
    source: str
    output: str

    def print_growth(self, folder: Path, sizes_bytes: Sequence[int]) -> None:
        """Print time per GB and peak memory at every size."""
        print(f"medians of {ROUNDS}")
        for size_bytes in sizes_bytes:
            self.make(folder, size_bytes)
            rounds = [self._in_child(folder) for _ in range(ROUNDS)]
            shutil.rmtree(folder / self.source)
            seconds = statistics.median(seconds for seconds, _ in rounds)
            grown = max(grown for _, grown in rounds)
            size_gb = size_bytes / 1e9
            line = f"{size_gb:5.1f} GB  {seconds / size_gb:6.2f} s per GB  {grown:6.0f} MiB"
            print(line, flush=True)

    def _in_child(self, folder: Path) -> tuple[float, float]:
        """Seconds of a run, and the MiB by which its process grew at most."""
        settle(folder)
        command = [sys.executable, "-c", _CHILD.format(module=self.module), str(folder)]
        seconds, grown = subprocess.check_output(command, text=True).split()
        shutil.rmtree(folder / self.output)
        return float(seconds), float(grown)
