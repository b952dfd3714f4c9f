"""The tunables of the I/O schedulers: files below ``queue/iosched`` of whichever is active.

A tunable is only there while its scheduler is, and starts from its default when the scheduler is
chosen. Times in milliseconds that are kept in jiffies are rounded up to ticks of the kernel (1, 4
or 10 ms); a value that comes back rounded is refused, and the error says what it became.
"""

from __future__ import annotations

from typing import TypedDict

from iostudy.settings.definition import Condition
from iostudy.settings.definitions.queue import SCHEDULER, Layer, QueueSettingDefinition
from iostudy.settings.values import Choice, Values, Whole

_INT_MAX = (1 << 31) - 1
_U64_MAX = (1 << 64) - 1
# bfq keeps its idling time as 32 bits of nanoseconds; the kernel clamps what is written to that.
_BFQ_IDLE_MAX_US = ((1 << 32) - 1) // 1000

_MS = Whole(0, _INT_MAX, "ms")
_MS_POSITIVE = Whole(1, _INT_MAX, "ms")
_COUNT = Whole(0, _INT_MAX, "requests")
_COUNT_POSITIVE = Whole(1, _INT_MAX, "requests")
_BACK_SEEK_MAX = Whole(0, _INT_MAX, "KiB")
_ON_OFF = Choice(("0", "1"))


class _Told(TypedDict):
    """What is said of a tunable, apart from its name and scheduler."""

    values: Values
    default: str
    documentation: str


def _definitions(
    scheduler: str, source: str, tunables: dict[str, _Told]
) -> tuple[QueueSettingDefinition, ...]:
    return tuple(
        QueueSettingDefinition(
            name=f"block.{scheduler}.{name}",
            attribute=f"iosched/{name}",
            unit=getattr(told["values"], "unit", ""),
            source=source,
            layer=Layer.SCHEDULING,
            condition=Condition(SCHEDULER.name, (scheduler,)),
            **told,
        )
        for name, told in tunables.items()
    )


