"""The tunables of the I/O schedulers: files below ``queue/iosched`` of whichever is active.

A tunable exists only while its scheduler is active, and starts from its default when the scheduler
is chosen. The kernel rounds times in milliseconds that it keeps in jiffies up to ticks (1, 4 or 10
ms). iostudy refuses a rounded value, and the error has the actual one.
"""

from __future__ import annotations

from typing import NamedTuple

from iostudy.settings.definition import SettingCondition, Switching
from iostudy.settings.definitions.queue import CFQ_2_6_32, SCHEDULER, Layer, QueueSettingDefinition
from iostudy.settings.values import Choice, Integer, Values

_INT_MAX = (1 << 31) - 1
_U64_MAX = (1 << 64) - 1
# bfq keeps its idling time as 32 bits of nanoseconds; the kernel clamps what is written to that.
_BFQ_IDLE_MAX_US = ((1 << 32) - 1) // 1000

_MS = Integer(0, _INT_MAX, "ms")
_MS_POSITIVE = Integer(1, _INT_MAX, "ms")
_COUNT = Integer(0, _INT_MAX, "requests")
_COUNT_POSITIVE = Integer(1, _INT_MAX, "requests")
_BACK_SEEK_MAX = Integer(0, _INT_MAX, "KiB")
_ON_OFF = Choice(("0", "1"))


class _Tunable(NamedTuple):
    """Description of a tunable, without its name and scheduler."""

    values: Values
    default: str
    documentation: str


_DEADLINES = Switching("a waiting request keeps its deadline, at most 5 s by default")
_LEARNED = Switching("the scheduler keeps what it learned about processes, for seconds")
_DEPTHS = Switching("the depths follow the measured latencies, every 0.1 to 1 s")


def _definitions(
    scheduler: str,
    source: str,
    tunables: dict[str, _Tunable],
    switching: Switching,
    other_versions: tuple[str, ...] = (),
) -> tuple[QueueSettingDefinition, ...]:
    return tuple(
        QueueSettingDefinition(
            name=f"block.{scheduler}.{name}",
            attribute=f"iosched/{name}",
            unit=getattr(tunable.values, "unit", ""),
            source=source,
            layer=Layer.SCHEDULING,
            condition=SettingCondition(SCHEDULER.name, (scheduler, *other_versions)),
            switching=switching,
            **tunable._asdict(),
        )
        for name, tunable in tunables.items()
    )


