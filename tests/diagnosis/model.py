"""A closed queueing model of a workload on a machine: its throughput, and what telemetry shows.

Operations of several threads need a CPU, a lock or a log, a control group's cap, and a device, an
NFS server or a network. Others use the device or the CPU as well. The same model answers what a
different capacity of each resource would give, so that it knows the truth about a diagnosis.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.context import (
    DiagnosisContext,
    OperatingPoint,
    SerialUsage,
    collect_operating_points,
)
from iostudy.telemetry.processes import FOREIGN_KB
from iostudy.telemetry.summary import Figures, ForeignProcess, Submitter, TelemetrySummary
from tests.diagnosis.synthetic import MACHINE, nfs_operations
from tests.diagnosis.synthetic import disk as iostat

Step = Generator[Callable[[Callable[[], None]], None], None, None]
SLICE_MS, PERIOD_MS = 4.0, 100.0
"""Time of a thread on a CPU before the next one's turn, and the period of a CPU quota."""
DISK, MEMBERS = "sda", ("sdb", "sdc", "sdd", "sde")
_WARM_UP = 0.1


@dataclass(frozen=True)
class Model:
    """A machine and its workload; times are means in ms, of exponential distributions.

    Each operation sleeps, computes, computes with a lock held, and makes a request with
    ``service_ms`` in one of ``channels``. With ``log`` requests are made one after the other, with
    ``volume`` by one of four disks, the first ``slow`` times as slow. ``journal`` further writes
    follow each operation that the kernel makes. ``steal`` is a part of the CPU time; ``heat`` is
    the speed that is left. Others have ``other_threads`` at the device and ``hogs`` on the CPUs,
    which pause for a part of their time. ``bystander_kb`` moves on another disk. A ``counted``
    process has its own requests in the recording.
    """

    threads: int = 1
    sleep_ms: float = 0.0
    cpu_ms: float = 0.1
    cores: int = 4
    lock_ms: float = 0.0
    log: bool = False
    cap_per_second: float = 0.0
    quota_cores: float = 0.0
    steal: float = 0.0
    heat: float = 1.0
    service_ms: float = 0.0
    channels: int = 1
    rotational: bool = False
    volume: bool = False
    slow: float = 1.0
    server: bool = False
    network_ms: float = 0.0
    journal: float = 0.0
    other_threads: int = 0
    other_pause: float = 0.0
    counted: bool = False
    hogs: int = 0
    hog_pause: float = 0.0
    bystander_kb: float = 0.0
    private: bool = False
    other_runs: tuple[int, ...] = ()


class Station:
    """Servers with one queue, and its use over time."""

    def __init__(self, clock: Clock, servers: int) -> None:
        self._clock, self._servers = clock, servers
        self._inside: int = 0
        self._queue: deque[tuple[float, Callable[[], None]]] = deque()
        self.busy_ms = self.area = self._at = self.used_ms = 0.0
        self.served = 0

    def use(self, duration: float) -> Callable[[Callable[[], None]], None]:
        """Hold a server for so long."""

        def begin(done: Callable[[], None]) -> None:
            self._count()
            self._queue.append((duration, done))
            self._start()

        return begin

    def reset(self) -> None:
        """Forget the past."""
        self._count()
        self.busy_ms = self.area = self.used_ms = 0.0
        self.served = 0

    def _count(self) -> None:
        passed = self._clock.now - self._at
        under_way = self._inside + len(self._queue)
        self.area += passed * under_way
        self.busy_ms += passed * (under_way > 0)
        self.used_ms += passed * self._inside
        self._at = self._clock.now

    def _start(self) -> None:
        while self._queue and self._inside < self._servers:
            duration, done = self._queue.popleft()
            self._inside += 1
            self._clock.after(duration, lambda done=done: self._end(done))

    def _end(self, done: Callable[[], None]) -> None:
        self._count()
        self._inside -= 1
        self.served += 1
        self._start()
        done()


