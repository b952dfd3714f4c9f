"""Make targets, one after another, with a table of times and counts at the end.

Usage: ``python3 tools/run_targets.py TARGET[,TARGET...]...``. Targets with commas between them run
side by side: the last one shows its output at once, the others theirs when they have ended. It
needs no installed package. The exit code is 0 if all targets passed; a target that fails does not
keep the others from running.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
_COUNT = re.compile(r"(\d+) (passed|flaky|failed|error)")
_PYTEST = re.compile(r"^(unit tests|host tests|flaky, passed alone|left out): .*")


@dataclass
class Part:
    """What a target printed about its tests."""

    target: str
    passed: bool = False
    seconds: float = 0
    rust: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)

    def read(self, line: str) -> None:
        """Add the counts in a line of output."""
        if match := _CARGO.match(line):
            passed, failed, ignored = map(int, match.groups())
            self.rust.update(passed=passed, failed=failed, ignored=ignored)
        elif _PYTEST.match(line):
            self.lines.append(line.rstrip())

    def counts(self) -> list[str]:
        """Return the counts of each runner."""
        rust = ", ".join(f"{number} {outcome}" for outcome, number in self.rust.items() if number)
        return [*([f"Rust tests: {rust}"] if rust else []), *self.lines]


def run(target: str, *, at_once: bool = True) -> Part:
    """Run a target and show its output: each line at once, or all when it has ended."""
    part, began = Part(target), time.monotonic()
    held: list[str] = []
    command = ["make", "--no-print-directory", target]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as make:
        assert make.stdout is not None
        for line in make.stdout:
            if at_once:
                print(line, end="", flush=True)
            else:
                held.append(line)
            part.read(line)
    part.seconds, part.passed = time.monotonic() - began, make.returncode == 0
    if held:
        print(f"\n--- {target}\n{''.join(held)}---", flush=True)
    return part


def run_side_by_side(targets: list[str]) -> list[Part]:
    """Run targets at the same time."""
    with ThreadPoolExecutor(len(targets)) as pool:
        futures = [pool.submit(run, name, at_once=name == targets[-1]) for name in targets]
        return [future.result() for future in futures]


def print_table(parts: list[Part], seconds_in_all: float) -> None:
    """Print a line per target with the counts of its tests below it, and the sum of all tests."""
    width = max(len(name) for name in ["in all", *(part.target for part in parts)])
    for part in parts:
        minutes, seconds = divmod(round(part.seconds), 60)
        outcome = "passed" if part.passed else "FAILED"
        print(f"{part.target:{width}}  {outcome}  {minutes:3} min {seconds:2} s")
        for line in part.counts():
            print(f"    {line}")
    minutes, seconds = divmod(round(seconds_in_all), 60)
    print(f"{'in all':{width}}          {minutes:3} min {seconds:2} s")
    totals: Counter[str] = Counter()
    for number, outcome in _COUNT.findall(
        "\n".join(line for part in parts for line in part.counts())
    ):
        totals[outcome] += int(number)
    passed, failed = totals["passed"] + totals["flaky"], totals["failed"] + totals["error"]
    print(f"{passed} passed, {failed} failed")


def main(targets: list[str]) -> int:
    """Run the targets and print their table."""
    began = time.monotonic()
    parts = [part for group in targets for part in run_side_by_side(group.split(","))]
    print_table(parts, time.monotonic() - began)
    return 0 if all(part.passed for part in parts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
