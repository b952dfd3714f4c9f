"""Runs of one workload in the virtual machine, and their bottlenecks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.vm.machine import Machine


def limited_by(
    machine: Machine, target: str, options: Mapping[str, str], group: str = ""
) -> list[tuple[str, str]]:
    """The limits of a run of ``io``, and what each is of; in a control group if one is given."""
    command = _command(target, options)
    if group:  # a program of its own, which takes long to start
        join = f"echo $$ >{group}/cgroup.procs; exec .venv/bin/iostudy {' '.join(command)}"
        output = machine.shell(join)
    else:
        output = machine.iostudy(*command).stdout
    return [(found["limit"], found["of"]) for found in json.loads(output)["limited_by"]["findings"]]


def write_synced(machine: Machine, target: str) -> dict[str, Any]:
    """The JSON of a run of ``io`` that writes and syncs two files of 8 MiB."""
    options = {"operation": "write", "jobs": "2", "size": "8MiB", "sync": "fsync"}
    document: dict[str, Any] = json.loads(machine.iostudy(*_command(target, options)).stdout)
    return document


def _command(target: str, options: Mapping[str, str]) -> list[str]:
    requested = [f"-o{name}={value}" for name, value in options.items()]
    return ["bench", "io", "--json", "--target", target, *requested]


@contextmanager
def slow(machine: Machine, disk: str, **per_second: int) -> Iterator[None]:
    """The virtual disk serves so many requests (``iops``) or bytes (``bps``) a second."""
    unlimited = dict.fromkeys(("bps", "bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr"), 0)
    machine.qmp("block_set_io_throttle", id=disk, **unlimited | per_second)
    try:
        yield
    finally:
        machine.qmp("block_set_io_throttle", id=disk, **unlimited)
