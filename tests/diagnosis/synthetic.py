"""Synthetic recordings of situations: changes to a quiet machine."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.context import DiagnosisContext, OperatingPoint, SerialUsage
from iostudy.telemetry.summary import Figures, ForeignProcess, Submitter, TelemetrySummary

DISK = "sda"
SECONDS = 10.0


def disk(
    *, reads=0.0, writes=0.0, wait_ms=1.0, kb=4.0, queue: float | None = None, util=0.0, **more
) -> Figures:
    """iostat's figures of a device with so many requests a second of ``kb`` each."""
    done = reads + writes
    figures = {
        "r/s": reads,
        "w/s": writes,
        "d/s": 0.0,
        "f/s": 0.0,
        "rkB/s": reads * kb,
        "wkB/s": writes * kb,
        "rrqm/s": 0.0,
        "wrqm/s": 0.0,
        "r_await": wait_ms if reads else 0.0,
        "w_await": wait_ms if writes else 0.0,
        "f_await": 0.0,
        "aqu-sz": done * wait_ms / 1000 if queue is None else queue,
        "%util": util,
        "kB_read": reads * kb * SECONDS,
        "kB_wrtn": writes * kb * SECONDS,
    }
    return figures | more


MACHINE = {
    "%user": 4.0,
    "%nice": 0.0,
    "%system": 3.0,
    "%iowait": 10.0,
    "%steal": 0.0,
    "%idle": 83.0,
    "cores": 4.0,
    "%core": 12.0,
    "%throttled": 0.0,
    "dirty_limit_kB": 4e6,
    "memory_some": 0.0,
    "io_some": 20.0,
    "cpu_some": 1.0,
    "%quota": 0.0,
    "retrans/s": 0.0,
    "%retrans": 0.0,
    "throttles": 0.0,
}
WORKLOAD = {
    "%cpu": 6.0,
    "%thread": 6.0,
    "threads": 1.0,
    "running": 0.06,
    "waiting": 0.2,
    "read_kB": 0.0,
    "written_kB": 0.0,
    "cancelled_kB": 0.0,
}


@dataclass(frozen=True)
class Situation:
    """A situation: its recording, its diagnosis context, and the expected diagnosis."""

    name: str
    limit: Bottleneck
    devices: Mapping[str, Figures] = field(default_factory=lambda: {DISK: disk()})
    machine: Figures = field(default_factory=dict)
    workload: Figures = field(default_factory=dict)
    network: Mapping[str, Figures] = field(default_factory=dict)
    nfs: Mapping[str, Figures] = field(default_factory=dict)
    foreign: tuple[ForeignProcess, ...] = ()
    submitters: tuple[Submitter, ...] = ()
    private_devices: tuple[str, ...] = ()
    context: DiagnosisContext = field(default_factory=lambda: DiagnosisContext((DISK,)))
    consequences: frozenset[Bottleneck] = frozenset()
    """Further bottlenecks that may be found with some confidence, as consequences."""

    @property
    def summary(self) -> TelemetrySummary:
        """The summary; the workload moved all data of the disks unless stated otherwise."""
        targets = [self.devices.get(name, disk()) for name in self.context.devices]
        moved = {
            "read_kB": sum(own["kB_read"] for own in targets),
            "written_kB": sum(own["kB_wrtn"] for own in targets),
        }
        return TelemetrySummary(
            seconds=SECONDS,
            devices=self.devices,
            machine=MACHINE | dict(self.machine),
            network=self.network,
            nfs=self.nfs,
            workload=WORKLOAD | moved | dict(self.workload),
            foreign=self.foreign,
            submitters=self.submitters,
            private_devices=self.private_devices,
        )


def make_context(
    *points: OperatingPoint,
    concurrency: int | None = None,
    members=None,
    rotational: bool = False,
    serial: tuple[SerialUsage, ...] = (),
) -> DiagnosisContext:
    """Build a context in which the disk has these operating points."""
    return DiagnosisContext(
        (DISK,),
        members=members or {},
        rotational=frozenset({DISK} if rotational else ()),
        concurrency=concurrency,
        serial=serial,
        operating_points={DISK: points},
    )


def point(
    queue: float, per_second: float, *, kb: float = 4.0, reads: float = 1.0
) -> OperatingPoint:
    """Return the operating point with this queue and rate, by Little's law."""
    return OperatingPoint(queue, per_second, 1000 * queue / per_second, kb, reads)


