"""Traits of a node by which a fleet can be divided into classes, from its circumstances (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iostudy.units import format_rounded_size

HOST_NAME = "hostname"


def find_host_name(circumstances: Mapping[str, Any]) -> str | None:
    """Return the recorded name of the host; None in a ledger without it."""
    name = _mapping(circumstances.get("host")).get(HOST_NAME)
    return str(name) if name else None


def find_traits(circumstances: Mapping[str, Any]) -> dict[str, str]:
    """Return the known traits by name."""
    host, target = (_mapping(circumstances.get(name)) for name in ("host", "target"))
    inventory = _mapping(host.get("block_devices"))
    devices = [
        _mapping(inventory[name]) for name in _list(target.get("devices")) if name in inventory
    ]
    cpu = _mapping(host.get("cpu"))
    memory = host.get("memory_bytes")
    traits = {
        "disk model": _join(devices, "model"),
        "disk firmware": _join(devices, "firmware"),
        "kernel": _mapping(host.get("kernel")).get("release"),
        "distribution": host.get("distribution"),
        "CPU": f"{cpu['count'] or '?'} x {cpu.get('model') or 'unknown model'}" if cpu else None,
        "memory": format_rounded_size(memory) if isinstance(memory, int) else None,
        "iostudy": _mapping(circumstances.get("versions")).get("iostudy"),
    }
    return {name: str(value) for name, value in traits.items() if value}


def _join(devices: Sequence[Mapping[str, Any]], name: str) -> str:
    return " and ".join(dict.fromkeys(str(device[name]) for device in devices if device.get(name)))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[str]:
    return value if isinstance(value, list | tuple) else ()
