"""Tables of ``bench --block-latency``: block requests from issue to completion."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.cli.console import print_line, print_table
from iostudy.report.bars import format_bars
from iostudy.telemetry.block_requests import BlockRequests, Requests
from iostudy.units import KIB, format_significant
from iostudy.workloads.native.latency import percentiles_us

DeviceRequests = tuple[str, str, Requests]
"""Requests of a device and an operation."""


def print_block_requests(measured: BlockRequests) -> None:
    """A row for each device and operation, then their histograms."""
    known = list(_iterate_requests(measured))
    if not known:
        return
    heads = ("requests of", "operation", "mean", *percentiles_us(known[0][2].latencies_us), "us")
    print_line()
    print_table(heads, [_latency_row(*each) for each in known])
    print_line()
    heads = ("requests of", "operation", "count", "mean", "smallest", "largest", "KiB")
    print_table(heads, [_size_row(*each) for each in known])
    for device, operation, own in known:
        print_line()
        heads = (f"{operation} of {device}, up to us", "share, %", "")
        print_table(heads, list(format_bars(own.latencies_us)))
    for device, operation, own in known:
        if own.moved_bytes:
            print_line()
            heads = (f"{operation} of {device}, up to KiB", "share, %", "")
            print_table(heads, list(format_bars((size / KIB, count) for size, count in own.sizes)))


def _iterate_requests(measured: BlockRequests) -> Iterator[DeviceRequests]:
    for device, operations in measured.devices.items():
        for operation, own in operations.items():
            yield device, operation, own


def _latency_row(device: str, operation: str, requests: Requests) -> tuple[str, ...]:
    values = (requests.mean_us, *percentiles_us(requests.latencies_us, requests.max_us).values())
    return (device, operation, *map(format_significant, values), "")


def _size_row(device: str, operation: str, requests: Requests) -> tuple[str, ...]:
    sizes = (requests.moved_bytes / requests.count, requests.sizes[0][0], requests.sizes[-1][0])
    kib = (format_significant(size / KIB) for size in sizes)
    return (device, operation, str(requests.count), *kib, "")
