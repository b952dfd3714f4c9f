"""A trial on equal simulated hosts, divided among processes."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import statistics
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import chain

from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.workloads import catalog
from iostudy.workloads.aggregation import average_rounds, pool_latencies
from iostudy.workloads.measurement import Histogram, Measurement
from iostudy.workloads.tick import Tick, continue_run
from iostudy_lab.simulation.host import HostRun, SimulatedHost, derive_seed

_LARGEST_SHARD = 8
"""Hosts that a process is sent at a time: it completes them before it stops."""
_ASK_SECONDS = 0.05


@dataclass(frozen=True)
class HostTask:
    """A trial, in a form that other processes can be sent.

    ``options`` is the JSON of the workload's options.
    """

    host: SimulatedHost
    workload: str
    options: str
    settings: Mapping[str, str]
    label: str
    seed: int

    def run(self, number: int, tick: Tick) -> HostRun:
        """Run it on the host of that number, which has a seed of its own."""
        seed = derive_seed(self.seed, f"host {number}") if number else self.seed
        definition = catalog.get(self.workload)
        workload = definition.make(definition.options.model_validate_json(self.options))
        return self.host.run(workload, self.settings, seed=seed, label=self.label, tick=tick)


@dataclass(frozen=True)
class _Shard:
    """Trials on some of the hosts: their histograms are pooled, which saves memory."""

    runs: tuple[HostRun, ...]
    latencies: Mapping[str, Histogram]


def start_processes() -> ProcessPoolExecutor:
    """Start as many processes as this one may use processors."""
    return ProcessPoolExecutor(
        _count_processors(),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin_process,
    )


def _begin_process() -> None:
    """Leave signals of the terminal to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _count_processors() -> int:
    return len(os.sched_getaffinity(0))


def run_on_hosts(
    task: HostTask, hosts: int, processes: Executor, tick: Tick, *, shard_hosts: int = 0
) -> HostRun:
    """Return the mean over all hosts of each figure and counter, and the pooled histograms.

    A process is sent ``shard_hosts`` at a time, 0 for the default. The result does not depend on
    that, nor on the number of processes. WorkloadStoppedError if the tick stops it.
    """
    size = shard_hosts or min(_LARGEST_SHARD, math.ceil(hosts / _count_processors()))
    shards = [range(first, min(first + size, hosts)) for first in range(0, hosts, size)]
    futures = [processes.submit(_run_shard, task, shard) for shard in shards]
    try:
        _attend(futures, tick)
        return _combine([future.result() for future in futures])
    except BrokenExecutor as error:
        raise WorkloadError(
            f"to simulate {hosts} hosts",
            found="a process of the simulation was ended",
            where=task.workload,
            remedy="see the kernel's log (dmesg) for a lack of memory, or give fewer hosts",
        ) from error
    finally:
        for future in futures:
            future.cancel()


def _attend(futures: Sequence[Future[_Shard]], tick: Tick) -> None:
    pending = set(futures)
    while pending:
        _, pending = wait(pending, timeout=_ASK_SECONDS)
        if not tick(len(futures) - len(pending)):
            raise WorkloadStoppedError("to simulate all hosts", where="the simulated hosts")


def _run_shard(task: HostTask, numbers: Iterable[int]) -> _Shard:
    runs = [task.run(number, continue_run) for number in numbers]
    return _Shard(
        tuple(HostRun(_without_details(run.measured), run.counters) for run in runs),
        pool_latencies([run.measured.latencies for run in runs]),
    )


def _without_details(measured: Measurement) -> Measurement:
    """Return it without histograms and without its verification, which no process can be sent."""
    return Measurement(
        measured.figures,
        parts=measured.parts,
        notes=measured.notes,
        departures=measured.departures,
    )


def _combine(shards: Sequence[_Shard]) -> HostRun:
    """Return the mean of all hosts, in the order of their numbers."""
    runs = list(chain.from_iterable(shard.runs for shard in shards))
    averaged = average_rounds([run.measured for run in runs])
    latencies = pool_latencies([shard.latencies for shard in shards])
    counters = {
        name: statistics.fmean(run.counters[name] for run in runs) for name in runs[0].counters
    }
    return HostRun(replace(averaged, latencies=latencies), counters)
