"""Layouts of clusters that are nowhere, for tests of what is pure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from iostudy_hadoop.local.layout import ADDRESSES, ClusterLayout, MachineResources
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java
from iostudy_hadoop.spec import ClusterSpec

GIB = 1 << 30


def layout(cores: int = 2, memory_bytes: int = 24 * GIB, **spec: object) -> ClusterLayout:
    """A cluster of this spec below /home and /storage, with ports from 10000 on."""
    planned = ClusterLayout(
        identity="0123456789abcdef",
        spec=ClusterSpec(**spec),
        home=Path("/home"),
        storage=Path("/storage"),
        java=Java(Path("/jdk/bin/java"), "17.0.15", ("--add-opens", "java.base/java.lang=X")),
        distribution=Distribution("3.4.2", "/jars/*:/more/*", "a test"),
        machine=MachineResources(cores, memory_bytes),
    )
    ports = iter(range(10_000, 20_000))
    return replace(
        planned,
        ports={
            daemon.name: {name: next(ports) for name in ADDRESSES[daemon.role]}
            for daemon in planned.daemons()
        },
    )
