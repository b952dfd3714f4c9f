"""Legends of charts as text, which wraps where a drawn legend would be cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iostudy.report.charts import palette
from iostudy.report.charts.drawing import Spec

_CHANNELS = ("color", "shape", "strokeDash")


@dataclass(frozen=True)
class LegendEntry:
    """A label with its colour, and the glyph of its shape or the dashes of its line."""

    label: str
    colour: str
    glyph: str
    dashes: str


def read_legend(spec: Spec) -> tuple[LegendEntry, ...]:
    """Return the entries of the legends of a Vega-Lite specification, merged by label."""
    scales: dict[str, Mapping[str, Any]] = {}
    for layer in spec["layer"]:
        for channel in _CHANNELS:
            own = layer["encoding"].get(channel, {})
            if own.get("legend"):
                scales[channel] = own["scale"]
    if not scales:
        return ()
    labels = scales["color"]["domain"]
    return tuple(_entry(place, label, scales) for place, label in enumerate(labels))


def remove_legends(spec: Spec) -> Spec:
    """Return the specification without drawn legends; its data are shared, not copied."""
    layers = [{**each, "encoding": _without_legends(each["encoding"])} for each in spec["layer"]]
    return {**spec, "layer": layers}


def _without_legends(encoding: Mapping[str, Any]) -> dict[str, Any]:
    drawn = [name for name in _CHANNELS if "legend" in encoding.get(name, {})]
    return {**encoding, **{name: {**encoding[name], "legend": None} for name in drawn}}


def _entry(place: int, label: str, scales: Mapping[str, Mapping[str, Any]]) -> LegendEntry:
    shape = scales["shape"]["range"][place] if "shape" in scales else ""
    dashes = scales["strokeDash"]["range"][place] if "strokeDash" in scales else ()
    return LegendEntry(
        label=label,
        colour=scales["color"]["range"][place],
        glyph=palette.GLYPHS.get(shape, ""),
        dashes=" ".join(map(str, dashes)),
    )
