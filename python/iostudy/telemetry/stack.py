"""Merging and splitting of requests in a stack of devices (pure).

A volume counts the requests that it receives; its members count theirs in turn. Together they show
how many requests a disk had to serve. iostat's r/s and w/s are completed requests, after merges;
rrqm/s and wrqm/s are those merged into another one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from iostudy.telemetry.summary import Figures

_SPLIT_FROM = 1.05
"""Ratio from which on requests count as split: layers are not sampled at the same instant."""


class Direction(StrEnum):
    """The kind of requests; discards and flushes are not traced through the stack."""

    READ = "reads"
    WRITE = "writes"

    @property
    def figures(self) -> tuple[str, str]:
        """iostat's figures of completed and of merged requests."""
        return ("r/s", "rrqm/s") if self is Direction.READ else ("w/s", "wrqm/s")


@dataclass(frozen=True)
class StackLayer:
    """Devices of one layer, and the requests per second that they received and served.

    The requests are those of all users of the devices, including other volumes on them.
    """

    devices: tuple[str, ...]
    requests_in: float
    requests_out: float

    @property
    def merged(self) -> float:
        """Requests per second that were merged into another one."""
        return self.requests_in - self.requests_out

    @property
    def merge_factor(self) -> float:
        """Requests in for each request out, 1 where nothing was merged."""
        return self.requests_in / self.requests_out if self.requests_out else 1.0


@dataclass(frozen=True)
class Flow:
    """Requests of one direction through all layers, from the volume down; never empty."""

    direction: Direction
    layers: tuple[StackLayer, ...]

    @property
    def merging(self) -> StackLayer | None:
        """The layer in which most requests were merged; None if none were."""
        layer = max(self.layers, key=lambda layer: layer.merged)
        return layer if layer.merged > 0 else None

    @property
    def splits(self) -> tuple[float, ...]:
        """Between each layer and the next, requests in below for each request out above.

        Above 1, requests were split (at the edges of stripes), copied (to mirrors, parity), or came
        from other users of the members. Below 1 the upper layer served them itself, as a cache
        does.
        """
        return tuple(
            lower.requests_in / upper.requests_out if upper.requests_out else 1.0
            for upper, lower in pairwise(self.layers)
        )

    @property
    def is_reshaped(self) -> bool:
        """Whether the disks served other requests than the volume received."""
        return self.merging is not None or any(split >= _SPLIT_FROM for split in self.splits)

    @property
    def sentence(self) -> str:
        """A description of the requests from the top to the disks, with figures."""
        first, *_ = self.layers
        begin = f"{first.requests_in:,.0f} {self.direction}/s reached {_layer_name(first)}"
        return "; ".join((begin + _describe_merges(first), *self._below())) + "."

    def _below(self) -> Iterator[str]:
        for split, layer in zip(self.splits, self.layers[1:], strict=True):
            came = f"{layer.requests_in:,.0f}/s reached {_layer_name(layer)}"
            if split >= _SPLIT_FROM:
                came += f", {split:.1f} for each one above"
            yield came + _describe_merges(layer)


def build_flow(
    direction: Direction,
    volume: str,
    members: Mapping[str, Sequence[str]],
    devices: Mapping[str, Figures],
) -> Flow | None:
    """Build the flow of one direction through ``volume``; None without figures of it.

    ``members`` are the devices directly below each stacked one, ``devices`` iostat's figures. A
    device at several depths is in the lowest of their layers; one without figures is left out.
    """
    if volume not in devices:
        return None
    levels = ([name for name in level if name in devices] for level in _levels(volume, members))
    return Flow(direction, tuple(_layer(direction, level, devices) for level in levels if level))


def _levels(volume: str, members: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the devices of each layer from the top, each once."""
    levels = [[volume]]
    while lower := [name for device in levels[-1] for name in members.get(device, ())]:
        levels.append(list(dict.fromkeys(lower)))
    return [
        [name for name in level if not any(name in lower for lower in levels[depth + 1 :])]
        for depth, level in enumerate(levels)
    ]


def _layer(
    direction: Direction, level: Sequence[str], devices: Mapping[str, Figures]
) -> StackLayer:
    served, merged = direction.figures
    out = sum(devices[name][served] for name in level)
    return StackLayer(tuple(level), out + sum(devices[name][merged] for name in level), out)


def _layer_name(layer: StackLayer) -> str:
    return layer.devices[0] if len(layer.devices) == 1 else f"{len(layer.devices)} devices below"


def _describe_merges(layer: StackLayer) -> str:
    if not layer.merged:
        return ""
    return f", merged {layer.merge_factor:.1f}:1 into {layer.requests_out:,.0f}/s"
