"""Catalogue of all workloads by name."""

from __future__ import annotations

from collections.abc import Mapping

from iostudy import plugins
from iostudy.core import registered
from iostudy.workloads import mix
from iostudy.workloads.definition import WorkloadDefinition
from iostudy.workloads.external import command, fio
from iostudy.workloads.native import io, iozone

_ALONE: Mapping[str, WorkloadDefinition] = {
    definition.name: definition
    for definition in (
        io.IO,
        iozone.IOZONE,
        command.COMMAND,
        fio.FIO,
        *(plugins.load(ref) for plugin in registered() for ref in plugin.workloads.values()),
    )
}
# A mix is one folder on one target, and the jobs of Hadoop share a cluster anyway.
_IN_A_MIX = {
    name: alone for name, alone in _ALONE.items() if not (alone.service or alone.only_simulated)
}
_ALL = {**_ALONE, mix.NAME: mix.definition(_IN_A_MIX)}


def names() -> tuple[str, ...]:
    """Return all names in display order."""
    return tuple(_ALL)


def get(name: str) -> WorkloadDefinition:
    """Return the definition of that name; KeyError if it is unknown."""
    return _ALL[name]
