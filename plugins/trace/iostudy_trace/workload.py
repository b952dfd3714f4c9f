"""Replay of a recorded trace on a simulated drive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import Field

from iostudy import _native
from iostudy.errors import UsageError, WorkloadError
from iostudy.job import TracedBio
from iostudy.units import MIB
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.measurement import BYTES, Measurement
from iostudy.workloads.native.latency import compact_histogram, latency_figures, latency_readings
from iostudy.workloads.option_types import Options
from iostudy.workloads.workload import Place, Workload, describe_version
from iostudy_trace.matching import MatchedTrace, match
from iostudy_trace.replay_threads import build_replay_threads
from iostudy_trace.trace_file import read_trace


class TraceOptions(Options):
    """Options of trace."""

    file: str = Field(
        min_length=1, description="Parquet file of `iostudy trace record`, with its directory"
    )
    device: str | None = Field(
        None,
        min_length=1,
        description="recorded device that is replayed; without it the only one of the file",
    )


@dataclass(frozen=True)
class TraceWorkload(Workload):
    """Threads submit their recorded bios after completions of their own and think times."""

    options: TraceOptions

    def space_bytes(self) -> int:
        """Return 0: it has no files, and its positions are those of the trace."""
        return 0

    def reads(self) -> bool:
        """No trial needs files."""
        return True

    def contents(self) -> Iterable[tuple[str, str]]:
        """Return the version of the trace."""
        return [(self.options.file, describe_version(Path(self.options.file)))]

    def check(self) -> None:
        """UsageError: a trace would overwrite the data of a real drive."""
        raise UsageError(
            "a simulated drive for a trace",
            found="a target of this host",
            where="the workload trace",
            remedy="use target: {drive: {..., simulated: true}} with `iostudy simulate`",
        )

    def run(self, place: Place) -> Measurement:
        """Replay the trace."""
        path = Path(self.options.file)
        trace = _load(path)
        threads = build_replay_threads(trace, self._find_device(trace))
        result = place.run(_native.TraceReplay(threads))
        moved = result.read.bytes + result.write.bytes
        figures = {
            "exec_time": result.seconds,
            "rate": moved / MIB / result.seconds,
            "bios": float(result.latencies.count),
            **latency_readings(result.latencies),
            BYTES: float(moved),
        }
        latencies = {
            name: compact_histogram(stats.latencies)
            for name, stats in (("read", result.read), ("write", result.write))
            if stats.latencies.count
        }
        return Measurement(figures, latencies, notes=_notes(trace, threads))

    def clean(self, place: Place) -> None:
        """Nothing was made."""

    def _find_device(self, trace: MatchedTrace) -> str:
        """Return the device to replay; WorkloadError unless there is exactly one."""
        devices = sorted({bio.device for bio in trace.bios})
        wanted = self.options.device
        if wanted in devices:
            return wanted
        if wanted is None and len(devices) == 1:
            return devices[0]
        raise WorkloadError(
            "bios of one device",
            found=f"bios of {', '.join(devices) or 'no device'}",
            where=self.options.file,
            remedy="give device: NAME, or record the device with --device",
        )


@lru_cache(maxsize=1)
def _load(path: Path) -> MatchedTrace:
    """Read a trace once for all trials."""
    return match(read_trace(path))


def _notes(trace: MatchedTrace, threads: Sequence[Sequence[TracedBio]]) -> tuple[str, ...]:
    bios = sum(map(len, threads))
    replayed = f"{bios} bios of {len(threads)} threads were replayed"
    lost = f"; {trace.lost} events of the trace were lost" if trace.lost else ""
    return (replayed + lost,)


_FIGURES = fixed_figures(
    Figure("exec_time", "s", "from the first submission to the last completion", False),
    Figure("rate", "MiB/s", "bytes of all bios over that time", True),
    Figure("bios", "bios", "bios that were replayed", True),
    *latency_figures("a bio, from its submission to its completion"),
    Figure(BYTES, "B", "bytes of all bios", True),
)

TRACE = WorkloadDefinition(
    name="trace",
    models="threads of a recorded trace, on a simulated drive. Each submits its recorded bios in "
    "their order, after as many completions of its own as in the trace, and after its think time",
    not_modelled="dependences between threads, such as a barrier or a journal; the page cache, "
    "which is part of the trace; discards. An arrival that followed a clock waits for completions, "
    "too. It runs in simulated studies only",
    source="Mesnier et al., //TRACE, FAST 2007 (think times); Haghdoost et al., hfplayer, FAST "
    "2017 (dependences on completions)",
    options=TraceOptions,
    figures=_FIGURES,
    example={"file": "trace.parquet"},
    make=TraceWorkload,
    can_be_simulated=True,
    only_simulated=True,
)
