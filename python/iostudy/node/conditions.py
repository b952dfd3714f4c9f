"""Conditions of all trials of a node, its callbacks, and the permissions that the user gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from iostudy.account import Account
from iostudy.line_handler import LineHandler, ignore_line
from iostudy.node.protocol import StartLine, start_at_once
from iostudy.node.service import ServiceRequest
from iostudy.settings.identity import ScratchIdentity
from iostudy.study.combinations import Factor
from iostudy.study.model import describe_target
from iostudy.study.sections import LoadLimit
from iostudy.study.targets.target import Target
from iostudy.telemetry.rate import DEFAULT_HZ
from iostudy.workloads.tick import Tick, continue_run

NO_LIMIT = LoadLimit()


@dataclass(frozen=True)
class Conditions:
    """What all trials of a node have in common.

    - ``factors``: what varies on the target or elsewhere
    - ``service``: the service of the workloads, if any
    - ``directories``: other directories of the workloads
    - ``limit``: a bound of the load of every trial
    - ``block_latency``: every trial records the block requests of the devices below the target
    - ``warm_memory``: free memory is touched before every trial that uses the page cache
    - ``hz``: the sampling rate of the telemetry
    """

    target: Target
    factors: Sequence[Factor] = ()
    service: ServiceRequest | None = None
    directories: Sequence[Path] = ()
    limit: LoadLimit = NO_LIMIT
    block_latency: bool = False
    warm_memory: bool = False
    hz: float = DEFAULT_HZ

    def describe_target(self) -> str:
        """Describe the target, with every type of file system that is made on it."""
        return describe_target(self.target, self.factors)


@dataclass(frozen=True)
class Callbacks:
    """Functions that a node calls during its trials.

    - ``tick``: as of a `Place`
    - ``on_progress``: receives lines about the resync of a volume, and about steps that take long
    - ``on_journal``: that of `Transaction`
    - ``start_line``: is called before every trial's run
    """

    tick: Tick = continue_run
    on_progress: LineHandler = ignore_line
    on_journal: Callable[[Path], None] | None = None
    start_line: StartLine = start_at_once


NO_CALLBACKS = Callbacks()


@dataclass(frozen=True)
class Permission:
    """The devices to overwrite, and the use of folders that other users can redirect.

    ``scratch`` has the confirmed devices by the paths that the target names; without a confirmation
    a device is the one that its path leads to.
    """

    scratch: Mapping[Path, ScratchIdentity] = field(default_factory=dict)
    unsafe_folders: bool = False


NO_PERMISSION = Permission()


def describe_account(account: Account | None) -> tuple[str, ...]:
    """Say who works in a directory that is not root's; nothing if it is."""
    if account is None:
        return ()
    return (f"files are made, and programs run, as {account.name}, who owns the target",)