def cpu(user: float, system: float = 2.0, steal: float = 0.0, iowait: float = 0.0) -> Figures:
    """Shares of CPU time."""
    idle = max(0.0, 100 - user - system - steal - iowait)
    shares = {"%user": user, "%system": system, "%steal": steal, "%iowait": iowait}
    return shares | {"%idle": idle}


def log(waited: float, used: float | None) -> SerialUsage:
    """A log of the workload's own."""
    return SerialUsage("synced batch by batch", waited, used, stores=True)


def nfs_operations(**kinds: tuple[float, float, float]) -> Mapping[str, Figures]:
    """A server at /home: operations a second of each kind, their rtt and their queue in ms."""
    figures = {"r/s": 0.0, "w/s": 0.0}
    for kind, (per_second, rtt, queue) in kinds.items():
        figures |= {f"{kind}/s": per_second, f"{kind}_rtt": rtt, f"{kind}_queue": queue}
        figures[f"{kind}_exe"] = rtt + queue
    return {"/home": figures}


def spinning(threads: int) -> Figures:
    """A workload whose threads compute and do nothing else."""
    own = {"%cpu": 99.0 * threads, "%thread": 99.0, "threads": float(threads)}
    return own | {"running": float(threads), "waiting": 0.0}


def confined(threads: int, used: float = 396.0, foreign: float = 50.0) -> Mapping[str, Figures]:
    """Threads that compute, and may use 4 cores of a machine with 200; both in % of one core."""
    own = spinning(threads) | {"%cpu": used, "%thread": used / threads, "allowed_cores": 4.0}
    every = cpu((used + foreign) / 200) | {"cores": 200.0, "%core": 99.0}
    return {"machine": every | {"foreign_%cpu": foreign}, "workload": own}


def waiting(threads: int, running: float = 0.5) -> Figures:
    """A workload whose threads wait for storage, but for a short while in between."""
    own = {"%cpu": 100 * running, "%thread": 100 * running / threads, "threads": float(threads)}
    return own | {"running": running, "waiting": threads - running}


BUSY = disk(reads=10_000, wait_ms=3.2, util=99.5)
"""32 reads at once."""
_MEMBERS = {DISK: ("sdb", "sdc", "sdd", "sde")}
PEER = disk(writes=300, wait_ms=2, util=45, kb=64)
SLOW = disk(writes=295, wait_ms=40, util=99, kb=64)
_MANY = tuple(f"sd{letter}" for letter in string.ascii_lowercase[1:])
_DISKS = ("sda", "sdb", "sdc", "sdd")
LOG = disk(writes=900, wait_ms=0.6, util=50)
_STRESS = ForeignProcess(77, "stress", 36.0, 0.0, 0.0)

FIRST_TOUCH = Situation(
    "a writer through the page cache whose memory the host faults in",
    Bottleneck.FIRST_TOUCH,
    machine=cpu(1, system=25) | {"cache_growth_kB/s": 320 * 1024.0, "cache_growth_ms/MiB": 3.0},
    workload=spinning(1),
    context=replace(make_context(), virtual_machine=True, free_page_reporting=True),
)

