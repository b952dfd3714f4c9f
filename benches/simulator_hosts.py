"""Time and memory of a simulation of many hosts: ten minutes of each under four schedulers.

python -m benches.simulator_hosts          # 1000 hosts; about ten minutes on two processors
python -m benches.simulator_hosts 100      # as many hosts as named
"""

from __future__ import annotations

import argparse
import resource
import time

from iostudy.study.parser import parse
from iostudy.workloads.tick import continue_run
from iostudy_lab.simulation.node import SimulatedNode
from iostudy_lab.study.target import SimulatedTarget

_STUDY = """\
question: How long does it take?
target: {{drive: {{model: exos-x16, size: 200GiB, simulated: true, hosts: {hosts}}}}}
factors: {{block.scheduler: [noop, mq-deadline, cfq, bfq]}}
workloads:
  - io: {{jobs: 8, size: 256MiB, order: random, record_size: 16KiB, direct: true, duration: 10min}}
"""
_MIB_PER_KIB = 1 / 1024


def main() -> None:
    """Print a line for each scheduler, and the largest process."""
    parser = argparse.ArgumentParser(description="time of simulating many hosts")
    parser.add_argument("hosts", nargs="?", type=int, default=1000)
    hosts = parser.parse_args().hosts
    study = parse(_STUDY.format(hosts=hosts), where="bench", name="bench")
    assert isinstance(study.target, SimulatedTarget)
    started = time.monotonic()
    with SimulatedNode(study.target, continue_run) as node:
        for configuration in study.configurations():
            began = time.monotonic()
            with node.block(study.workloads[0], 1) as block:
                figures = block.trial(configuration).figures
            seconds = time.monotonic() - began
            print(f"{configuration.label}: {seconds:.1f} s, {figures['iops']:.1f} op/s", flush=True)
    print(f"{hosts} hosts, 10 min, 4 schedulers: {time.monotonic() - started:.1f} s")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _MIB_PER_KIB
    print(f"largest process of the simulation: {largest:.0f} MiB")


if __name__ == "__main__":
    main()
