"""Recorder of the block events of a trace instance, as batches of a trace's columns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from arro3.core import Array, DataType, RecordBatch
from arro3.core.types import ArrayInput
from numpy.typing import NDArray

from iostudy import _native
from iostudy.errors import TrialError
from iostudy_trace.events import LOST, SECTOR_BYTES
from iostudy_trace.trace_file import SCHEMA

_Numbers = NDArray[np.int64]
_INTERVAL_SECONDS = 0.02
"""The kernel's buffers must not fill within it."""
_MINOR_BITS = 20
_MISSING = -1


class BlockTrace:
    """Recorder of a trace instance that is set up for ``events``, in a context.

    ``names`` are those of the devices by number (major << 20 | minor), of a partition its disk's.
    """

    def __init__(self, instance: Path, events: Sequence[str], names: Mapping[int, str]) -> None:
        self._instance = instance
        # The last one is that of index -1.
        self._kinds = (*events, LOST)
        self._names = names
        self._native = _native.BlockTrace(instance, events)
        self._is_running = False
        self.events = self.lost = 0

    def __enter__(self) -> Self:
        """Start recording; TrialError if the kernel refuses."""
        try:
            self._native.start()
        except OSError as error:
            raise self._failed(error) from error
        self._is_running = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the buffers, so that the instance can be removed."""
        if self._is_running:
            self._stop()

    def read(self, has_ended: Callable[[], bool]) -> Iterator[RecordBatch]:
        """Yield the events since the start until the end. TrialError if they cannot be read."""
        try:
            while not has_ended():
                time.sleep(_INTERVAL_SECONDS)
                yield from self._convert(self._native.read())
            yield from self._convert(self._stop())
        except OSError as error:
            raise self._failed(error) from error

    def _stop(self) -> _native.BlockEventBatch:
        self._is_running = False
        return self._native.stop()

    def _convert(self, native: _native.BlockEventBatch) -> Iterator[RecordBatch]:
        if not len(native):
            return
        columns = native.numbers()
        numbers = {name: np.frombuffer(content, np.int64) for name, content in columns}
        marks = np.flatnonzero(numbers["kind"] == _MISSING)
        lost = np.zeros(len(native), np.int64)
        # The kernel counts the losses of all marks together.
        lost[marks[-1:]] = native.lost_events
        self.lost += native.lost_events
        self.events += len(native) - len(marks)
        yield self._batch(numbers, lost, native)

    def _batch(
        self, numbers: Mapping[str, _Numbers], lost: _Numbers, native: _native.BlockEventBatch
    ) -> RecordBatch:
        text = DataType.string()
        sectors = numbers["sectors"]
        kinds = [self._kinds[kind] for kind in numbers["kind"].tolist()]
        devices = [self._name(number) for number in numbers["device"].tolist()]
        columns: dict[str, ArrayInput] = {
            "time_ns": Array.from_numpy(numbers["time_ns"]),
            "event": Array(kinds, text),
            "device": Array(devices, text),
            "sector": _nullable(numbers["sector"]),
            "bytes": _nullable(np.where(sectors < 0, _MISSING, sectors * SECTOR_BYTES)),
            "operation": Array(native.operations(), text),
            "pid": Array.from_numpy(numbers["pid"]),
            "command": Array(native.commands(), text),
            "cpu": Array.from_numpy(numbers["cpu"]),
            "lost": Array.from_numpy(lost),
        }
        return RecordBatch(columns, schema=SCHEMA)

    def _name(self, number: int) -> str | None:
        if number == _MISSING:
            return None
        minors = (1 << _MINOR_BITS) - 1
        return self._names.get(number) or f"{number >> _MINOR_BITS}:{number & minors}"

    def _failed(self, error: OSError) -> TrialError:
        return TrialError(
            "to record the events of block devices",
            found=error.strerror or str(error),
            where=str(self._instance),
            remedy="see dmesg",
        )


def _nullable(values: _Numbers) -> Array:
    """The column with null instead of missing values."""
    if (values == _MISSING).any():
        integers = [None if value == _MISSING else value for value in values.tolist()]
        return Array(integers, DataType.int64())
    return Array.from_numpy(values)
