from __future__ import annotations

import base64
import gzip
from typing import Any

from iostudy.report.render.html import compress_text, pack_charts


def rows_of(made: dict[str, Any], chart: str, data: str) -> list[dict[str, Any]]:
    """As the page's script makes them again."""
    columns = [
        c if isinstance(c, list) else [c["of"][at] for at in c["at"]] for c in made["columns"]
    ]
    places = made["charts"][chart]["datasets"][data]
    own = [[(name, value) for value in columns[place]] for name, place in places.items()]
    return [dict(row) for row in zip(*own, strict=True)]


def test_packing_is_lossless_and_deterministic() -> None:
    text = "</script> \u2026 " * 100
    assert gzip.decompress(base64.b64decode(compress_text(text))).decode() == text
    assert compress_text(text) == compress_text(text)
    assert "<" not in compress_text(text)


def test_columns_contain_all_rows() -> None:
    rows = [{"number": n, "label": f"l{n % 3}", "value": n / 7 or None} for n in range(20)]
    made = pack_charts({"one": {"mark": "tick", "datasets": {"trials": rows}}})
    assert rows_of(made, "one", "trials") == rows
    assert made["charts"]["one"]["mark"] == "tick"


def test_a_row_without_a_field_has_null_there() -> None:
    made = pack_charts({"one": {"datasets": {"trials": [{"a": 1}, {"a": 2, "b": 3}]}}})
    assert rows_of(made, "one", "trials") == [{"a": 1, "b": None}, {"a": 2, "b": 3}]


def test_shared_column_is_stored_once() -> None:
    rows = [{"number": n, "value": 1.5 * n} for n in range(9)]
    again = [{"number": n, "value": 2.5 * n} for n in range(9)]
    made = pack_charts({"one": {"datasets": {"t": rows}}, "two": {"datasets": {"t": again}}})
    assert len(made["columns"]) == 3
    assert rows_of(made, "two", "t") == again


def test_true_and_one_are_distinct() -> None:
    rows = [{"counts": True, "block": 1}]
    made = pack_charts({"one": {"datasets": {"t": rows}}})
    assert rows_of(made, "one", "t")[0]["counts"] is True
    assert rows_of(made, "one", "t")[0]["block"] is not True


def test_a_chart_with_data_of_its_own_stays_as_it_is() -> None:
    spec = {"data": {"values": [{"low": 1}]}}
    assert pack_charts({"one": spec})["charts"]["one"] == spec