_DEADLINE: dict[str, _Tunable] = {
    "read_expire": _Tunable(
        _MS,
        "500",
        "Deadline of a read. A target, not a guarantee: overdue requests are served in the "
        "order of their deadlines, one batch at a time.",
    ),
    "write_expire": _Tunable(_MS, "5000", "Deadline of a write; see read_expire."),
    "fifo_batch": _Tunable(
        _COUNT,
        "16",
        "Number of requests of one direction in sector order before the scheduler checks "
        "deadlines again. A larger value favours throughput, 1 favours latency.",
    ),
    "writes_starved": _Tunable(
        Integer(0, _INT_MAX, "batches"),
        "2",
        "Number of read batches before waiting writes get one.",
    ),
    "front_merges": _Tunable(
        _ON_OFF,
        "1",
        "Whether a request may merge in front of another one. Rare in practice; 0 saves the "
        "search.",
    ),
}
MQ_DEADLINE = _definitions(
    "mq-deadline",
    "Documentation/block/deadline-iosched.rst; block/mq-deadline.c",
    _DEADLINE
    | {
        "async_depth": _Tunable(
            _COUNT_POSITIVE,
            "nr_requests (three quarters of it on older kernels)",
            "Maximum number of allocated asynchronous requests (mostly write-back), so that "
            "reads and synchronous writes find a free one. A change of nr_requests resets it.",
        ),
        "prio_aging_expire": _Tunable(
            _MS,
            "10000",
            "Maximum waiting time of a request of a lower I/O priority class behind higher ones.",
        ),
    },
    _DEADLINES,
)
DEADLINE = _definitions(
    "deadline",
    "Documentation/block/deadline-iosched.txt; block/deadline-iosched.c (until Linux 5.0)",
    _DEADLINE,
    _DEADLINES,
)
_BACK_SEEK: dict[str, _Tunable] = {
    "back_seek_max": _Tunable(
        _BACK_SEEK_MAX, "16384", "Maximum backward seek distance of a candidate request."
    ),
    "back_seek_penalty": _Tunable(
        Integer(1, _INT_MAX), "2", "Cost of a backward seek relative to the same seek forward."
    ),
    "fifo_expire_sync": _Tunable(
        _MS_POSITIVE,
        "125 (124 where a kernel tick is 4 ms and times are kept in ticks)",
        "Deadline of a synchronous request within its process.",
    ),
    "fifo_expire_async": _Tunable(
        _MS_POSITIVE, "250", "Deadline of an asynchronous request within its process."
    ),
}
BFQ = _definitions(
    "bfq",
    "Documentation/block/bfq-iosched.rst; block/bfq-iosched.c",
    {
        "slice_idle": _Tunable(
            Integer(0, _BFQ_IDLE_MAX_US // 1000, "ms"),
            "8",
            "Idle time of the disk while it waits for the next request of the active process. "
            "It raises the throughput of sequential readers on spinning disks, and bfq's "
            "guarantees depend on it; 0 suits flash and arrays. Same value as slice_idle_us.",
        ),
        "slice_idle_us": _Tunable(
            Integer(0, _BFQ_IDLE_MAX_US, "us"),
            "8000",
            "slice_idle in microseconds, at a finer resolution.",
        ),
        "low_latency": _Tunable(
            _ON_OFF,
            "1",
            "Whether interactive and soft real-time processes temporarily get a larger share. "
            "0 favours throughput.",
        ),
        **_BACK_SEEK,
        "max_budget": _Tunable(
            Integer(0, _INT_MAX, "sectors"),
            "0",
            "Maximum sectors served per turn of a process. With 0 bfq derives it from the "
            "peak rate of the disk and timeout_sync.",
        ),
        "strict_guarantees": _Tunable(
            _ON_OFF,
            "0",
            "Whether bfq always waits for the active process, and sends one request at a "
            "time, for exact shares. Turning it on raises slice_idle to 8 ms.",
        ),
        "timeout_sync": _Tunable(
            _MS_POSITIVE,
            "125 (124 where a kernel tick is 4 ms)",
            "Maximum turn of a process with synchronous requests.",
        ),
    },
    _LEARNED,
)
KYBER = _definitions(
    "kyber",
    "Documentation/block/kyber-iosched.rst; block/kyber-iosched.c",
    {
        "read_lat_nsec": _Tunable(
            Integer(0, _U64_MAX, "ns"),
            "2000000",
            "Target latency of reads, reached by limiting the depth of other requests.",
        ),
        "write_lat_nsec": _Tunable(
            Integer(0, _U64_MAX, "ns"), "10000000", "Target latency of synchronous writes."
        ),
    },
    _DEPTHS,
)
CFQ = _definitions(
    "cfq",
    "Documentation/block/cfq-iosched.txt; block/cfq-iosched.c (until Linux 5.0)",
    {
        "quantum": _Tunable(
            _COUNT_POSITIVE,
            "8 (4 on older kernels)",
            "Maximum number of requests of one process in the disk. A larger value suits "
            "arrays and disks with command queues, at the cost of other processes' latency.",
        ),
        **_BACK_SEEK,
        "slice_sync": _Tunable(
            _MS_POSITIVE, "100", "Turn of a process with synchronous requests, at middle priority."
        ),
        "slice_async": _Tunable(
            _MS_POSITIVE, "40", "Turn of asynchronous requests, at middle priority."
        ),
        "slice_async_rq": _Tunable(
            _COUNT_POSITIVE, "2", "Number of asynchronous requests per turn."
        ),
        "slice_idle": _Tunable(
            _MS,
            "8",
            "Idle time of the disk while it waits for the next request of the active process; "
            "0 suits flash and arrays of many disks.",
        ),
        "group_idle": _Tunable(
            _MS,
            "8",
            "Idle time for a control group as a whole, which isolates groups if slice_idle is "
            "0 (Linux 2.6.36).",
        ),
        "group_isolation": _Tunable(
            _ON_OFF,
            "0",
            "Whether random I/O stays in its control group instead of the root group, at the "
            "cost of throughput (Linux 2.6.33 to 2.6.38).",
        ),
        "low_latency": _Tunable(
            _ON_OFF,
            "1",
            "Whether turns are shortened so that every process gets one in time. 0 favours "
            "throughput.",
        ),
        "target_latency": _Tunable(
            _MS_POSITIVE, "300", "Time in which every process gets a turn while low_latency is on."
        ),
    },
    _LEARNED,
    other_versions=(CFQ_2_6_32,),
)
ANTICIPATORY = _definitions(
    "anticipatory",
    "Documentation/block/as-iosched.txt; block/as-iosched.c (until Linux 2.6.32)",
    {
        "read_expire": _Tunable(_MS, "125", "Deadline of a read."),
        "write_expire": _Tunable(_MS, "250", "Deadline of a write."),
        "read_batch_expire": _Tunable(
            _MS, "500", "Duration of a read batch before waiting writes are served."
        ),
        "write_batch_expire": _Tunable(
            _MS, "125", "Duration of a write batch before waiting reads are served."
        ),
        "antic_expire": _Tunable(
            _MS,
            "about 6, a 150th of a second in whole kernel ticks",
            "Idle time of the disk after a read, in anticipation of a nearby read of the same "
            "process.",
        ),
    },
    _DEADLINES,
)
DEFINITIONS = (*MQ_DEADLINE, *BFQ, *KYBER, *DEADLINE, *CFQ, *ANTICIPATORY)
