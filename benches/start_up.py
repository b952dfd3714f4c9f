"""Wall time of commands from start to end, warm: medians of many runs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 15
WARM_UP = 2
_PROGRAM = (sys.executable, "-m", "iostudy")
_COMPLETE = {"_IOSTUDY_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
CASES = (
    # name, arguments, environment, the most that it may take in seconds
    ("--version", ("--version",), {}, 0.25),
    ("--help", ("--help",), {}, 0.25),
    ("completion of a command", (), {**_COMPLETE, "COMP_WORDS": "iostudy re"}, 0.3),
    (
        "completion of an option",
        (),
        _COMPLETE | {"COMP_WORDS": "iostudy run --", "COMP_CWORD": "2"},
        0.3,
    ),
    ("settings", ("settings",), {}, 0.7),
    ("workloads", ("workloads",), {}, 0.7),
    ("check", ("check", "quickstart"), {}, 0.7),
)


def seconds_of(arguments: tuple[str, ...], environment: dict[str, str]) -> float:
    """Wall time of one run; CalledProcessError if it fails."""
    began = time.perf_counter()
    subprocess.run(
        [*_PROGRAM, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=not environment.get("COMP_WORDS"),
    )
    return time.perf_counter() - began


def main() -> int:
    """Print a line for each case; 1 if a median is above its bound."""
    slow = 0
    with tempfile.TemporaryDirectory() as state:
        for name, arguments, environment, most in CASES:
            variables = {**environment, "IOSTUDY_STATE_DIR": state}
            measured = [seconds_of(arguments, variables) for _ in range(WARM_UP + RUNS)][WARM_UP:]
            median = statistics.median(measured)
            slow += median > most
            spread = f"{min(measured):.3f} to {max(measured):.3f} s"
            print(f"{name:<24} {median:.3f} s ({spread}, {RUNS} runs), at most {most} s")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