SITUATIONS = (
    FIRST_TOUCH,
    Situation(
        "random reads, 32 at once, as fast as with 64",
        Bottleneck.DEVICE,
        {DISK: BUSY},
        workload=waiting(32),
        context=make_context(point(64, 10_200), point(1, 2000), concurrency=32),
    ),
    Situation(
        "one read at a time from a disk with platters",
        Bottleneck.DEVICE,
        {DISK: disk(reads=120, wait_ms=8.2, util=98)},
        workload=waiting(1, 0.02),
        context=make_context(concurrency=1, rotational=True),
    ),
    Situation(
        "a writer that syncs each record",
        Bottleneck.DEVICE,
        {DISK: disk(writes=400, wait_ms=0.1, util=20, **{"f/s": 400.0, "f_await": 2.45})},
        workload=waiting(1, 0.02),
        context=make_context(concurrency=1),
    ),
    Situation(
        "a volume below a control group's limit",
        Bottleneck.CAP,
        {DISK: disk(reads=1000, wait_ms=0.2, util=15, **{"cap_r/s": 1000.0, "capped_r/s": 995.0})},
        workload=waiting(8, 0.1),
        context=make_context(concurrency=8),
    ),
    Situation(
        "a loop device on a disk below a control group's limit",
        Bottleneck.CAP,
        {
            DISK: disk(reads=2500, wait_ms=16, util=100),
            "sdz": disk(reads=2500, wait_ms=0.2, util=20, **{"cap_rkB/s": 10_000.0}),
        },
        workload=waiting(40, 0.1),
        context=make_context(concurrency=40),
        consequences=frozenset({Bottleneck.DEVICE}),
    ),
    Situation(
        "four members, one of them slow",
        Bottleneck.MEMBER,
        {
            DISK: disk(writes=1200, wait_ms=20, util=100, kb=64),
            "sdb": PEER,
            "sdc": SLOW,
            "sdd": PEER,
            "sde": PEER,
        },
        workload=waiting(24, 0.2),
        context=make_context(concurrency=24, members=_MEMBERS),
    ),
    Situation(
        "four disks without a volume, one of them slow",
        Bottleneck.MEMBER,
        {"sda": PEER, "sdb": PEER, "sdc": SLOW, "sdd": PEER},
        workload=waiting(24, 0.2),
        context=DiagnosisContext(_DISKS, concurrency=24),
    ),
    Situation(
        "data on one disk with platters, a log on another one",
        Bottleneck.DEVICE,
        {"sda": LOG, "sdb": disk(writes=150, wait_ms=200, util=99, kb=512)},
        workload=waiting(31, 0.2),
        context=DiagnosisContext(
            ("sda", "sdb"), rotational=frozenset({"sda", "sdb"}), concurrency=31
        ),
    ),
    Situation(
        "two disks that a little is asked of",
        Bottleneck.CONCURRENCY,
        {"sda": disk(reads=700, wait_ms=1, util=45), "sdb": disk(reads=500, wait_ms=1, util=40)},
        workload=waiting(2, 0.3),
        context=DiagnosisContext(("sda", "sdb"), concurrency=2),
    ),
    Situation(
        "two disks to which another process writes",
        Bottleneck.FOREIGN,
        {
            "sda": disk(reads=900, writes=300, wait_ms=1, util=70, kb=64),
            "sdb": disk(writes=900, wait_ms=9, util=99, kb=512),
        },
        workload=waiting(8) | {"read_kB": 57_600.0 * SECONDS, "written_kB": 0.0},
        submitters=(Submitter("sdb", "dd", 77, 460_000.0 * SECONDS),),
        context=DiagnosisContext(("sda", "sdb"), rotational=frozenset({"sdb"}), concurrency=8),
        consequences=frozenset({Bottleneck.DEVICE}),
    ),
    Situation(
        "a small dirty limit before a disk that could do more",
        Bottleneck.WRITEBACK,
        {DISK: disk(writes=500, wait_ms=3, util=70, kb=128)},
        machine={"%throttled": 96.0, "dirty_limit_kB": 16e3},
        workload=waiting(1, 0.25),
        context=make_context(concurrency=1),
    ),
    Situation(
        "all cores computing",
        Bottleneck.CPU,
        machine=cpu(97) | {"cpu_some": 60.0, "%core": 99.0},
        workload=spinning(4),
    ),
    Situation(
        "more threads computing than cores that they may use",
        Bottleneck.CPU,
        **confined(16),
    ),
    Situation(
        "the same with other processes that compute on forbidden cores",
        Bottleneck.CPU,
        **confined(16, foreign=15_000.0),
    ),
    Situation(
        "others that compute on the few cores that a workload may use",
        Bottleneck.FOREIGN,
        **confined(16, used=160.0, foreign=250.0),
        consequences=frozenset({Bottleneck.CPU}),
    ),
    Situation(
        "one thread computing that may use few of many cores",
        Bottleneck.CORE,
        **confined(1, used=99.0),
    ),
    Situation(
        "random reads by threads that may use few of many cores",
        Bottleneck.DEVICE,
        {DISK: BUSY},
        machine={"cores": 200.0},
        workload=waiting(32) | {"allowed_cores": 4.0},
        context=make_context(point(64, 10_200), point(1, 2000), concurrency=32),
    ),
    Situation(
        "one thread computing",
        Bottleneck.CORE,
        {DISK: disk(reads=60, wait_ms=1, util=6)},
        machine=cpu(25) | {"%core": 98.0},
        workload=spinning(1),
        context=make_context(concurrency=1),
    ),
    Situation(
        "buffered writes below the dirty limit, written back by the kernel meanwhile",
        Bottleneck.CORE,
        {DISK: disk(writes=2000, wait_ms=4, util=70, kb=512)},
        machine=cpu(4, 24) | {"%core": 98.0},
        workload=spinning(1),
        context=make_context(concurrency=1),
    ),
    Situation(
        "one thread computing, with other processes on the other cores",
        Bottleneck.CORE,
        machine=cpu(97) | {"%core": 99.0, "cpu_some": 90.0, "foreign_%cpu": 290.0},
        workload=spinning(1),
        foreign=(_STRESS,),
    ),
    Situation(
        "one thread computing in a group whose cap others, outside of it, seem to use up",
        Bottleneck.CORE,
        {DISK: disk(reads=500, wait_ms=1, util=45, **{"cap_r/s": 500.0, "capped_r/s": 50.0})},
        machine=cpu(25) | {"%core": 98.0},
        workload=spinning(1) | {"read_kB": 2000.0},
        context=make_context(concurrency=1),
    ),
    Situation(
        "the same with more than the cap, and unknown bytes of the group",
        Bottleneck.CORE,
        {DISK: disk(reads=5050, wait_ms=0.1, util=45, **{"cap_r/s": 500.0})},
        machine=cpu(25) | {"%core": 98.0},
        workload=spinning(1) | {"read_kB": 2000.0},
        context=make_context(concurrency=1),
    ),
    Situation(
        "half a core of quota",
        Bottleneck.QUOTA,
        machine=cpu(12) | {"%quota": 50.0, "%core": 40.0},
        workload=spinning(1) | {"%thread": 50.0, "%cpu": 50.0},
    ),
    Situation(
        "half a core of quota, with other processes that compute on all cores",
        Bottleneck.QUOTA,
        machine=cpu(97) | {"%quota": 50.0, "%core": 99.0, "foreign_%cpu": 340.0},
        workload=spinning(1) | {"%thread": 50.0, "%cpu": 50.0},
        foreign=(_STRESS,),
    ),
    Situation(
        "memory that does not suffice",
        Bottleneck.RECLAIM,
        {DISK: BUSY},
        machine={"memory_some": 75.0, "allocstall/s": 300.0, "pswpin/s": 5000.0},
        workload=waiting(4),
        consequences=frozenset({Bottleneck.DEVICE}),
    ),
    Situation(
        "memory that does not suffice for the workload's group",
        Bottleneck.RECLAIM,
        {DISK: BUSY},
        machine={"memory_some": 75.0, "group_memory_some": 75.0, "memory_max_hits/s": 3000.0},
        workload=waiting(4),
        consequences=frozenset({Bottleneck.DEVICE}),
    ),
    Situation(
        "work of the group that waits for others to leave it memory, and makes no I/O of it",
        Bottleneck.DEVICE,
        {DISK: BUSY},
        machine={"memory_some": 60.0, "group_memory_some": 55.0, "allocstall/s": 300.0},
        workload=waiting(32),
        context=make_context(point(64, 10_200), concurrency=32),
        consequences=frozenset({Bottleneck.RECLAIM}),
    ),
    Situation(
        "a busy disk and a container that thrashes at its own limit",
        Bottleneck.DEVICE,
        {DISK: BUSY},
        machine={"memory_some": 85.0, "pswpin/s": 4000.0, "majflt/s": 2000.0},
        workload=waiting(32),
        context=make_context(point(64, 10_200), concurrency=32),
    ),
    Situation(
        "the same with known stalls of the workload's group",
        Bottleneck.DEVICE,
        {DISK: BUSY},
        machine={"memory_some": 85.0, "group_memory_some": 0.4, "allocstall/s": 300.0},
        workload=waiting(32),
        context=make_context(point(64, 10_200), concurrency=32),
    ),
    Situation(
        "a full network",
        Bottleneck.NETWORK,
        {},
        network={"eth0": {"%ifutil": 96.0}},
        context=DiagnosisContext(),
    ),
    Situation(
        "a network that loses segments",
        Bottleneck.NETWORK,
        {},
        machine={"%retrans": 4.0, "retrans/s": 500.0},
        context=DiagnosisContext(),
    ),
    Situation(
        "an NFS server with a backlog",
        Bottleneck.NFS,
        {},
        network={"eth0": {"%ifutil": 30.0}},
        nfs=nfs_operations(w=(900, 18, 12)),
        workload=waiting(27, 0.2),
        context=DiagnosisContext(nfs_mounts=("/home",), concurrency=27),
    ),
    Situation(
        "an NFS server that is asked to bring to its disk what it has",
        Bottleneck.NFS,
        {},
        nfs=nfs_operations(w=(800, 0.9, 0.1), c=(50, 299, 1)),
        workload=waiting(16, 0.2),
        context=DiagnosisContext(nfs_mounts=("/home",), concurrency=16),
    ),
    Situation(
        "an NFS server that is asked for many names",
        Bottleneck.NFS,
        {},
        nfs=nfs_operations(o=(1500, 8, 2)),
        workload=waiting(16, 0.2),
        context=DiagnosisContext(nfs_mounts=("/home",), concurrency=16),
    ),
    Situation(
        "a virtual machine without its CPUs",
        Bottleneck.STEAL,
        machine=cpu(55, steal=42) | {"%core": 60.0},
        workload=spinning(4) | {"%thread": 56.0, "%cpu": 220.0},
    ),
    Situation(
        "a CPU that is too hot",
        Bottleneck.HEAT,
        machine=cpu(97) | {"%core": 99.0, "throttles": 400.0, "celsius_max": 99.0},
        workload=spinning(4),
        consequences=frozenset({Bottleneck.CPU}),
    ),
    Situation(
        "one read at a time from a device that does more with more",
        Bottleneck.CONCURRENCY,
        {DISK: disk(reads=9000, wait_ms=0.1, util=92)},
        workload=waiting(1, 0.08),
        context=make_context(point(16, 90_000), concurrency=1),
    ),
    Situation(
        "one read at a time from a device that is polled until it has ended",
        Bottleneck.CONCURRENCY,
        {DISK: disk(reads=9000, wait_ms=0.1, util=92)},
        machine=cpu(25) | {"%core": 99.0},
        workload=spinning(1),
        context=replace(make_context(point(16, 90_000), concurrency=1), spins=True),
    ),
    Situation(
        "as many reads at once as a device can do, polled by a thread on each core",
        Bottleneck.DEVICE,
        {DISK: BUSY},
        machine=cpu(97) | {"%core": 99.0},
        workload=spinning(4),
        # 30 of the 32 are its own: with 5 % fewer in the queue none of its threads computes.
        context=replace(
            make_context(point(64, 10_200), point(1, 2000), concurrency=30), spins=True
        ),
    ),
    Situation(
        "one thread that computes and reads in turn",
        Bottleneck.CONCURRENCY,
        {DISK: disk(reads=600, wait_ms=1, util=60)},
        workload=waiting(1, 0.38) | {"%thread": 38.0},
        context=make_context(concurrency=1),
    ),
    Situation(
        "threads that share one lock",
        Bottleneck.LOCK,
        machine=cpu(45) | {"%core": 60.0},
        workload=spinning(2) | {"%thread": 55.0, "%cpu": 130.0, "running": 1.3},
        context=make_context(serial=(SerialUsage("the tree", 65.0, 92.0),), concurrency=4),
    ),
    Situation(
        "a log that syncs one batch after the other, on a disk that is idle in between",
        Bottleneck.LOG,
        {DISK: disk(writes=3000, wait_ms=0.25, util=56, **{"f/s": 3000.0, "f_await": 0.08})},
        workload=waiting(2, 0.6),
        context=make_context(
            point(16, 60_000), serial=(SerialUsage("the tree", 4.0), log(75, 88)), concurrency=1
        ),
    ),
    Situation(
        "a log that syncs one batch after the other, on a disk that is saturated with that",
        Bottleneck.DEVICE,
        {DISK: disk(writes=100, wait_ms=9.8, util=98)},
        workload=waiting(2, 0.1),
        context=make_context(serial=(log(92, 97),), concurrency=1, rotational=True),
        consequences=frozenset({Bottleneck.LOG}),
    ),
    Situation(
        "a log whose syncs end at once, so that threads compute",
        Bottleneck.CPU,
        {DISK: disk(writes=3000, wait_ms=0.2, util=50)},
        machine=cpu(90, 8) | {"%core": 99.0},
        workload=spinning(4),
        context=make_context(serial=(log(20, 85),), concurrency=1),
    ),
    Situation(
        "another process that writes to the disk",
        Bottleneck.FOREIGN,
        {DISK: disk(reads=2500, writes=7500, wait_ms=3.2, util=99.5)},
        workload=waiting(8) | {"read_kB": 100_000.0, "written_kB": 0.0},
        submitters=(Submitter(DISK, "dd", 77, 300_000.0),),
        context=make_context(concurrency=8),
        consequences=frozenset({Bottleneck.DEVICE}),
    ),
    Situation(
        "the same of unknown processes, such as earlier writes: the disk is a user's",
        Bottleneck.DEVICE,
        {DISK: disk(reads=2500, writes=7500, wait_ms=3.2, util=99.5)},
        workload=waiting(8) | {"read_kB": 100_000.0, "written_kB": 0.0},
        foreign=(ForeignProcess(77, "fio", 1.0, 0.0, 300_000.0),),
        context=make_context(concurrency=8),
    ),
    Situation(
        "a journal on a disk that the study made, while another process writes elsewhere",
        Bottleneck.DEVICE,
        {DISK: disk(reads=2500, writes=7500, wait_ms=3.2, util=99.5)},
        machine={"foreign_kB": 300_000.0},
        workload=waiting(8) | {"read_kB": 100_000.0, "written_kB": 0.0},
        foreign=(ForeignProcess(77, "fio", 1.0, 0.0, 300_000.0),),
        private_devices=(DISK,),
        context=make_context(concurrency=8),
    ),
    Situation(
        "the resync of an array below a volume",
        Bottleneck.FOREIGN,
        {
            DISK: disk(writes=100, wait_ms=9, util=97),
            "sdb": disk(reads=900, writes=100, wait_ms=9, util=99, kb=128),
            "sdc": disk(writes=1000, wait_ms=9, util=99, kb=128),
        },
        submitters=tuple(
            Submitter(each, "resync of md0", None, 900.0 * SECONDS * 128) for each in ("sdb", "sdc")
        ),
        workload=waiting(1, 0.02),
        context=replace(
            make_context(concurrency=1, members={DISK: ("sdb", "sdc")}),
            rotational=frozenset({"sdb", "sdc"}),
        ),
    ),
    Situation(
        "another process that computes on all cores",
        Bottleneck.FOREIGN,
        machine=cpu(97) | {"cpu_some": 90.0, "%core": 99.0, "foreign_%cpu": 300.0},
        workload=spinning(2) | {"%thread": 40.0, "%cpu": 60.0},
        foreign=(_STRESS,),
    ),
    Situation("nothing is busy", Bottleneck.UNCLEAR),
    Situation(
        "one thread that reads, and thinks for 20 ms after each",
        Bottleneck.UNCLEAR,
        {DISK: disk(reads=47, wait_ms=0.08, util=0.4)},
        workload=waiting(1, 0.01) | {"waiting": 0.005},
        context=make_context(concurrency=1),
    ),
    Situation(
        "the same while other processes compute on all cores",
        Bottleneck.UNCLEAR,
        {DISK: disk(reads=41, wait_ms=0.08, util=0.4)},
        machine=cpu(97) | {"cpu_some": 90.0, "%core": 99.0, "foreign_%cpu": 390.0},
        workload=waiting(1, 0.15) | {"%cpu": 1.0, "waiting": 0.005},
        foreign=(_STRESS,),
        context=make_context(concurrency=1),
    ),
    Situation(
        "the same by a program of unknown concurrency",
        Bottleneck.UNCLEAR,
        {DISK: disk(reads=41, wait_ms=0.08, util=0.4)},
        machine=cpu(97) | {"cpu_some": 90.0, "%core": 99.0, "foreign_%cpu": 390.0},
        workload=waiting(1, 0.15) | {"%cpu": 1.0, "waiting": 0.005},
        foreign=(_STRESS,),
    ),
    Situation(
        "a writer that is paused now and then, while the kernel writes its pages back",
        Bottleneck.UNCLEAR,
        {DISK: disk(writes=360, wait_ms=1.8, util=18, kb=400)},
        machine={"%throttled": 22.0},
        workload=waiting(1, 0.3),
        context=make_context(concurrency=1),
    ),
    Situation(
        "tasks wait for storage, and no device is busy",
        Bottleneck.UNCLEAR,
        {DISK: disk(reads=10, wait_ms=1, util=1)},
        machine={"io_some": 95.0},
        workload=waiting(1, 0.05),
    ),
    Situation(
        "a flash disk that is busy, and nobody knows what more it can do",
        Bottleneck.UNCLEAR,
        {DISK: disk(writes=9000, wait_ms=0.3, util=97)},
        workload=waiting(16, 8),
        context=make_context(concurrency=16),
    ),
    Situation(
        "a device that is busy with nothing",
        Bottleneck.UNCLEAR,
        {DISK: disk(util=99)},
        workload=waiting(1, 0.1) | {"waiting": 0.0},
    ),
    Situation(
        "a device-bound run and a process that computes on all cores",
        Bottleneck.DEVICE,
        {DISK: BUSY},
        machine=cpu(90) | {"foreign_%cpu": 350.0},
        workload=waiting(32),
        foreign=(_STRESS,),
        context=make_context(point(64, 10_200), concurrency=32),
    ),
    Situation(
        "buffered writes faster than the disk",
        Bottleneck.DEVICE,
        {DISK: disk(writes=500, wait_ms=120, util=100, kb=512)},
        machine={"%throttled": 97.0, "dirty_limit_kB": 4e6},
        workload=waiting(1, 0.1),
        context=make_context(concurrency=1, rotational=True),
        consequences=frozenset({Bottleneck.WRITEBACK}),
    ),
    Situation(
        "a stream through the page cache that wakes kswapd",
        Bottleneck.DEVICE,
        {DISK: disk(reads=500, wait_ms=16, util=99, kb=1024)},
        machine={"pgscan_kswapd/s": 1e6, "allocstall/s": 0.5, "memory_some": 2.0},
        workload=waiting(8, 0.5),
        context=make_context(rotational=True, concurrency=8),
    ),
    Situation(
        "the kernel's own copy of the workload's writes, below a loop device",
        Bottleneck.DEVICE,
        {DISK: disk(writes=5000, wait_ms=8, util=99)},
        workload=waiting(40),
        foreign=(ForeignProcess(66, "kworker/u8:1-loop0", 3.0, 0.0, 200_000.0),),
        context=make_context(concurrency=40),
    ),
    Situation(
        "a linear volume whose first member does all the work",
        Bottleneck.DEVICE,
        {
            DISK: disk(reads=1000, wait_ms=40, util=99),
            "sdb": disk(reads=996, wait_ms=40, util=99),
            "sdc": disk(reads=2, wait_ms=5, util=1),
            "sdd": disk(reads=2, wait_ms=5, util=1),
        },
        workload=waiting(40, 0.1),
        context=make_context(concurrency=40, members={DISK: ("sdb", "sdc", "sdd")}),
    ),
    Situation(
        "a volume on a partition of a disk with platters, one read at a time",
        Bottleneck.DEVICE,
        {name: disk(reads=120, wait_ms=8.2, util=98) for name in (DISK, "sdb3", "sdb")},
        workload=waiting(1, 0.02),
        context=DiagnosisContext(
            (DISK,),
            members={DISK: ("sdb3",), "sdb3": ("sdb",)},
            rotational=frozenset({"sdb"}),
            concurrency=1,
        ),
    ),
    Situation(
        "a volume of many disks, of which a few at a time have anything to do",
        Bottleneck.CONCURRENCY,
        {DISK: disk(reads=1000, wait_ms=8, util=100)}
        | {name: disk(reads=28, wait_ms=8, util=22) for name in _MANY},
        workload=waiting(8, 0.1),
        context=make_context(concurrency=8, members={DISK: _MANY}),
    ),
    Situation(
        "a volume that is busy with encryption, and its disk is not",
        Bottleneck.UNCLEAR,
        {
            DISK: disk(reads=5000, wait_ms=1.6, util=100),
            "sdb": disk(reads=5000, wait_ms=0.1, util=40),
        },
        workload=waiting(8, 0.1),
        context=make_context(concurrency=8, members={DISK: ("sdb",)}),
    ),
)


def changed(situation: Situation, **changes: object) -> Situation:
    """The situation with some of its parts changed."""
    return replace(situation, **changes)  # type: ignore[arg-type]
