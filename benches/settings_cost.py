"""Cost of applying, verifying and restoring ten settings, as in each trial; as root.

    python -m benches.settings_cost

The settings are of a loop-back disk and of this host; the values are next to what is there, and are
restored. A round goes through a transaction that is open already, as in a study: read what is
there, announce it in the journal (one sync, on the disk that holds the state of iostudy), apply and
verify, restore. The same is done without a transaction, to separate the kernel's part from the
journal's, and for each setting alone. Apart stand settings for which the kernel stops the queue and
waits until nothing is under way in it, at each write: that takes it milliseconds on its own.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benches.scratch import scratch_folder
from iostudy.settings import kinds
from iostudy.settings.change import Setting
from iostudy.settings.transaction.transaction import Transaction
from iostudy.units import MIB

ROUNDS = 100
DISK_BYTES = 64 * MIB
GOAL_SECONDS = 0.020
TEN = {
    "block.read_ahead_kb": "256",
    "block.nomerges": "1",
    "block.rq_affinity": "2",
    "sysctl.vm.dirty_ratio": "21",
    "sysctl.vm.dirty_expire_centisecs": "2900",
    "sysctl.vm.swappiness": "59",
    "sysctl.vm.vfs_cache_pressure": "99",
    "sysctl.net.core.netdev_max_backlog": "1001",
    "sysctl.net.core.rmem_max": "2097152",
    "thp.defrag": "defer",
}
APART = {
    "block.scheduler": "kyber",
    "block.nr_requests": "64",
    "block.max_sectors_kb": "512",
}

Wanted = Mapping[Setting, str]


def main() -> None:
    """Measure the ten together, each alone, and those apart; print a line for each."""
    if os.geteuid() != 0:
        print("settings: needs root and loop devices; not measured")
        return
    with scratch_folder(DISK_BYTES) as folder, Transaction() as transaction:
        ten = _bind_settings(TEN, folder)
        print(f"{ROUNDS} rounds of apply, verify and restore; goal: under {_ms(GOAL_SECONDS)}")
        print(f"{'':38}{'through a transaction':>42}{'without the journal':>24}")
        print(_line("ten settings", ten, transaction))
        for setting, value in ten.items():
            print(_line(setting.definition.name, {setting: value}, transaction))
        for setting, value in _bind_settings(APART, folder).items():
            print(_line(f"{setting.definition.name} (apart)", {setting: value}, transaction))


def _bind_settings(values: Mapping[str, str], place: Path) -> Wanted:
    return {setting: value for name, value in values.items() for setting in kinds.bind(name, place)}


def _line(name: str, wanted: Wanted, transaction: Transaction) -> str:
    whole = _seconds(lambda: _apply_in_transaction(transaction, wanted))
    kernel = _seconds(lambda: _apply_directly(wanted))
    lowest, highest = (statistics.quantiles(whole, n=20)[end] for end in (0, -1))
    within = f"{_ms(statistics.median(whole))} (9 in 10: {_ms(lowest)} to {_ms(highest)})"
    return f"{name:38}{within:>42}{_ms(statistics.median(kernel)):>24}"


def _apply_in_transaction(transaction: Transaction, wanted: Wanted) -> None:
    with transaction.apply_temporarily(*kinds.prepare_changes(wanted)):
        pass


def _apply_directly(wanted: Wanted) -> None:
    changes = kinds.prepare_changes(wanted)
    for change in changes:
        change.apply()
    for change in reversed(changes):
        change.undo()


def _seconds(work: Callable[[], None]) -> list[float]:
    """Of every round, after one to warm up."""
    work()
    taken = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return taken


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


if __name__ == "__main__":
    main()