class Lock:
    """A lock with its queue."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._is_held = clock, False
        self._queue: deque[Callable[[], None]] = deque()
        self.waited_ms = self.held_ms = self._since = 0.0

    def acquire(self, done: Callable[[], None]) -> None:
        """Continue once it is free."""
        arrived_at = self._clock.now

        def granted() -> None:
            self.waited_ms += self._clock.now - arrived_at
            self._is_held, self._since = True, self._clock.now
            done()

        self._queue.append(granted) if self._is_held else granted()

    def release(self, done: Callable[[], None]) -> None:
        """Give it to the next one."""
        self.held_ms += self._clock.now - self._since
        self._is_held = False
        if self._queue:
            self._queue.popleft()()
        done()


class Clock:
    """Virtual time in ms and its events."""

    def __init__(self) -> None:
        self.now, self._events, self._number = 0.0, list[tuple[float, int, Callable[[], None]]](), 0

    def after(self, delay: float, event: Callable[[], None]) -> None:
        """Call it later."""
        self._number += 1
        heapq.heappush(self._events, (self.now + delay, self._number, event))

    def sleep(self, delay: float) -> Callable[[Callable[[], None]], None]:
        """Continue later."""
        return lambda done: self.after(delay, done)

    def spawn(self, steps: Step) -> None:
        """Run a process from now on."""

        def advance() -> None:
            if (step := next(steps, None)) is not None:
                step(advance)

        self.after(0.0, advance)

    def run(self, until: float) -> None:
        """Let time pass."""
        while self._events and self._events[0][0] <= until:
            self.now, _, event = heapq.heappop(self._events)
            event()
        self.now = until


@dataclass
class Run:
    """A run of a model for ``seconds`` of its own time."""

    model: Model
    seed: int
    seconds: float
    operations: int = 0
    thread_cpu_ms: float = 0.0
    foreign_requests: int = 0
    throttled_ms: float = 0.0
    cap_wait_ms: float = 0.0
    runnable_ms: float = 0.0
    hog_ms: float = 0.0
    _budget: float = 0.0
    _period: int = -1
    _token: float = 0.0
    _clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        model, self._draw = self.model, random.Random(self.seed)
        self._cpu = Station(self._clock, model.cores)
        count = len(MEMBERS) if model.volume else 1
        self._disks = [Station(self._clock, model.channels) for _ in range(count)]
        self._network, self._lock = Station(self._clock, 1), Lock(self._clock)
        for _ in range(model.threads):
            self._clock.spawn(self._work())
        for _ in range(model.other_threads):
            self._clock.spawn(self._work_of_others())
        for _ in range(model.hogs):
            self._clock.spawn(self._hog())
        end = 1000 * self.seconds
        self._clock.run(_WARM_UP * end)
        for station in (self._cpu, self._network, *self._disks):
            station.reset()
        self._lock.waited_ms = self._lock.held_ms = 0.0
        self.operations = self.foreign_requests = 0
        self.thread_cpu_ms = self.throttled_ms = self.cap_wait_ms = 0.0
        self.runnable_ms = self.hog_ms = 0.0
        self._clock.run(end)
        for station in (self._cpu, self._network, *self._disks):
            station._count()
        self.measured_ms = (1 - _WARM_UP) * end

    @property
    def rate(self) -> float:
        """Operations a second, the workload's figure."""
        return 1000 * self.operations / self.measured_ms

    def _exponential(self, mean: float) -> float:
        return self._draw.expovariate(1 / mean) if mean else 0.0

    def _work(self) -> Step:
        model = self.model
        while True:
            if model.sleep_ms:
                yield self._clock.sleep(self._exponential(model.sleep_ms))
            yield from self._compute(self._exponential(model.cpu_ms))
            if model.lock_ms:
                yield self._lock.acquire
                yield from self._compute(self._exponential(model.lock_ms))
                yield self._lock.release
            if model.cap_per_second:
                began = self._clock.now
                self._token = max(self._clock.now, self._token + 1000 / model.cap_per_second)
                yield self._clock.sleep(self._token - self._clock.now)
                self.cap_wait_ms += self._clock.now - began
            if model.network_ms:
                yield self._network.use(self._exponential(model.network_ms))
            if model.service_ms:
                if model.log:
                    yield self._lock.acquire
                yield self._request()
                if model.log:
                    yield self._lock.release
            self.operations += 1
            if self._draw.random() < model.journal:
                self._clock.spawn(self._write_journal())

    def _request(self) -> Callable[[Callable[[], None]], None]:
        place = self._draw.randrange(len(self._disks))
        slower = self.model.slow if place == 1 else 1.0
        return self._disks[place].use(self._exponential(self.model.service_ms * slower))

    def _write_journal(self) -> Step:
        yield self._disks[0].use(self._exponential(self.model.service_ms))

    def _compute(self, amount: float) -> Step:
        """Use a CPU for so much work, in slices, within the quota."""
        speed = self.model.heat * (1 - self.model.steal)
        left, began = amount / speed, self._clock.now
        while left > 0:
            part = min(left, SLICE_MS)
            if self.model.quota_cores:
                yield from self._await_quota(part)
            yield self._cpu.use(part)
            self.thread_cpu_ms += part
            left -= part
        self.runnable_ms += self._clock.now - began

    def _await_quota(self, part: float) -> Step:
        while True:
            period = int(self._clock.now // PERIOD_MS)
            if period != self._period:
                self._period, self._budget = period, self.model.quota_cores * PERIOD_MS
            if self._budget > 0:
                self._budget -= part
                return
            rest = (period + 1) * PERIOD_MS - self._clock.now
            self.throttled_ms += rest
            yield self._clock.sleep(rest + 1e-6)

    def _work_of_others(self) -> Step:
        while True:
            began = self._clock.now
            yield self._request()
            self.foreign_requests += 1
            if pause := self.model.other_pause:
                yield self._clock.sleep((self._clock.now - began) * pause / (1 - pause))

    def _hog(self) -> Step:
        while True:
            began = self._clock.now
            yield self._cpu.use(SLICE_MS)
            self.hog_ms += SLICE_MS
            if pause := self.model.hog_pause:
                yield self._clock.sleep((self._clock.now - began) * pause / (1 - pause))

    def summary(self) -> TelemetrySummary:
        """What telemetry shows of it."""
        model, seconds = self.model, self.measured_ms / 1000
        own_kb, own = (
            4.0 * self.operations * bool(model.service_ms and not model.server),
            self._own(),
        )
        other_kb = 4.0 * self.foreign_requests
        others = (ForeignProcess(77, "stress", self.hog_ms / 1000, 0.0, other_kb),)
        return TelemetrySummary(
            seconds=seconds,
            devices=self._devices(),
            machine={**MACHINE, **self._machine()},
            network={"eth0": {"%ifutil": self._share(self._network.busy_ms)}}
            if model.network_ms
            else {},
            nfs=self._nfs(),
            workload={**own, "read_kB": own_kb, "written_kB": 0.0, "cancelled_kB": 0.0},
            foreign=others if model.hogs or model.other_threads else (),
            submitters=(Submitter(DISK, "stress", 77, other_kb),)
            if model.counted and model.other_threads
            else (),
            private_devices=(DISK,) if model.private else (),
        )

    def _share(self, ms: float) -> float:
        return min(100.0, 100 * ms / self.measured_ms)

    def _own(self) -> Figures:
        waiting = sum(disk.area for disk in self._disks) + self._network.area + self.cap_wait_ms
        waiting = min(waiting / self.measured_ms, float(self.model.threads))
        percent = 100 * self.thread_cpu_ms / self.measured_ms
        stolen = 1 - self.model.steal
        return {
            "%cpu": percent * stolen,
            "%thread": min(100.0, percent * stolen / self.model.threads),
            "threads": float(self.model.threads),
            "running": self.runnable_ms / self.measured_ms,
            "waiting": waiting,
        }

    def _machine(self) -> Figures:
        model = self.model
        busy = 100 * self._cpu.used_ms / self.measured_ms / model.cores
        steal = busy * model.steal
        own = 100 * self.thread_cpu_ms / self.measured_ms
        idle = max(0.0, 100 - busy)
        periods = self.measured_ms * max(1, min(model.threads, model.cores))
        return {
            "%user": busy - steal,
            "%system": 0.0,
            "%iowait": 0.0,
            "%steal": steal,
            "%idle": idle,
            "cores": float(model.cores),
            "%core": min(100.0, max(own / model.threads, busy)) * (1 - model.steal),
            "cpu_some": 0.0,
            "%quota": min(100.0, 100 * self.throttled_ms / periods),
            "foreign_%cpu": 100 * self.hog_ms / self.measured_ms * (1 - model.steal),
            FOREIGN_KB: 4.0 * self.foreign_requests + model.bystander_kb,
            "throttles": 50.0 * self.measured_ms / 1000 * (model.heat < 1),
        }

    def _devices(self) -> dict[str, Figures]:
        model = self.model
        if not model.service_ms or model.server:
            return {}
        disks = [self._iostat([disk]) for disk in self._disks]
        if not model.volume:
            return {DISK: disks[0]}
        return {DISK: self._iostat(self._disks), **dict(zip(MEMBERS, disks, strict=True))}

    def _iostat(self, disks: list[Station]) -> Figures:
        served, area = sum(each.served for each in disks), sum(each.area for each in disks)
        rate, wait = 1000 * served / self.measured_ms, area / max(1, served)
        idle = 1.0
        for each in disks:
            idle *= 1 - self._share(each.busy_ms) / 100
        cap = self.model.cap_per_second
        capped = {"cap_r/s": cap, "capped_r/s": self.rate} if cap else {}
        queue, seconds = area / self.measured_ms, self.measured_ms / 1000
        util = 100 * (1 - idle) if len(disks) > 1 else self._share(disks[0].busy_ms)
        figures = iostat(reads=rate, wait_ms=wait, queue=queue, util=util, **capped)
        return {**figures, "kB_read": 4.0 * rate * seconds, "kB_wrtn": 0.0}

    def _nfs(self) -> dict[str, Figures]:
        if not self.model.server:
            return {}
        (server,) = self._disks
        rtt = (server.area + self._network.area) / max(1, server.served)
        return dict(nfs_operations(r=(self.rate, rtt, 0.0)))

    def context(self, points: tuple[OperatingPoint, ...]) -> DiagnosisContext:
        """What a study knows in addition, with operating points of other runs."""
        model = self.model
        on_disk = bool(model.service_ms) and not model.server
        total = self.measured_ms * model.threads
        waited = min(100.0, 100 * self._lock.waited_ms / total)
        held = self._share(self._lock.held_ms)
        serial = SerialUsage("the log" if model.log else "the tree", waited, held, stores=model.log)
        return DiagnosisContext(
            (DISK,) if on_disk else (),
            members={DISK: MEMBERS} if model.volume else {},
            rotational=frozenset({DISK} if model.rotational else ()),
            nfs_mounts=("/home",) if model.server else (),
            concurrency=model.threads,
            serial=(serial,) if model.log or model.lock_ms else (),
            operating_points={DISK: points},
        )


def build(
    model: Model, seed: int, seconds: float
) -> tuple[Run, TelemetrySummary, DiagnosisContext]:
    """Run a model, and others of the same device with another number of threads."""
    run = Run(model, seed, seconds)
    others = (Run(replace(model, threads=each), seed, seconds / 4) for each in model.other_runs)
    points = collect_operating_points(each.summary() for each in (run, *others))
    return run, run.summary(), run.context(points.get(DISK, ()))


def change_capacity(model: Model, limit: Bottleneck, factor: float) -> Model | None:
    """The model with ``factor`` times as much of a resource; None where the model has none.

    Of others' load and stolen time it has so much less.
    """
    changes = _CHANGES.get(limit)
    return replace(model, **changes(model, factor)) if changes else None


def _change_load_of_others(model: Model, factor: float) -> dict[str, float]:
    return {
        "hog_pause": 1 - (1 - model.hog_pause) / factor,
        "other_pause": 1 - (1 - model.other_pause) / factor,
    }


def _speed_up_device(model: Model, factor: float) -> dict[str, float]:
    return {"service_ms": model.service_ms / factor}


def _speed_up_cpu(model: Model, factor: float) -> dict[str, float]:
    return {"cpu_ms": model.cpu_ms / factor, "lock_ms": model.lock_ms / factor}


_CHANGES: dict[Bottleneck, Callable[[Model, float], dict[str, Any]]] = {
    Bottleneck.DEVICE: _speed_up_device,
    Bottleneck.NFS: _speed_up_device,
    Bottleneck.LOG: _speed_up_device,
    Bottleneck.MEMBER: lambda model, factor: {"slow": model.slow / factor},
    Bottleneck.CAP: lambda model, factor: {"cap_per_second": model.cap_per_second * factor},
    Bottleneck.CPU: _speed_up_cpu,
    Bottleneck.CORE: _speed_up_cpu,
    Bottleneck.HEAT: _speed_up_cpu,
    Bottleneck.QUOTA: lambda model, factor: {"quota_cores": model.quota_cores * factor},
    Bottleneck.STEAL: lambda model, factor: {"steal": model.steal / factor},
    Bottleneck.LOCK: lambda model, factor: {"lock_ms": model.lock_ms / factor},
    Bottleneck.NETWORK: lambda model, factor: {"network_ms": model.network_ms / factor},
    Bottleneck.FOREIGN: _change_load_of_others,
    Bottleneck.CONCURRENCY: lambda model, factor: {
        "threads": max(model.threads + 1, round(model.threads * factor))
    },
}


def draw_models(draw: random.Random) -> Iterator[Model]:
    """Draw situations without end: kinds in turn, severities around the rules' thresholds."""

    def near(value: float, spread: float = 3.0) -> float:
        return value * spread ** draw.uniform(-1, 1)

    def machine() -> Model:
        threads = draw.choice((1, 1, 2, 4, 8, 16, 32, 64))
        channels = draw.choice((1, 1, 2, 4, 8, 16))
        return Model(
            threads=threads,
            cpu_ms=0.05,
            cores=draw.choice((2, 4, 8)),
            service_ms=1.0,
            channels=channels,
            rotational=channels == 1 and draw.random() < 0.5,
            other_runs=draw.choice(((), (), (1,), (4 * threads,), (1, 4 * threads))),
        )

    while True:
        yield replace(machine(), cpu_ms=near(0.3))
        base = machine()
        yield replace(base, cap_per_second=near(1000 * min(base.threads, base.channels)))
        yield replace(machine(), volume=True, slow=near(2.5))
        base = machine()
        yield replace(base, cpu_ms=near(base.cores / min(base.threads, base.channels)))
        few = draw.choice((1, 2))
        yield replace(machine(), cpu_ms=near(1.0), service_ms=near(0.2), threads=few)
        yield replace(machine(), cpu_ms=1.0, service_ms=near(0.2), quota_cores=near(1.0))
        yield replace(machine(), cpu_ms=near(1.0), steal=draw.uniform(0.03, 0.7))
        yield replace(machine(), cpu_ms=near(1.0), heat=draw.uniform(0.5, 0.95))
        yield replace(machine(), cpu_ms=near(0.5), lock_ms=near(0.5), service_ms=near(0.3))
        yield replace(machine(), log=True, cpu_ms=near(0.3), service_ms=near(0.5))
        yield replace(machine(), sleep_ms=near(1.0))
        yield replace(machine(), network_ms=near(0.7), service_ms=0.0)
        yield replace(machine(), server=True, network_ms=near(0.1), cpu_ms=near(0.2))
        base, is_counted = machine(), draw.random() < 0.5
        others = max(1, round(near(base.threads)))
        yield replace(base, other_threads=others, counted=is_counted)
        base = machine()
        yield replace(base, cpu_ms=near(1.0), hogs=max(1, round(near(base.cores))))
        yield replace(base, cpu_ms=near(0.5), sleep_ms=near(1.5), hogs=base.cores)
        yield replace(
            machine(),
            journal=draw.uniform(0.2, 1.0),
            bystander_kb=near(1e5),
            private=draw.random() < 0.5,
        )
        base = machine()
        yield replace(base, cpu_ms=near(0.3), hogs=base.cores // 2)
