"""Metrics by the OpenMetrics specification, and as node_exporter reads them."""

from __future__ import annotations

import numpy as np
from prometheus_client import exposition
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from iostudy.telemetry.samples import Samples
from iostudy.watch.device_selection import WatchedDevice
from iostudy.watch.openmetrics import LastSample

SAMPLES = Samples(
    np.array([0.0, 1.0]),
    {
        "disk.dm-2.reads": np.array([3.0, 4.0]),
        "disk.dm-2.read_ms": np.array([0.0, 2500.0]),
        "disk.dm-2.sectors_read": np.array([0.0, 2.0**53]),
        "disk.dm-2.flushes": np.array([1.0, np.nan]),
        "disk.dm-2.in_flight": np.array([0.0, 2.0]),
        "disk.sdz.reads": np.array([0.0, 9.0]),
        "vm.nr_dirty": np.array([1.0, 3.0]),
        "vm.page_kb": np.array([4.0, np.nan]),
        "pressure.io_some": np.array([0.0, 1_500_000.0]),
    },
)
DEVICES = {"dm-2": WatchedDevice("dm-2", 'vg0/ho"me')}


def test_openmetrics_has_types_units_and_an_end():
    text = generate_latest(LastSample(SAMPLES, DEVICES)).decode()
    labels = '{called="vg0/ho\\"me",device="dm-2"}'
    assert text == (
        "# HELP iostudy_disk_reads Reads completed, after merges.\n"
        "# TYPE iostudy_disk_reads counter\n"
        f"iostudy_disk_reads_total{labels} 4.0\n"
        "# HELP iostudy_disk_read_bytes Bytes read.\n"
        "# TYPE iostudy_disk_read_bytes counter\n"
        "# UNIT iostudy_disk_read_bytes bytes\n"
        f"iostudy_disk_read_bytes_total{labels} 4.611686018427388e+18\n"
        "# HELP iostudy_disk_read_time_seconds Time of all reads together.\n"
        "# TYPE iostudy_disk_read_time_seconds counter\n"
        "# UNIT iostudy_disk_read_time_seconds seconds\n"
        f"iostudy_disk_read_time_seconds_total{labels} 2.5\n"
        "# HELP iostudy_disk_in_flight Requests in flight.\n"
        "# TYPE iostudy_disk_in_flight gauge\n"
        f"iostudy_disk_in_flight{labels} 2.0\n"
        "# HELP iostudy_pressure_some_seconds Time in which at least one task was stalled.\n"
        "# TYPE iostudy_pressure_some_seconds counter\n"
        "# UNIT iostudy_pressure_some_seconds seconds\n"
        'iostudy_pressure_some_seconds_total{resource="io"} 1.5\n'
        "# HELP iostudy_memory_dirty_bytes Memory with changes not yet written.\n"
        "# TYPE iostudy_memory_dirty_bytes gauge\n"
        "# UNIT iostudy_memory_dirty_bytes bytes\n"
        "iostudy_memory_dirty_bytes 12288.0\n"
        "# EOF\n"
    )


def test_node_exporter_gets_counters_by_the_names_of_their_samples():
    text = exposition.generate_latest(LastSample(SAMPLES, DEVICES)).decode()
    lines = text.splitlines()
    assert "# TYPE iostudy_disk_reads_total counter" in lines
    assert not [line for line in lines if line.startswith(("# UNIT", "# EOF"))]
    families = {each.name: each for each in text_string_to_metric_families(text)}
    sample = families["iostudy_disk_read_bytes"].samples[0]
    assert (sample.labels["called"], sample.value) == ('vg0/ho"me', 2.0**62)
