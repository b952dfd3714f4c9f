"""Make targets, one after another, with a table of times and counts at the end.

Usage: ``python3 tools/run_targets.py TARGET...``. It needs no installed package. The exit code is
0 if all targets passed; a target that fails does not keep the others from running.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
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
        if found := _CARGO.match(line):
            passed, failed, ignored = map(int, found.groups())
            self.rust.update(passed=passed, failed=failed, ignored=ignored)
        elif _PYTEST.match(line):
            self.lines.append(line.rstrip())

    def counts(self) -> list[str]:
        """Return the counts of each runner."""
        rust = ", ".join(f"{number} {outcome}" for outcome, number in self.rust.items() if number)
        return [*([f"Rust tests: {rust}"] if rust else []), *self.lines]


def run(target: str) -> Part:
    """Run a target and show its output."""
    part, began = Part(target), time.monotonic()
    command = ["make", "--no-print-directory", target]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as make:
        assert make.stdout is not None
        for line in make.stdout:
            print(line, end="", flush=True)
            part.read(line)
    part.seconds, part.passed = time.monotonic() - began, make.returncode == 0
    return part


def print_table(parts: list[Part]) -> None:
    """Print a line per target with the counts of its tests below it, and the sum of all tests."""
    width = max(len(name) for name in ["in all", *(part.target for part in parts)])
    for part in parts:
        minutes, seconds = divmod(round(part.seconds), 60)
        outcome = "passed" if part.passed else "FAILED"
        print(f"{part.target:{width}}  {outcome}  {minutes:3} min {seconds:2} s")
        for line in part.counts():
            print(f"    {line}")
    minutes, seconds = divmod(round(sum(part.seconds for part in parts)), 60)
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
    parts = [run(target) for target in targets]
    print_table(parts)
    return 0 if all(part.passed for part in parts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
