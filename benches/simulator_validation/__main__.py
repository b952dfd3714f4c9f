"""Simulator against the kernel, as root with tracefs mounted.

    python -m benches.simulator_validation [--write] [PRESET...]

Each workload runs under each scheduler of the kernel, on a modelled drive as a block device, in an
order drawn afresh for each run. The simulator runs it with the same places of the files, the same
seeds and the same settings of the queue. With ``--write`` the rows become those that reports of
simulated studies show. A run during which the model of the drive was late counts, and is marked.
A run during which the file system flushed the drive is repeated: its metadata are not simulated.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import fmean

from benches.simulator_validation import kernel, model
from benches.simulator_validation.agreement import decided_signs
from benches.simulator_validation.cases import CASES, SCHEDULERS, Case
from benches.simulator_validation.measurement import Measurement
from benches.simulator_validation.view import format_row, print_heads
from iostudy.units import GIB
from iostudy_lab.study.validation import FILE, Validation, ValidationRow

PRESETS = ("ultrastar-7k8",)
RUNS, PREDICTIONS, SIZE_BYTES = 3, 5, 4 * GIB
ATTEMPTS = 10
LEAST_DIFFERENCE, SIGN_GOAL = 0.1, 0.95
_Signs = list[tuple[str, str, bool]]


def main() -> None:
    """Print a row for each drive, workload and scheduler, and the signs."""
    arguments = [word for word in sys.argv[1:] if word != "--write"]
    rows: list[ValidationRow] = []
    signs: _Signs = []
    print_heads()
    for preset in arguments or PRESETS:
        with tempfile.TemporaryDirectory() as folder:
            for new, decided in _validate(Path(folder), preset):
                rows += new
                signs += decided
    right = sum(agrees for *_, agrees in signs)
    share = right / len(signs) if signs else 1.0
    print(f"signs: {right} of {len(signs)} right, {share:.0%} (goal: {SIGN_GOAL:.0%})")
    if "--write" in sys.argv:
        _write(rows, len(signs), right)


def _validate(folder: Path, preset: str) -> Iterator[tuple[list[ValidationRow], _Signs]]:
    with kernel.prepare(folder, preset, SIZE_BYTES) as host:
        disk = model.build_disk(host.model, host.places())
        for case in CASES:
            runs = _run(host, case)
            predictions = {
                scheduler: [
                    model.predict(disk, host.files, case, host.setup(scheduler, seed))
                    for seed in range(PREDICTIONS)
                ]
                for scheduler in SCHEDULERS
            }
            rows = []
            for scheduler in SCHEDULERS:
                orders = [
                    model.compare_order(disk, run.requests, host.setup(scheduler, 0))
                    for run in runs[scheduler]
                ]
                row = _row(preset, case, scheduler, runs[scheduler], predictions[scheduler], orders)
                print(format_row(row), flush=True)
                rows.append(row)
            yield rows, _compare_signs(runs, predictions)


def _run(host: kernel.Kernel, case: Case) -> Mapping[str, list[kernel.KernelRun]]:
    runs: dict[str, list[kernel.KernelRun]] = defaultdict(list)
    for seed in range(RUNS):
        for scheduler in random.sample(SCHEDULERS, len(SCHEDULERS)):
            runs[scheduler].append(_run_without_flush(host, case, scheduler, seed))
    return runs


def _run_without_flush(
    host: kernel.Kernel, case: Case, scheduler: str, seed: int
) -> kernel.KernelRun:
    for attempt in range(ATTEMPTS):
        run = host.run(case, scheduler, seed)
        if not run.flushed:
            return run
        print(f"{case.name}, {scheduler}: attempt {attempt + 1} repeated after a flush", flush=True)
    raise RuntimeError(f"the file system flushed the drive in each of {ATTEMPTS} attempts")


def _row(
    preset: str,
    case: Case,
    scheduler: str,
    runs: Sequence[kernel.KernelRun],
    predictions: Sequence[Measurement],
    orders: Sequence[tuple[float, float]],
) -> ValidationRow:
    rates = [run.figures.rate for run in runs]
    return ValidationRow(
        drive=preset,
        scheduler=scheduler,
        workload=case.name,
        runs=len(runs),
        late_runs=sum(bool(run.late) for run in runs),
        kernel_rate=fmean(rates),
        kernel_range=(min(rates), max(rates)),
        predicted_rate=fmean(prediction.rate for prediction in predictions),
        kernel_p99_ms=fmean(run.figures.p99_ms for run in runs),
        predicted_p99_ms=fmean(prediction.p99_ms for prediction in predictions),
        order=fmean(order for order, _ in orders),
        punctual=fmean(punctual for _, punctual in orders),
    )


def _compare_signs(
    runs: Mapping[str, Sequence[kernel.KernelRun]],
    predictions: Mapping[str, Sequence[Measurement]],
) -> _Signs:
    kernel_rates = {name: [run.figures.rate for run in group] for name, group in runs.items()}
    predicted = {
        name: fmean(prediction.rate for prediction in group) for name, group in predictions.items()
    }
    return decided_signs(kernel_rates, predicted, LEAST_DIFFERENCE)


def _write(rows: Sequence[ValidationRow], decided: int, right: int) -> None:
    validation = Validation(
        command="python -m benches.simulator_validation --write",
        date=date.today().isoformat(),
        kernel=os.uname().release.split("-")[0],
        circumstances=f"{os.cpu_count()} processors; runs with a flush by the file system repeated",
        signs_decided=decided,
        signs_right=right,
        rows=tuple(rows),
    )
    FILE.write_text(validation.model_dump_json(indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
