"""Steady run on this machine in a thread, whose settings and options the main thread switches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from threading import Event, Thread
from typing import Self

from iostudy.account import act_as
from iostudy.errors import WorkloadError
from iostudy.node.levels import SwitchedLevels
from iostudy.node.protocol import RunResult
from iostudy.node.site import FindFaults, Site, read_disk_states
from iostudy.settings.scratch.disk import FindDiskState
from iostudy.settings.transaction.deferred_signals import defer_signals
from iostudy.telemetry.recorder import Recorder, Telemetry
from iostudy.workloads.tick import Tick
from iostudy.workloads.windows import SteadyRun, WindowMeter


class LocalSwitchedRun:
    """A run for as long as the context is open.

    Entering starts telemetry and run. Leaving ends both, and raises the error of the run unless
    another one is on its way. Settings are restored by the owner of ``levels``, after the run.
    """

    def __init__(
        self,
        start: Callable[[Tick], SteadyRun],
        levels: SwitchedLevels,
        recorder: Recorder,
        site: Site,
        devices: tuple[str, ...],
        notes: tuple[str, ...],
    ) -> None:
        self._number = 0
        self._configurations = levels.configurations
        self._numbers = {c.label: number for number, c in enumerate(self._configurations)}
        self._levels = levels
        self._recorder = recorder
        self._devices = devices
        self._notes = notes
        self._site = site
        self._watches: Sequence[FindDiskState] = ()
        self._checks = ExitStack()
        self._find_faults: FindFaults = tuple
        self._tick = site.tick
        self._ended = Event()
        self._stopping = Event()
        self._error: BaseException | None = None
        self._telemetry: Telemetry | None = None
        self._settings: dict[str, dict[str, str]] = {}
        self._options = dict(self._configurations[0].options)
        with act_as(site.account):
            self._run = start(lambda done: self._tick(done) and not self._stopping.is_set())
        self._thread = Thread(target=self._run_to_end, name="steady run")

    def __enter__(self) -> Self:
        self._recorder.start()
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._end()
        if error is None and self._error is not None:
            raise self._error

    @property
    def meter(self) -> WindowMeter:
        return self._run.meter

    def now(self) -> float:
        return time.monotonic()

    def switch(self, label: str) -> None:
        number = self._numbers[label]
        self._levels.switcher.switch(number)
        for option, value in self._configurations[number].options.items():
            if self._options[option] != value:
                with act_as(self._site.account):
                    self._run.set_option(option, value)
                self._options[option] = value
        self._number = number

    def verify(self) -> None:
        self._levels.switcher.verify()
        label = self._configurations[self._number].label
        if label not in self._settings:
            self._settings[label] = self._levels.read_back(self._number)

    def wait(self, until: float) -> None:
        """Sleep until a time; raise the error of the run as soon as it has ended."""
        if self._ended.wait(max(0.0, until - time.monotonic())):
            raise self._error or WorkloadError(
                "a run that continues until the study ends it",
                found="it ended by itself",
                where=self._thread.name,
                remedy="use `decide: {mode: trials}`",
            )

    def begin_check(self) -> None:
        self._watches = [disk.watch() for disk in self._site.scratch_disks]
        self._checks.close()
        self._find_faults = self._checks.enter_context(self._site.watch_faults())

    def end_check(self) -> tuple[str, ...]:
        """Return what was late, and faults of the storage since `begin_check`."""
        return (*read_disk_states(self._watches)[1], *self._find_faults())

    def stop(self) -> RunResult:
        self._end()
        assert self._telemetry is not None
        return RunResult(self._settings, self._telemetry, self._devices, self._notes)

    def _end(self) -> None:
        with defer_signals():
            self._stopping.set()
            self._thread.join()
            self._checks.close()
            if self._telemetry is None:
                self._telemetry = self._recorder.stop()

    def _run_to_end(self) -> None:
        try:
            with act_as(self._site.account):
                self._run.run()
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            self._error = error
        finally:
            self._ended.set()
