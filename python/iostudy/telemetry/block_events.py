"""Recorder of block requests from the kernel's tracepoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from iostudy import _native
from iostudy.errors import TrialError
from iostudy.telemetry.block_requests import BlockRequests, Requests
from iostudy.telemetry.recorder import Recorder, Telemetry
from iostudy.telemetry.submitters import find_foreign_submitters

Compact = Callable[[_native.Latencies], tuple[tuple[float, int], ...]]


class BlockEvents:
    """Reader of a trace instance that is set up for block requests.

    ``names`` are the kernel names of devices by number (``8:16``), of partitions those of their
    disks; ``compact`` reduces histograms for the ledger.
    """

    def __init__(self, instance: Path, names: Mapping[str, str], compact: Compact) -> None:
        self._instance = instance
        self._names = names
        self._compact = compact
        self._native = _native.BlockEvents(instance)

    def start(self) -> None:
        """Start recording; TrialError if the kernel refuses."""
        try:
            self._native.start()
        except OSError as error:
            raise self._failed(error) from error

    def stop(self) -> tuple[BlockRequests, list[tuple[str, int, int]]]:
        """Stop recording; return the requests, and device, thread and bytes of all bios.

        TrialError if they cannot be read.
        """
        try:
            native = self._native.stop()
        except OSError as error:
            raise self._failed(error) from error
        submitted = native.submitted_bytes()
        by_name = [(self._names[number], thread, size) for number, thread, size in submitted]
        return self._convert(native), by_name

    def _convert(self, native: _native.BlockRequests) -> BlockRequests:
        devices: dict[str, dict[str, Requests]] = {}
        for number, operation, latencies, sizes in native.operations():
            devices.setdefault(self._names[number], {})[operation] = Requests(
                count=latencies.count,
                mean_us=latencies.mean_us,
                max_us=latencies.max_us,
                latencies_us=self._compact(latencies),
                sizes=tuple(sizes),
            )
        return BlockRequests(
            devices=devices,
            events=native.events,
            lost=native.lost_events,
            unmatched=native.unmatched_issues + native.unmatched_completions,
            reader_cpu_seconds=native.reader_cpu_seconds,
        )

    def _failed(self, error: OSError) -> TrialError:
        return TrialError(
            "to record the requests of block devices",
            found=error.strerror or str(error),
            where=str(self._instance),
            remedy="see dmesg, or measure without the latencies of the block layer",
        )


class CombinedRecorder:
    """A recorder that adds block requests to another recorder's telemetry.

    ``workload`` are the processes whose descendants are the workload.
    """

    def __init__(
        self, recorder: Recorder, events: BlockEvents, workload: Sequence[int] = ()
    ) -> None:
        self._recorder = recorder
        self._events = events
        self._workload = workload

    def start(self) -> None:
        """Start both recorders."""
        self._recorder.start()
        self._events.start()

    def stop(self) -> Telemetry:
        """Stop both: the requests first, because the other summary may cause I/O."""
        try:
            requests, submitted = self._events.stop()
        finally:
            telemetry = self._recorder.stop()
        # A daemon of the workload is no descendant of it any more, but known to the sampler.
        known = (each.pid for each in telemetry.samples.processes if each.of_workload)
        submitters = find_foreign_submitters(
            submitted, {*self._workload, *known}, telemetry.summary.private_devices
        )
        summary = replace(telemetry.summary, requests=requests, submitters=submitters)
        return replace(telemetry, summary=summary)
