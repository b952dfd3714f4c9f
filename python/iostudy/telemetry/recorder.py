"""Records what the machine does while a trial runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from iostudy import _native
from iostudy.telemetry.iostat import cpu_shares, device_figures

if TYPE_CHECKING:
    import polars

DEFAULT_INTERVAL_SECONDS = 0.1


@dataclass(frozen=True)
class Telemetry:
    """What one recording tells.

    ``devices`` hold iostat's figures by device over the whole recording, ``machine`` CPU shares in
    percent and pressure-stall shares in percent of the time (``io_some`` and so on, where the
    kernel has them). ``samples`` has one row a sample: ``seconds`` since the first, then the raw
    counters as ``DEVICE.counter``, ``cpu.counter`` and ``pressure.counter``.
    """

    seconds: float
    devices: Mapping[str, Mapping[str, float]]
    machine: Mapping[str, float]
    columns: Mapping[str, Sequence[float | int | None]] = field(repr=False)

    def samples(self) -> polars.DataFrame:
        """The samples as a table, for a Parquet file."""
        import polars  # not at the top: most commands never need it, and it is slow to load

        return polars.DataFrame(self.columns, strict=False)


class Recorder(Protocol):
    """Anything that can watch while a trial runs."""

    def start(self) -> None:
        """Begin to record."""

    def stop(self) -> Telemetry:
        """End, and tell what was seen."""


class ProcRecorder:
    """The recorder that reads /proc through the Rust sampler."""

    def __init__(
        self, devices: Sequence[str], interval_seconds: float = DEFAULT_INTERVAL_SECONDS
    ) -> None:
        self._devices = tuple(devices)
        self._sampler = _native.Sampler(self._devices, interval_seconds)

    def start(self) -> None:
        """Take the first sample now."""
        self._sampler.start()

    def stop(self) -> Telemetry:
        """Take the last sample now."""
        return summarise(self._sampler.stop(), self._devices)


def summarise(samples: _native.Samples, devices: Sequence[str]) -> Telemetry:
    """First against last sample; a device missing at either end has no figures."""
    seconds = samples.seconds[-1] - samples.seconds[0]
    disks = {device: samples.disk(device) for device in devices}
    ends = {device: _ends(columns) for device, columns in disks.items()}
    figures = {d: device_figures(*pair, seconds) for d, pair in ends.items() if pair is not None}
    cpu, pressure = samples.cpu(), samples.pressure()
    cpu_ends = _ends(cpu)
    machine = cpu_shares(*cpu_ends) if cpu_ends else {}
    machine |= _pressure_shares(pressure, seconds)
    columns: dict[str, Sequence[float | int | None]] = {
        "seconds": [at - samples.seconds[0] for at in samples.seconds]
    }
    tables: dict[str, Mapping[str, Sequence[int | None]]] = {**disks, "cpu": cpu}
    for prefix, table in {**tables, "pressure": pressure}.items():
        columns |= {f"{prefix}.{name}": values for name, values in table.items()}
    return Telemetry(seconds, figures, machine, columns)


def _ends(
    columns: Mapping[str, Sequence[int | None]],
) -> tuple[dict[str, int], dict[str, int]] | None:
    first = {name: values[0] for name, values in columns.items()}
    last = {name: values[-1] for name, values in columns.items()}
    before = {name: value for name, value in first.items() if value is not None}
    after = {name: value for name, value in last.items() if value is not None}
    return (before, after) if len(before) == len(after) == len(columns) else None


def _pressure_shares(
    pressure: Mapping[str, Sequence[int | None]], seconds: float
) -> dict[str, float]:
    shares = {}
    for name, values in pressure.items():
        first, last = values[0], values[-1]
        if first is not None and last is not None:
            shares[name] = 100 * (last - first) / (seconds * 1e6)
    return shares
