"""The namespace and its disk's sync rate, for the benchmarks of name-nodes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benches.programs import fio
from iostudy.units import MIB
from iostudy.workloads import catalog
from iostudy.workloads.workload import Place

_FDATASYNC_SECONDS = 1.5
_FILE_BYTES = 16 * MIB
_NATIVE = catalog.get("nnthroughput")


def run_namespace(folder: Path, **options: object) -> Mapping[str, float]:
    """The figures of a run of nnthroughput with these options."""
    workload, place = _NATIVE.make(_NATIVE.options.model_validate(options)), Place(folder, seed=0)
    workload.reset(place)
    measured = workload.run(place)
    measured.verify()
    workload.clean(place)
    return measured.figures


def fdatasync_rate(folder: Path) -> float:
    """Syncs a second of one writer that overwrites a file of zeros, 4 KiB at a time, by fio.

    At most as many mutations as there are threads wait for one sync, so threads times this is what
    no write path with a log on that disk exceeds.
    """
    file = folder / "fio"
    file.write_bytes(bytes(_FILE_BYTES))
    job = fio(
        [file],
        ioengine="psync",
        rw="write",
        bs="4k",
        size=_FILE_BYTES,
        overwrite=1,
        fdatasync=1,
        time_based=1,
        runtime=f"{_FDATASYNC_SECONDS * 1000:.0f}ms",
    )
    file.unlink()
    return float(job["write"]["iops"])
