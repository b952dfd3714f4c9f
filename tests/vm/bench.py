"""Runs of one workload in the virtual machine, and their bottlenecks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.vm.machine import Machine


def limited_by(
    machine: Machine, target: str, options: Mapping[str, str], group: str = ""
) -> list[tuple[str, str]]:
    """The limits of a run of ``io``, and what each is of; in a control group if one is given."""
    requested = [f"-o{name}={value}" for name, value in options.items()]
    command = ["bench", "io", "--json", "--target", target, *requested]
    if group:  # a program of its own, which takes long to start
        join = f"echo $$ >{group}/cgroup.procs; exec .venv/bin/iostudy {' '.join(command)}"
        output = machine.shell(join)
    else:
        output = machine.iostudy(*command).stdout
    return [(found["limit"], found["of"]) for found in json.loads(output)["limited_by"]["findings"]]


@contextmanager
def slow(machine: Machine, disk: str, **per_second: int) -> Iterator[None]:
    """The virtual disk serves so many requests (``iops``) or bytes (``bps``) a second."""
    unlimited = dict.fromkeys(("bps", "bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr"), 0)
    machine.qmp("block_set_io_throttle", id=disk, **unlimited | per_second)
    try:
        yield
    finally:
        machine.qmp("block_set_io_throttle", id=disk, **unlimited)