_DEADLINE: dict[str, _Told] = {
    "read_expire": {
        "values": _MS,
        "default": "500",
        "documentation": (
            "How long a read may wait before it goes first. A target, not a promise: requests that "
            "are overdue are served in the order of their deadlines, a batch at a time."
        ),
    },
    "write_expire": {
        "values": _MS,
        "default": "5000",
        "documentation": "How long a write may wait before it goes first; see read_expire.",
    },
    "fifo_batch": {
        "values": _COUNT,
        "default": "16",
        "documentation": (
            "How many requests of one direction are sent in the order of their sectors before "
            "deadlines are looked at again. More for throughput, 1 for the latency of each."
        ),
    },
    "writes_starved": {
        "values": Whole(0, _INT_MAX, "batches"),
        "default": "2",
        "documentation": "How many batches of reads may go before waiting writes get one.",
    },
    "front_merges": {
        "values": _ON_OFF,
        "default": "1",
        "documentation": (
            "Whether a request may be joined to one that begins where it ends. Rare in practice; "
            "0 spares the search for it."
        ),
    },
}
MQ_DEADLINE = _definitions(
    "mq-deadline",
    "Documentation/block/deadline-iosched.rst; block/mq-deadline.c",
    _DEADLINE
    | {
        "async_depth": {
            "values": _COUNT_POSITIVE,
            "default": "nr_requests (three quarters of it on older kernels)",
            "documentation": (
                "How many requests that nobody waits for (write-back, mostly) may be allocated at "
                "once, so that reads and synchronous writes find one free. A change of "
                "nr_requests sets it anew."
            ),
        },
        "prio_aging_expire": {
            "values": _MS,
            "default": "10000",
            "documentation": (
                "How long a request of a lower I/O priority class may wait behind higher ones."
            ),
        },
    },
)
DEADLINE = _definitions(
    "deadline",
    "Documentation/block/deadline-iosched.txt; block/deadline-iosched.c (until Linux 5.0)",
    _DEADLINE,
)
_BACK_SEEK: dict[str, _Told] = {
    "back_seek_max": {
        "values": _BACK_SEEK_MAX,
        "default": "16384",
        "documentation": "The longest way back over the disk to be taken as a candidate at all.",
    },
    "back_seek_penalty": {
        "values": Whole(1, _INT_MAX),
        "default": "2",
        "documentation": "How many times dearer a way back counts than the same way forward.",
    },
    "fifo_expire_sync": {
        "values": _MS_POSITIVE,
        "default": "125 (124 where a kernel tick is 4 ms and times are kept in ticks)",
        "documentation": "How long a synchronous request of a process may wait behind its others.",
    },
    "fifo_expire_async": {
        "values": _MS_POSITIVE,
        "default": "250",
        "documentation": "The same for requests that nobody waits for.",
    },
}
BFQ = _definitions(
    "bfq",
    "Documentation/block/bfq-iosched.rst; block/bfq-iosched.c",
    {
        "slice_idle": {
            "values": Whole(0, _BFQ_IDLE_MAX_US // 1000, "ms"),
            "default": "8",
            "documentation": (
                "How long the disk is kept idle for the next request of the process whose turn it "
                "is. Gains throughput of sequential readers on spinning disks, and is what bfq's "
                "guarantees rest on; 0 suits flash and arrays. Another view of slice_idle_us."
            ),
        },
        "slice_idle_us": {
            "values": Whole(0, _BFQ_IDLE_MAX_US, "us"),
            "default": "8000",
            "documentation": "slice_idle in microseconds: the same number, seen more closely.",
        },
        "low_latency": {
            "values": _ON_OFF,
            "default": "1",
            "documentation": (
                "Whether interactive and soft real-time processes get a larger share for a while. "
                "0 for throughput alone."
            ),
        },
        **_BACK_SEEK,
        "max_budget": {
            "values": Whole(0, _INT_MAX, "sectors"),
            "default": "0",
            "documentation": (
                "How many sectors a process may be served in one turn. 0 lets bfq find it from the "
                "peak rate of the disk and timeout_sync."
            ),
        },
        "strict_guarantees": {
            "values": _ON_OFF,
            "default": "0",
            "documentation": (
                "Whether bfq always waits for the process whose turn it is, and sends one request "
                "at a time, to keep shares exact. Turning it on raises slice_idle to 8 ms."
            ),
        },
        "timeout_sync": {
            "values": _MS_POSITIVE,
            "default": "125 (124 where a kernel tick is 4 ms)",
            "documentation": "The longest turn of a process that issues synchronous requests.",
        },
    },
)
KYBER = _definitions(
    "kyber",
    "Documentation/block/kyber-iosched.rst; block/kyber-iosched.c",
    {
        "read_lat_nsec": {
            "values": Whole(0, _U64_MAX, "ns"),
            "default": "2000000",
            "documentation": (
                "The latency of reads that kyber aims at, by letting fewer others into the disk."
            ),
        },
        "write_lat_nsec": {
            "values": Whole(0, _U64_MAX, "ns"),
            "default": "10000000",
            "documentation": "The same for synchronous writes.",
        },
    },
)
CFQ = _definitions(
    "cfq",
    "Documentation/block/cfq-iosched.txt; block/cfq-iosched.c (until Linux 5.0)",
    {
        "quantum": {
            "values": _COUNT_POSITIVE,
            "default": "8 (4 on older kernels)",
            "documentation": (
                "How many requests of one process may be in the disk at once. More suits arrays "
                "and disks that queue commands, at the cost of others' latency."
            ),
        },
        **_BACK_SEEK,
        "slice_sync": {
            "values": _MS_POSITIVE,
            "default": "100",
            "documentation": "The turn of a process with synchronous requests, at middle priority.",
        },
        "slice_async": {
            "values": _MS_POSITIVE,
            "default": "40",
            "documentation": "The turn of requests that nobody waits for, at middle priority.",
        },
        "slice_async_rq": {
            "values": _COUNT_POSITIVE,
            "default": "2",
            "documentation": "How many requests that nobody waits for go to the disk in a turn.",
        },
        "slice_idle": {
            "values": _MS,
            "default": "8",
            "documentation": (
                "How long the disk is kept idle for the next request of the process whose turn it "
                "is; 0 suits flash and arrays of many disks."
            ),
        },
        "group_idle": {
            "values": _MS,
            "default": "8",
            "documentation": (
                "The same for a control group as a whole, which keeps groups apart where "
                "slice_idle is 0 (Linux 2.6.36)."
            ),
        },
        "group_isolation": {
            "values": _ON_OFF,
            "default": "0",
            "documentation": (
                "Whether random I/O stays in its control group instead of the root group, at the "
                "cost of throughput (Linux 2.6.33 to 2.6.38)."
            ),
        },
        "low_latency": {
            "values": _ON_OFF,
            "default": "1",
            "documentation": (
                "Whether turns are shortened so that every process gets one in time. 0 for "
                "throughput alone."
            ),
        },
        "target_latency": {
            "values": _MS_POSITIVE,
            "default": "300",
            "documentation": (
                "The time in which every process is to get a turn while low_latency is on."
            ),
        },
    },
)
ANTICIPATORY = _definitions(
    "anticipatory",
    "Documentation/block/as-iosched.txt; block/as-iosched.c (until Linux 2.6.32)",
    {
        "read_expire": {
            "values": _MS,
            "default": "125",
            "documentation": "How long a read may wait before it goes first.",
        },
        "write_expire": {
            "values": _MS,
            "default": "250",
            "documentation": "How long a write may wait before it goes first.",
        },
        "read_batch_expire": {
            "values": _MS,
            "default": "500",
            "documentation": "How long reads are served before it is the turn of waiting writes.",
        },
        "write_batch_expire": {
            "values": _MS,
            "default": "125",
            "documentation": "How long writes are served before it is the turn of waiting reads.",
        },
        "antic_expire": {
            "values": _MS,
            "default": "about 6, a 150th of a second in whole kernel ticks",
            "documentation": (
                "How long the disk is kept idle after a read, for the next one nearby of the same "
                "process."
            ),
        },
    },
)
DEFINITIONS = (*MQ_DEADLINE, *BFQ, *KYBER, *DEADLINE, *CFQ, *ANTICIPATORY)
