"""Measuring time to a verdict: whole trials against windows, known slow-downs, false verdicts.

    python -m benches.decide [REPETITIONS [SCHEDULER]]
    python -m benches.decide precision [REPETITIONS]
    python -m benches.decide slow-down [STUDIES]
    python -m benches.decide a-a [STUDIES]

As root; every command runs its studies on one loop-back disk, through ``iostudy run``. Two times of
a study are measured. That of everything is the time from the preparation of the first run or block
to the verdict. That of the workload counts its runs alone: the run with its windows, switches and
washouts, or the whole trials. Confirmations follow the verdict and do not count.

The first command asks the same question by whole trials and by windows, in alternating order. A
whole trial takes 1 s. The ratios are geometric means over the repetitions with 95 % t intervals.
A study without a verdict is censored at its limit: a ratio with censored whole trials is too low,
one with censored windows too high. Both are counted. bfq has no windows, because it adapts for
seconds after a switch.

The second command lets both modes measure for at most 50 s, with a margin that leaves little to
decide, and compares the time that each needs for a standard error of 1 %. No study is censored, so
that it takes minutes, not hours.

The third command counts how often a known slow-down is found in time. The fourth compares one
scheduler under two labels; every switch goes through another one (``benches.real_switches``).
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.ratio import format_ratio
from benches.scratch import scratch_folder
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import MeasuredRow, average_windows
from iostudy.ledger.store import Ledger
from iostudy.ledger.windows import WindowRecord
from iostudy.units import MIB, format_percent

DISK_BYTES = 512 * MIB
LIMIT_SECONDS = 300
REPETITIONS, STUDIES = 5, 10
FEWEST_REPETITIONS = 2
COMMANDS = ("precision", "slow-down", "a-a")
SLOW_DOWNS = {3: 60.0, 5: 30.0, 10: 15.0}
"""The slow-downs in percent, with the longest time to find each, in seconds."""
PRECISION_SECONDS = 50
"""The time of each study of the second command."""
STANDARD_ERROR = 0.01
FOUND_SHARE = 0.9
FALSE_SHARE = 0.1
"""At most 6 false verdicts of 60 A/A studies at a risk of 5 %."""

SCHEDULERS = """
question: Is {other} as fast as none?
target: {disk}
factors: {{block.scheduler: [none, {other}]}}
workloads:
  - io:
      order: random
      record_size: 4KiB
      size: 256MiB
      direct: true
      engine: io_uring
      depth: 32
      duration: 1s
decide: {{margin: {margin}, risk: 5%, mode: {mode}, time: {limit}s, blocks: [5, {blocks}]}}
"""
SLOWER = """
question: Is a slow-down of {percent} % found?
target: {disk}
factors: {{workload.slow_down: {{as it is: 0%, slower: {percent}%}}}}
workloads:
  - io:
      operation: write
      overwrite: true
      order: random
      record_size: 16KiB
      size: 64MiB
      direct: true
decide: {{margin: {percent}%, risk: 5%, mode: switchback, time: {limit:g}s}}
"""
SAME = """
question: Is a scheduler different from itself?
target: {disk}
factors: {{block.scheduler: {{first: {scheduler}, second: {scheduler}}}}}
workloads:
  - io:
      order: random
      record_size: 4KiB
      size: 256MiB
      direct: true
      engine: io_uring
      depth: 32
