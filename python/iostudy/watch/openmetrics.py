"""Collects the counters of the last sample as metric families of prometheus_client (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from prometheus_client import metrics_core
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from iostudy.telemetry.samples import Samples, Values
from iostudy.units import KIB
from iostudy.watch.device_selection import WatchedDevice

_SECTOR_BYTES = 512.0
_MILLI, _MICRO = 1e-3, 1e-6

Labels = Mapping[str, str]
Family = CounterMetricFamily | GaugeMetricFamily


@dataclass(frozen=True)
class KernelMetric:
    """A metric that the kernel counts in units of ``scale`` times its unit."""

    name: str
    help: str
    scale: float = 1.0
    is_counter: bool = True

    @property
    def unit(self) -> str:
        """The base unit that the name ends in; empty for a plain number."""
        last = self.name.rpartition("_")[2]
        return last if last in ("seconds", "bytes") else ""

    def family(self, labels: Labels) -> Family:
        """Return a family of these labels without values."""
        kind = CounterMetricFamily if self.is_counter else GaugeMetricFamily
        return kind(self.name, self.help, labels=list(labels), unit=self.unit)


_DISK = {
    "reads": KernelMetric("iostudy_disk_reads", "Reads completed, after merges."),
    "sectors_read": KernelMetric("iostudy_disk_read_bytes", "Bytes read.", _SECTOR_BYTES),
    "reads_merged": KernelMetric("iostudy_disk_reads_merged", "Reads merged into another one."),
    "read_ms": KernelMetric(
        "iostudy_disk_read_time_seconds", "Time of all reads together.", _MILLI
    ),
    "writes": KernelMetric("iostudy_disk_writes", "Writes completed, after merges."),
    "sectors_written": KernelMetric("iostudy_disk_written_bytes", "Bytes written.", _SECTOR_BYTES),
    "writes_merged": KernelMetric("iostudy_disk_writes_merged", "Writes merged into another one."),
    "write_ms": KernelMetric(
        "iostudy_disk_write_time_seconds", "Time of all writes together.", _MILLI
    ),
    "discards": KernelMetric("iostudy_disk_discards", "Discards completed, after merges."),
    "sectors_discarded": KernelMetric(
        "iostudy_disk_discarded_bytes", "Bytes discarded.", _SECTOR_BYTES
    ),
    "discard_ms": KernelMetric(
        "iostudy_disk_discard_time_seconds", "Time of all discards together.", _MILLI
    ),
    "flushes": KernelMetric("iostudy_disk_flushes", "Flushes completed."),
    "flush_ms": KernelMetric(
        "iostudy_disk_flush_time_seconds", "Time of all flushes together.", _MILLI
    ),
    "io_ms": KernelMetric("iostudy_disk_io_time_seconds", "Time with any request.", _MILLI),
    "weighted_io_ms": KernelMetric(
        "iostudy_disk_weighted_io_time_seconds", "Time of all requests together.", _MILLI
    ),
    "in_flight": KernelMetric("iostudy_disk_in_flight", "Requests in flight.", is_counter=False),
}
_PRESSURE = {
    "some": KernelMetric(
        "iostudy_pressure_some_seconds", "Time in which at least one task was stalled.", _MICRO
    ),
    "full": KernelMetric(
        "iostudy_pressure_full_seconds", "Time in which all tasks were stalled.", _MICRO
    ),
}
_MEMORY = {
    "total_kb": KernelMetric("iostudy_memory_total_bytes", "Memory.", KIB, is_counter=False),
    "available_kb": KernelMetric(
        "iostudy_memory_available_bytes", "Memory that is available.", KIB, is_counter=False
    ),
}
_PAGES = {
    "nr_dirty": KernelMetric(
        "iostudy_memory_dirty_bytes", "Memory with changes not yet written.", KIB, is_counter=False
    ),
    "nr_writeback": KernelMetric(
        "iostudy_memory_writeback_bytes", "Memory under writeback.", KIB, is_counter=False
    ),
}
_NETWORK = {
    f"{short}_{counter}": KernelMetric(
        f"iostudy_network_{verb}_{counter}", f"{counter.capitalize()} {verb}."
    )
    for short, verb in (("rx", "received"), ("tx", "transmitted"))
    for counter in ("bytes", "packets", "errors", "dropped")
}


@dataclass(frozen=True, eq=False)
class LastSample(Collector):
    """KernelMetric families of the last sample; a counter that it lacks is left out."""

    samples: Samples
    devices: Mapping[str, WatchedDevice]

    def collect(self) -> Iterator[metrics_core.Metric]:
        """Yield each family with its values."""
        families: dict[str, Family] = {}
        for metric, labels, value in _all_values(self.samples, self.devices):
            family = families.setdefault(metric.name, metric.family(labels))
            family.add_metric(list(labels.values()), metric.scale * value)
        yield from families.values()


def _all_values(
    samples: Samples, devices: Mapping[str, WatchedDevice]
) -> Iterator[tuple[KernelMetric, Labels, float]]:
    disks = samples.keyed("disk")
    for name, device in devices.items():
        labels = {"device": name, "called": device.label}
        yield from _last_values(_DISK, disks[name], labels)
    pressure = samples.group("pressure")
    for column, values in pressure.items():
        resource, _, kind = column.rpartition("_")
        yield from _last_values(_PRESSURE, {kind: values}, {"resource": resource})
    yield from _last_values(_MEMORY, samples.group("memory"), {})
    pages = samples.group("vm")
    if "page_kb" in pages:
        size = float(pages["page_kb"][0])
        in_kb = {name: size * pages[name] for name in _PAGES if name in pages}
        yield from _last_values(_PAGES, in_kb, {})
    for interface, columns in samples.keyed("net").items():
        yield from _last_values(_NETWORK, columns, {"interface": interface})


def _last_values(
    metrics: Mapping[str, KernelMetric], columns: Mapping[str, Values], labels: Labels
) -> Iterator[tuple[KernelMetric, Labels, float]]:
    for column, metric in metrics.items():
        if column in columns and np.isfinite(last := float(columns[column][-1])):
            yield metric, labels, last
