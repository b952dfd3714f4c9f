"""Compact data of the HTML page: columns instead of rows, compressed with gzip."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from iostudy.report.charts.drawing import Rows, Spec

Column = tuple[JsonValue, ...]
Places = dict[tuple[frozenset[type], Column], int]
"""The index of each column. Types of values distinguish true from 1, which are equal."""


_LEVEL = 6
"""Compression level; 7 to 9 take up to five times as long for 2.5 % less."""


def compress_text(text: str) -> str:
    """Text as base64 of gzip (RFC 1952), the same for the same text.

    Browsers unpack it by themselves (DecompressionStream, compression.spec.whatwg.org).
    """
    return base64.b64encode(gzip.compress(text.encode(), _LEVEL, mtime=0)).decode()


def pack_charts(specs: Mapping[str, Spec]) -> dict[str, Any]:
    """Return specifications whose ``datasets`` name columns, and each column once.

    Charts of one workload show the same trials, so they share most columns.
    """
    places: Places = {}
    packed = {name: _packed(spec, places) for name, spec in specs.items()}
    return {"columns": [_coded(column) for _, column in places], "charts": packed}


def _packed(spec: Spec, places: Places) -> Spec:
    if "datasets" not in spec:
        return spec
    tables: Mapping[str, Rows] = spec["datasets"]
    return {**spec, "datasets": {name: _columns(own, places) for name, own in tables.items()}}


def _columns(rows: Rows, places: Places) -> dict[str, int]:
    """The places of a table's columns, by their names; a row that lacks one has null there."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: tuple(row.get(name) for row in rows) for name in names}
    return {
        name: places.setdefault((frozenset(map(type, own)), own), len(places))
        for name, own in columns.items()
    }


def _coded(column: Column) -> JsonValue:
    """The values in turn; where most are repeated, the distinct ones and which of them is where."""
    distinct = {value: place for place, value in enumerate(dict.fromkeys(column))}
    if 2 * len(distinct) > len(column):
        return list(column)
    return {"of": list(distinct), "at": [distinct[value] for value in column]}