decide: {{margin: 5%, risk: 5%, mode: switchback, time: 60s}}
"""


GOAL = 4.0
"""The least ratio of the times."""
OTHER = "mq-deadline"
"""The scheduler that is compared with none."""


@dataclass(frozen=True)
class Outcome:
    """The verdict of a study of one comparison, and the seconds until then.

    ``seconds`` are those of everything, ``run_seconds`` those of the workload. ``standard_error``
    is that of the mean log-ratio of the pairs.
    """

    verdict: Verdict
    seconds: float
    run_seconds: float
    has_windows: bool
    standard_error: float


def main() -> None:
    """Run the studies that the arguments name."""
    if os.geteuid() != 0:
        print("decide: needs root and loop devices; not measured")
        return
    command, count, schedulers = _parse(sys.argv[1:])
    with scratch_folder(DISK_BYTES) as disk:
        match command:
            case "precision":
                compare_precision(disk, count or REPETITIONS)
            case "slow-down":
                count_found(disk, count or STUDIES)
            case "a-a":
                count_false(disk, count or STUDIES)
            case _:
                for other in schedulers:
                    compare_times(disk, count or REPETITIONS, other)


def _parse(arguments: Sequence[str]) -> tuple[str, int, Sequence[str]]:
    """Return the command, the number, and the schedulers to compare with none.

    The first command is empty, and a missing number 0.
    """
    command = arguments[0] if arguments and arguments[0] in COMMANDS else ""
    number, *schedulers = (arguments[1:] if command else arguments) or ("0",)
    allowed = 0 if command else 1
    if not number.isdecimal() or len(schedulers) > allowed or not set(schedulers) <= {OTHER}:
        raise SystemExit(__doc__)
    return command, int(number), schedulers or (OTHER,)


def compare_times(disk: Path, repetitions: int, other: str) -> None:
    """Print the times of both modes for a question, and their ratio with its goal."""
    if repetitions < FEWEST_REPETITIONS:
        raise SystemExit(f"an interval needs at least {FEWEST_REPETITIONS} repetitions")
    print(f"seconds of measuring to a verdict, censored at {LIMIT_SECONDS} s without one")
    outcomes = _alternate(repetitions, lambda mode: run_study(_ask(other, mode, disk)))
    for mode, results in outcomes.items():
        print(f"{other:12} {mode:11} {_describe(results)}")
    for what, name in (("everything", "seconds"), ("the workload", "run_seconds")):
        trials, windows = (
            [1 / _censored(outcome, getattr(outcome, name)) for outcome in results]
            for results in outcomes.values()
        )
        print(f"ratio, {what:12} {format_ratio('whole trials', trials, windows, GOAL)}")


def compare_precision(disk: Path, repetitions: int) -> None:
    """Print the seconds of both modes for one standard error, and their ratio with its goal."""
    if repetitions < FEWEST_REPETITIONS:
        raise SystemExit(f"an interval needs at least {FEWEST_REPETITIONS} repetitions")
    print(f"seconds of measuring to a standard error of {format_percent(STANDARD_ERROR)}")
    limit = ("--max-time", f"{PRECISION_SECONDS}s")
    outcomes = _alternate(
        repetitions, lambda mode: run_study(_ask(OTHER, mode, disk, margin="0.5%"), options=limit)
    )
    needed = {
        mode: [_seconds_needed(outcome) for outcome in results]
        for mode, results in outcomes.items()
    }
    for mode, seconds in needed.items():
        print(f"{mode:11} {' '.join(f'{time:.1f}' for time in seconds)} s")
    trials, windows = ([1 / time for time in times] for times in needed.values())
    print(f"ratio {format_ratio('whole trials', trials, windows, GOAL)}")


def _seconds_needed(outcome: Outcome) -> float:
    """The variance of a mean falls with the time that it takes."""
    return outcome.seconds * (outcome.standard_error / STANDARD_ERROR) ** 2


def _alternate(repetitions: int, run: Callable[[str], Outcome]) -> dict[str, list[Outcome]]:
    """Run the studies of both modes, each first as often as the other; print each."""
    outcomes: dict[str, list[Outcome]] = {"trials": [], "switchback": []}
    for number in range(repetitions):
        for mode in sorted(outcomes, reverse=number % 2 == 1):
            outcomes[mode].append(run(mode))
            print(f"{number + 1:2} {mode}: {_describe(outcomes[mode][-1:])}", flush=True)
    return outcomes


def _ask(other: str, mode: str, disk: Path, margin: str = "5%") -> str:
    return SCHEDULERS.format(
        other=other,
        disk=disk,
        mode=mode,
        margin=margin,
        limit=LIMIT_SECONDS,
        blocks=LIMIT_SECONDS // 2,
    )


def _censored(outcome: Outcome, seconds: float) -> float:
    return max(seconds, LIMIT_SECONDS) if outcome.verdict is Verdict.INCONCLUSIVE else seconds


def _describe(outcomes: Sequence[Outcome]) -> str:
    seconds = " ".join(
        f"{_censored(outcome, outcome.seconds):.1f} ({outcome.run_seconds:.1f})"
        for outcome in outcomes
    )
    verdicts = ", ".join(
        f"{count} {verdict}" for verdict, count in Counter(o.verdict for o in outcomes).items()
    )
    censored = sum(outcome.verdict is Verdict.INCONCLUSIVE for outcome in outcomes)
    windows = sum(outcome.has_windows for outcome in outcomes)
    return f"{seconds} s; {verdicts}; {censored} censored, {windows} by windows"


def count_found(disk: Path, studies: int) -> None:
    """Print how many slow-downs of each size are found in time."""
    for percent, limit in SLOW_DOWNS.items():
        text = SLOWER.format(percent=percent, disk=disk, limit=limit)
        outcomes = [run_study(text) for _ in range(studies)]
        print(f"slow-down of {percent} %: {_describe_found(outcomes, limit)}")


def _describe_found(outcomes: Sequence[Outcome], limit: float) -> str:
    worse = [outcome for outcome in outcomes if outcome.verdict is Verdict.WORSE]
    in_time = sum(outcome.seconds <= limit for outcome in worse)
    undecided = sum(outcome.verdict is Verdict.INCONCLUSIVE for outcome in outcomes)
    windows = sum(outcome.has_windows for outcome in outcomes)
    return (
        f"{in_time} of {len(outcomes)} found within {limit:g} s; {undecided} undecided, "
        f"{len(outcomes) - len(worse) - undecided} wrong; {windows} by windows; at least "
        f"{format_percent(FOUND_SHARE)} is the goal: "
        f"{_judge(in_time >= FOUND_SHARE * len(outcomes))}"
    )


def count_false(disk: Path, studies: int) -> None:
    """Print how many studies find a difference of a scheduler from itself."""
    text = SAME.format(disk=disk, scheduler=_other_scheduler(disk))
    outcomes = [run_study(text, program="benches.real_switches") for _ in range(studies)]
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    false = verdicts[Verdict.BETTER] + verdicts[Verdict.WORSE]
    windows = sum(outcome.has_windows for outcome in outcomes)
    print(
        f"A/A: {false} false verdicts in {studies} studies, {verdicts[Verdict.EQUIVALENT]} "
        f"equivalent, {verdicts[Verdict.INCONCLUSIVE]} undecided; {windows} by windows; at most "
        f"{format_percent(FALSE_SHARE)} is the goal: {_judge(false <= FALSE_SHARE * studies)}"
    )


def _other_scheduler(disk: Path) -> str:
    """A scheduler that the disk does not have now, so that switches through it are real."""
    device = disk.stat().st_dev
    path = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/queue/scheduler")
    return "none" if "[mq-deadline]" in path.read_text() else "mq-deadline"


def _judge(met: bool) -> str:  # noqa: FBT001 - a single argument
    return "met" if met else "not met"


def run_study(text: str, program: str = "iostudy", options: Sequence[str] = ()) -> Outcome:
    """Run a study in a folder of its own; RuntimeError with its messages if it fails."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=".") as name:
        file, out = Path(name) / "study.yaml", Path(name) / "out"
        file.write_text(text)
        command = [sys.executable, "-m", program, "run", str(file)]
        command += ["--out", str(out), "--wait", "10min", "--json", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{text}\n{done.stderr}")
        (compared,) = json.loads(done.stdout)["verdicts"]
        return _read_outcome(out, Verdict(compared["verdict"]))


def _read_outcome(out: Path, verdict: Verdict) -> Outcome:
    ledger = Ledger.open(out, read_only=True)
    record, trials = WindowRecord(ledger), ledger.rows()
    runs, windows = record.runs(), record.windows()
    ledger.close()
    if windows:
        seconds = windows[-1].start + windows[-1].seconds - runs[0].started_at
        run_seconds = sum(run.summary.seconds for run in runs)
        return Outcome(verdict, seconds, run_seconds, True, _find_error(average_windows(windows)))
    last = trials[-1]
    seconds = last.started_at + sum((last.phases or {}).values()) - trials[0].started_at
    run_seconds = sum((row.phases or {}).get("run", 0.0) for row in trials)
    return Outcome(verdict, seconds, run_seconds, False, _find_error(trials))


def _find_error(rows: Iterable[MeasuredRow]) -> float:
    """Return the standard error of the mean log-ratio of the pairs of a comparison of two."""
    blocks: dict[int, dict[str, float]] = {}
    for row in rows:
        if row.counts and row.figures:
            figure = next(iter(row.figures.values()))
            blocks.setdefault(row.block, {})[row.configuration] = math.log(figure)
    pairs = [sorted(block.items()) for block in blocks.values() if len(block) > 1]
    differences = [second - first for (_, first), (_, second) in pairs]
    return statistics.stdev(differences) / math.sqrt(len(differences))


if __name__ == "__main__":
    main()
